//! `mindful trace`: the single waits of traces, grouped, exact to the microsecond.

mod text;

use clap::ArgMatches;
use mindful_core::Result;
use mindful_core::plan::units;
use mindful_import::waits::{Distribution, Field, Filter, Grouped, Kind};
use serde_json::{Value, json};

use crate::args::flags::{old_files, option};
use crate::commands::import::{Named, files};
use crate::context;
use crate::exit::Exit;
use crate::verb::{Action, Group, PlanKeys, Verb};

pub const VERB: Verb = Verb {
    name: "trace",
    group: Some(Group::OldResults),
    about: "Group the waits of 10046 traces by event, file, object or time",
    details: "Trace shows the number of waits and their exact time. Nothing is stored.",
    example: "mindful trace ora_1.trc --group-by file --where 'event~read and ela>10000'",
    page: "docs/old-results.md",
    plan: PlanKeys::None,
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
    let json = context::wants_json(matches);
    let mut all = Vec::new();
    let mut output = String::new();
    for named in files::named(matches)? {
        let Named::File { path, .. } = named else { continue };
        let source = files::open(&path)?;
        let name = source.name.clone();
        let grouped = source.grouped(&fields, &filter)?;
        if json {
            all.push(as_json(&name, &fields, &grouped));
        } else {
            output += &text::report(&name, &fields, &grouped, top);
        }
    }
    context::print(&if json { format!("{:#}\n", Value::from(all)) } else { output })?;
    Ok(Exit::Ok)
}

const SHARES: [(&str, f64); 4] = [("p50", 0.5), ("p95", 0.95), ("p99", 0.99), ("p99.9", 0.999)];

/// A distribution in figures, us.
fn figures(d: &Distribution) -> Value {
    let percentiles = |of: &dyn Fn(f64) -> Option<u64>| -> Value {
        SHARES
            .iter()
            .map(|(name, share)| ((*name).to_owned(), json!(of(*share))))
            .collect::<serde_json::Map<_, _>>()
            .into()
    };
    json!({
        "waits": d.count,
        "time_us": d.time_us,
        "mean_us": d.mean_us(),
        "min_us": d.min_us,
        "max_us": d.max_us,
        "counted_us": percentiles(&|share| d.percentile_us(share)),
        "time_weighted_us": percentiles(&|share| d.time_percentile_us(share)),
        "ranges": d.decades().iter().map(|r| json!({
            "from_us": r.from_us, "to_us": r.to_us, "waits": r.count, "time_us": r.time_us,
            "min_us": r.min_us, "max_us": r.max_us,
        })).collect::<Vec<_>>(),
    })
}

fn as_json(file: &str, fields: &[Field], grouped: &Grouped) -> Value {
    let group = |(key, d): (&str, &Distribution)| {
        let mut group = figures(d);
        group["key"] = json!(key);
        group
    };
    let reads = Kind::ALL.iter().map(|kind| {
        let (latencies, blocks) = &grouped.reads[*kind as usize];
        let mut reads = figures(latencies);
        reads["kind"] = json!(kind.name());
        // Kinds that were not read have no blocks; an unknown number is null.
        let none = (latencies.count == 0).then_some(0);
        reads["blocks"] = json!(none.or(blocks.total(grouped.block_bytes())));
        reads
    });
    json!({
        "file": file,
        "group_by": text::names(fields),
        "waits_in_trace": grouped.waits,
        "groups_exact": !grouped.rounded(),
        "all": figures(&grouped.all),
        "reads": reads.collect::<Vec<_>>(),
        "groups": grouped.by_time().into_iter().map(|g| group((&g.key, &g.latencies))).collect::<Vec<_>>(),
    })
}
