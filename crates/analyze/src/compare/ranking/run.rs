//! The data of a run that an order of sides needs: hundreds of these fit into memory, hundreds of records do not.

use mindful_core::plan::Price;
use mindful_core::record::run::Run;
use mindful_core::result::Validity;
use mindful_core::result::comparison::{ComparedRun, NamedFact};

use crate::analysis::Analysis;
use crate::compare::answer::{NoiseFloor, RunValue, Side};
use crate::compare::comparable::{self, RunFacts};
use crate::compare::figure::{OrderedBy, OrderedRun};
use crate::compare::order::Moment;
use crate::compare::provenance;
use crate::compare::sides::compared_run;

#[derive(Debug)]
pub struct NamedSide {
    /// Its name: a tag, a run, a file or a folder.
    pub name: String,
    pub runs: Side,
    pub noise: Option<NoiseFloor>,
}

#[derive(Debug, Clone)]
pub(super) struct RankedRun {
    pub(super) compared: ComparedRun,
    /// The figure that sides are ordered by, or why it is unknown.
    pub(super) ordered: std::result::Result<OrderedRun, String>,
    pub(super) price: Option<Price>,
    pub(super) place: Vec<NamedFact>,
    pub(super) measured: Vec<NamedFact>,
    pub(super) facts: RunFacts,
    pub(super) moment: Moment,
}

impl RankedRun {
    pub(super) fn from_run(run: &Run, analysis: &Analysis, by: OrderedBy) -> Self {
        let named = |(name, value): (&str, String)| NamedFact { name: name.to_owned(), value };
        Self {
            compared: compared_run(&analysis.summary),
            ordered: by.ordered_run(run, analysis),
            price: run.head.plan.price.clone(),
            place: provenance::place(run),
            measured: comparable::measured(run).into_iter().map(named).collect(),
            facts: RunFacts::from_run(run),
            moment: Moment::from_run(run, analysis),
        }
    }
}

#[derive(Debug)]
pub(super) struct RunsOfSide {
    pub(super) name: String,
    pub(super) runs: Vec<RankedRun>,
    pub(super) noise: Option<NoiseFloor>,
}

impl RunsOfSide {
    pub(super) fn from_side(side: &NamedSide, by: OrderedBy) -> Self {
        let runs = side.runs.iter().map(|(run, analysis)| RankedRun::from_run(run, analysis, by)).collect();
        Self { name: side.name.clone(), runs, noise: side.noise }
    }

    pub(super) fn validity(&self) -> Validity {
        self.runs.iter().map(|run| run.compared.validity).max().unwrap_or(Validity::Invalid)
    }

    /// The currencies of its prices.
    pub(super) fn currencies(&self) -> impl Iterator<Item = &str> {
        self.runs.iter().filter_map(|run| Some(run.price.as_ref()?.currency.as_str()))
    }

    pub(super) fn moments(&self) -> Vec<&Moment> {
        self.runs.iter().map(|run| &run.moment).collect()
    }

    pub(super) fn facts(&self) -> Vec<&RunFacts> {
        self.runs.iter().map(|run| &run.facts).collect()
    }

    /// Its price, if all runs have the same.
    pub(super) fn price(&self) -> Option<Price> {
        let mut prices = self.runs.iter().map(|run| run.price.as_ref());
        let first = prices.next()??;
        prices.all(|other| other == Some(first)).then(|| first.clone())
    }

    /// The values of its runs, or why it has no rank. A price in a currency other than `currency` has no rank.
    pub(super) fn ordered(
        &self,
        by: OrderedBy,
        force: bool,
        currency: Option<&str>,
    ) -> std::result::Result<Vec<&OrderedRun>, String> {
        let invalid = self.runs.iter().map(|run| &run.compared).find(|run| run.validity == Validity::Invalid && !force);
        if let Some(ComparedRun { id, because, .. }) = invalid {
            let why = if because.is_empty() { "it did not finish".to_owned() } else { because.join(", ") };
            return Err(format!("INVALID: run {id}: {why}"));
        }
        let mut foreign: Vec<&str> = self.currencies().filter(|other| Some(*other) != currency).collect();
        foreign.dedup();
        if by == OrderedBy::Price && !foreign.is_empty() {
            return Err(format!(
                "priced in {}, and the first side in {}",
                foreign.join(" and "),
                currency.unwrap_or_default()
            ));
        }
        self.runs.iter().map(|run| run.ordered.as_ref().map_err(String::clone)).collect()
    }
}

pub(super) fn values_of(runs: &[&OrderedRun]) -> Vec<RunValue> {
    runs.iter().map(|run| run.value.clone()).collect()
}
