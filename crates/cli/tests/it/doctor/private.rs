//! `mindful doctor` where there is no private server yet.

use mindful_conformance::quick_place;

use crate::mindful::{Mindful, text};

#[test]
fn doctor_neither_makes_nor_fetches_a_server() {
    let mindful = Mindful::beside_others(quick_place());
    let (shelf, data) = (mindful.path("shelf"), mindful.private_folder());
    let fetch_dir = format!("--fetch-dir={}", shelf.display());
    for args in [&[][..], &["--mode", "lio", "--fetch", "off"]] {
        let findings = text(&mindful.private(&[&["doctor", &fetch_dir], args].concat()));
        assert!(findings.contains("no-server-yet") && findings.contains(data.to_str().unwrap()), "{findings}");
        assert!(!data.exists() && !shelf.exists(), "{findings}");
    }
    assert!(mindful.private(&["load", "--schemas", "1", "--scale", "8MiB"]).status.success());
    let findings = text(&mindful.private(&["doctor"]));
    assert!(!findings.contains("no-server-yet"), "{findings}");
}
