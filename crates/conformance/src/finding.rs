//! Requirements on the findings of a preflight, for every engine.

use mindful_core::result::Finding;

/// Each of `expected` is found: its code, a part of its evidence, and in its text the effect on a result and a command.
pub fn each_has_a_state_an_effect_and_a_command(findings: &[Finding], expected: &[(&str, &str, &str)]) {
    for (code, what_is, to_type) in expected {
        let mut of_code = findings.iter().filter(|finding| finding.code == *code && finding.evidence.contains(what_is));
        let effect = of_code.find_map(|finding| Some(finding.text.split_once(to_type)?.0));
        let effect = effect.unwrap_or_else(|| panic!("no {code} with {what_is} and {to_type}: {findings:#?}"));
        assert!(effect.len() > 50 && effect.contains(['.', ':']), "{code} shows no effect: {effect}");
    }
}
