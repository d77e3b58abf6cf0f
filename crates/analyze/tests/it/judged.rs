//! What is said about a run.

use mindful_analyze::judgement::headline::{Headline, HeadlineKind};
use mindful_analyze::judgement::verdict::{Limit, Verdict};
use mindful_analyze::{Analysis, analyze};
use mindful_core::record::run::Run;
use mindful_core::result::Finding;

pub(crate) fn codes(analysis: &Analysis) -> Vec<&str> {
    analysis.summary.findings.iter().map(|finding| finding.code.as_str()).collect()
}

pub(crate) fn has(analysis: &Analysis, code: &str) -> bool {
    codes(analysis).contains(&code)
}

pub(crate) fn evidence<'a>(analysis: &'a Analysis, code: &str) -> Option<&'a str> {
    let found = analysis.summary.findings.iter().find(|finding| finding.code == code);
    found.map(|finding| finding.evidence.as_str())
}

pub(crate) fn found(run: &Run, code: &str) -> Option<Finding> {
    analyze(run).summary.findings.into_iter().find(|finding| finding.code == code)
}

pub(crate) fn headline(analysis: &Analysis) -> &Headline {
    analysis.steps[0].headline.as_ref().unwrap()
}

pub(crate) fn kind(analysis: &Analysis) -> HeadlineKind {
    headline(analysis).kind
}

pub(crate) fn verdict(analysis: &Analysis) -> &Verdict {
    analysis.steps[0].verdict.as_ref().unwrap()
}

pub(crate) fn limit(analysis: &Analysis) -> Limit {
    verdict(analysis).limit
}

pub(crate) fn near(figure: Option<f64>, truth: f64, within: f64) {
    let figure = figure.unwrap();
    assert!((figure / truth - 1.0).abs() <= within, "{figure} for {truth}");
}
