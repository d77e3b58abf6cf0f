//! Explains a headline: its figure, whether the result may be quoted, the claims about the reads, and the limit.

use std::fmt::Write as _;

use mindful_analyze::Analysis;
use mindful_analyze::judgement::claims::{Claim, Held};
use mindful_analyze::judgement::headline::{OTHER_CLAIMS, labels};
use mindful_analyze::judgement::verdict::Limit;
use mindful_core::contract::description::Words;
use mindful_core::result::Validity;

use crate::figure::number;
use crate::{card, escape};

/// The name of all of it.
pub(super) const NAME: &str = "headline";

/// Whether a headline may print `name` as the limit of a step.
pub(super) fn is_limit(name: &str) -> bool {
    // A log has many names: `WAL volume` is a limit, as `redo volume` is.
    let of_log = name.split_once(' ').map_or(name, |(_, rest)| rest);
    let called = |limit: &Limit| limit.called(&Words::new("log", "", ""));
    let is = |known: String| known.eq_ignore_ascii_case(name) || known.eq_ignore_ascii_case(&format!("log {of_log}"));
    Limit::ALL.iter().any(|limit| limit.name().eq_ignore_ascii_case(name) || is(called(limit)))
}

/// Whether a headline may print `name` as its figure, its validity or a claim. Text in brackets may be omitted.
pub(super) fn is_name(name: &str) -> bool {
    let is = |known: &str| {
        known.eq_ignore_ascii_case(name) || known.split(" (").next().is_some_and(|k| k.eq_ignore_ascii_case(name))
    };
    let validity = Validity::ALL.map(Validity::name);
    let claims = Claim::ALL.map(Claim::name);
    is(NAME)
        || validity.iter().chain(&claims).chain(&OTHER_CLAIMS).any(|known| is(known))
        || labels().iter().any(|known| is(known))
}

/// The headline of each step, and the basis of each claim.
pub(super) fn explained(analysis: &Analysis) -> String {
    let mut text = String::from(
        "headline\n  = the figure of a step, named by the claims that hold; the result is SUSPECT if a finding is a warning, \
         INVALID if one is an error\n",
    );
    for (step_number, step) in (1..).zip(&analysis.steps) {
        let shown = step.headline.as_ref().map_or_else(
            || card::NO_FIGURE.to_owned(),
            |headline| format!("{} {}: {}", number(headline.per_s), escape(&headline.label), escape(&headline.why)),
        );
        // Writing to a string cannot fail.
        let _ = writeln!(text, "step {step_number}: {shown}");
        for claim in Claim::ALL {
            let held = match claim.held(&step.gates) {
                Held::Yes => "holds".to_owned(),
                Held::No(why) => format!("does not hold: {}", escape(&why)),
                Held::Unknown(why) => format!("unknown: {why}"),
            };
            let _ = writeln!(text, "  {}: {held}", claim.name());
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::known;

    #[test]
    fn every_figure_claim_and_limit_of_a_headline_is_known() {
        let claims = Claim::ALL.map(Claim::name).into_iter().chain(OTHER_CLAIMS);
        let called = Limit::ALL.map(|limit| limit.called(&Words::new("WAL", "", "")));
        let limits = Limit::ALL.map(Limit::name);
        let fixed = claims.chain(limits).chain(["VALID", "SUSPECT", "INVALID", "storage IOPS"]);
        let all: Vec<String> = fixed.map(str::to_owned).chain(called).chain(labels()).collect();
        assert!(all.len() > 40, "{all:?}");
        for name in all {
            assert!(known(&name).is_ok(), "{name}");
        }
        assert!(known("storage IOPS of tomorrow").is_err());
    }
}
