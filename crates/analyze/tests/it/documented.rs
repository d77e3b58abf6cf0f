//! The page on findings tells what each code means.

/// Names in `source` that stand first in a call of `error`, `warning` or `info`.
fn codes(source: &str) -> Vec<&str> {
    let calls = ["error(", "warning(", "info("];
    let begins = calls.iter().flat_map(|call| source.match_indices(call).map(|(at, _)| at + call.len()));
    begins.filter_map(|at| source[at..].trim_start().strip_prefix('"')?.split('"').next()).collect()
}

#[test]
fn every_code_has_its_paragraph() {
    let page = include_str!("../../../../docs/findings.md");
    let codes = codes(include_str!("../../src/checks.rs"));
    assert!(codes.len() > 20, "{codes:?}");
    for code in codes {
        assert!(page.contains(&format!("**{code}**")), "{code} is not in docs/findings.md");
    }
}
