//! The provenance of a run, and how to repeat it.

use mindful_analyze::Analysis;
use mindful_analyze::compare::provenance::provenance;
use mindful_core::record::run::Run;
use mindful_core::result::comparison::NamedFact;

use crate::escape;
use crate::panels::Panel;
use crate::repeat::{self, Repeat};
use crate::table::{Side, Table};

/// Machine, storage, server and binary, each with its source.
pub(crate) fn measured_at(run: &Run) -> Panel {
    let facts = provenance(run);
    let facts = facts.iter().map(|fact| (fact.name.to_owned(), escape(&fact.text())));
    Panel::of_facts("where it was measured", facts.collect())
}

/// The provenance of several sides: the common facts, then a row a side with the others.
pub(crate) fn of_sides(sides: &[(String, Vec<NamedFact>)]) -> Panel {
    let mut panel = Panel::default();
    let Some((_, first)) = sides.first() else { return panel };
    panel.heading("Where each side was measured");
    let is_common = |at: &usize| sides.iter().all(|(_, facts)| facts.get(*at) == first.get(*at));
    let (common, differing): (Vec<usize>, Vec<usize>) = (0..first.len()).partition(is_common);
    if !differing.is_empty() {
        let titles = differing.iter().map(|at| (first[*at].name.as_str(), Side::Left));
        let mut table = Table::new(&std::iter::once(("side", Side::Left)).chain(titles).collect::<Vec<_>>());
        for (name, facts) in sides {
            let values = differing.iter().map(|at| facts.get(*at).map(|fact| escape(&fact.value)).unwrap_or_default());
            table.row(std::iter::once(escape(name)).chain(values).collect());
        }
        panel.table(table);
    }
    panel.pairs(common.iter().map(|at| (first[*at].name.clone(), escape(&first[*at].value))).collect());
    panel
}

/// The two commands that repeat a run from its pack.
pub(crate) fn repeated_by(run: &Run, analysis: &Analysis) -> Panel {
    let mut panel = Panel::default();
    panel.heading("to repeat it");
    match repeat::repeat(run, &analysis.summary) {
        Repeat::Commands(commands) => {
            for command in &commands {
                panel.add_line(&format!("  {}", escape(command)));
            }
            let id = escape(&run.head.id);
            panel.wrapped(2, &format!("Where the run is stored, mindful pack {id} writes this pack."));
        }
        Repeat::OfAnotherTool(what) => panel.wrapped(2, &format!("Another tool measured it: {}.", escape(&what))),
    }
    panel
}
