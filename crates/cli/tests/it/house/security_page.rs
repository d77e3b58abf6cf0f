//! Every claim of docs/security.md names an existing test.

use crate::house::{all_test_names, text};

/// The claims of the page: the text after a dash, up to the next one or an empty line.
fn claims(page: &str) -> Vec<String> {
    let mut claims: Vec<String> = Vec::new();
    let mut open = false;
    for line in page.lines() {
        if let Some(claim) = line.strip_prefix("- ") {
            claims.push(claim.to_owned());
            open = true;
        } else if let Some(claim) = claims.last_mut().filter(|_| open && line.starts_with("  ")) {
            claim.push(' ');
            claim.push_str(line.trim());
        } else {
            open = false;
        }
    }
    claims
}

/// The names in backquotes that a claim ends with, the last one first.
fn names_at_the_end(claim: &str) -> Vec<&str> {
    let (mut names, mut left) = (Vec::new(), claim.trim_end());
    while let Some((before, name)) = left.strip_suffix('`').and_then(|left| left.rsplit_once('`')) {
        names.push(name);
        left = before.trim_end();
    }
    names
}

#[test]
fn all_names_at_the_end_of_a_claim_are_found() {
    assert_eq!(names_at_the_end("of `this` holds. `one` `two`"), ["two", "one"]);
    assert_eq!(names_at_the_end("of `this` nothing holds."), [""; 0]);
}

#[test]
fn each_claim_of_the_security_page_names_a_test_there_is() {
    let known = all_test_names();
    assert!(known.contains("each_claim_of_the_security_page_names_a_test_there_is"));
    let claims = claims(&text("docs/security.md"));
    assert!(claims.len() > 15, "{} claims", claims.len());
    for claim in claims {
        let names = names_at_the_end(&claim);
        assert!(!names.is_empty(), "the last words are no test's name: {claim}");
        for name in names {
            assert!(known.contains(name), "there is no test `{name}`: {claim}");
        }
    }
}
