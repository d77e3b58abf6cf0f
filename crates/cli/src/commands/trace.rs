//! `mindful trace`: the single waits of traces, grouped, exact to the microsecond.

use clap::ArgMatches;
use mindful_core::Result;
use mindful_core::plan::units;
use mindful_import::waits::{Field, Filter};
use mindful_report::export::json;
use mindful_report::trace_text;

use crate::args::flags::{old_files, option};
use crate::commands::import::{Named, files};
use crate::context;
use crate::exit::Exit;
use crate::verb::{Action, Verb};

pub(super) const VERB: Verb = Verb {
    name: "trace",
    about: "Group the waits of 10046 traces by event, file, object or time",
    details: "Trace shows the number of waits and their exact time. Nothing is stored.",
    example: "mindful trace ora_1.trc --group-by file --where 'event~read and ela>10000'",
    page: "docs/old-results.md",
    plan: None,
    arguments: || {
        vec![
            old_files("Traces of level 8 or 12, gzip or not, of any size; - for stdin"),
            option("group_by", "group-by", "FIELDS").help(
                "Comma-separated: event, file, object, blocks, block, cursor, second, ela, p1, p2, p3 [default: event]",
            ),
            option("where", "where", "CONDITION")
                .help("Count only some waits: 'event~read and ela>10000'; =, !=, <, <=, >, >=, ~ (contains)"),
            option("top", "top", "N").help("Largest groups to print [default: 20]"),
        ]
    },
    action: Action::Run(trace),
};

fn trace(matches: &ArgMatches) -> Result<Exit> {
    let given = |name| matches.get_one::<String>(name).map(String::as_str);
    let fields = Field::parse_list(given("group_by").unwrap_or("event"))?;
    let filter = Filter::parse(given("where").unwrap_or_default())?;
    let top = given("top").map_or(Ok(20), units::parse_count)? as usize;
    let mut traces = Vec::new();
    for named in files::named(matches)? {
        let Named::File { path, .. } = named else { continue };
        let source = files::open(&path)?;
        let name = source.name.clone();
        traces.push(source.grouped(&fields, &filter)?.summary(&name));
    }
    context::print(&if context::wants_json(matches) {
        json::summary(&traces)
    } else {
        traces.iter().map(|trace| trace_text(trace, top)).collect()
    })
}
