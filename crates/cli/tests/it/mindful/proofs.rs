//! The proof of the layout, from the run that loaded to one that found the dataset.

use serde_json::Value;

use crate::mindful::unwrapped;

/// `first` loaded and proved; `second`, shown as `text`, has the same proof and shows its instant.
pub(crate) fn hold(first: &Value, second: &Value, text: &str) {
    let correlation = |ran: &Value| ran["dataset"]["rank_correlation_max"].as_f64();
    assert!(correlation(first).is_some(), "{first:#}");
    assert_eq!(correlation(first), correlation(second), "{second:#}");
    let findings = second["findings"].as_array().expect("a list of findings");
    assert!(findings.iter().all(|finding| finding["code"] != "layout-not-proven"), "{findings:#?}");
    let year = first["started_at"].as_str().and_then(|at| at.get(..4)).expect("an instant");
    let unwrapped = unwrapped(text);
    assert!(unwrapped.contains(&format!("; proven at load, {year}-")), "{text}");
}
