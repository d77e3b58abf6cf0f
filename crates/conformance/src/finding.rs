//! What findings of the look before a run must tell, whoever looks.

use mindful_core::result::Finding;

/// Each of `reported` is found: a code, what its evidence names, and what its text tells to type after what it does to a
/// result.
pub fn each_tells_what_is_what_it_does_and_what_to_type(findings: &[Finding], reported: &[(&str, &str, &str)]) {
    for (code, what_is, to_type) in reported {
        let of_code = |finding: &&Finding| finding.code == *code && finding.evidence.contains(what_is);
        let finding =
            findings.iter().find(of_code).unwrap_or_else(|| panic!("no {code} with {what_is}: {findings:#?}"));
        let Some((effect, _)) = finding.text.split_once(to_type) else { panic!("no {to_type} in {}", finding.text) };
        assert!(effect.len() > 50 && effect.contains(['.', ':']), "{code} tells no effect: {effect}");
    }
}
