//! Flags that several verbs have, each with one name and one help.

use clap::builder::NonEmptyStringValueParser;
use clap::{Arg, ArgAction, ArgMatches};
use mindful_core::plan::Bound;
use mindful_core::{Result, plan::units};

/// A flag without a value.
pub(crate) fn switch(name: &'static str, flag: &'static str) -> Arg {
    Arg::new(name).long(flag).action(ArgAction::SetTrue)
}

pub(crate) fn option(name: &'static str, flag: &'static str, value: &'static str) -> Arg {
    Arg::new(name).long(flag).value_name(value)
}

pub(crate) fn full() -> Arg {
    switch("full", "full").help("Print the whole report instead of its first lines")
}

pub(crate) fn live() -> Arg {
    switch("live", "live").help("Show progress on the whole terminal; q leaves the view, not the run")
}

pub(crate) fn explain() -> Arg {
    option("explain", "explain", "FIGURE").help("Explain a figure of the summary, or `verdict`: formula and readings")
}

pub(crate) fn run_name() -> Arg {
    Arg::new("id").value_name("RUN").default_value("latest").help("Id, its beginning, tag, or latest")
}

pub(crate) fn redact() -> Arg {
    switch("redact", "redact")
        .help("Replace names of hosts, users, paths, databases, devices and commands, such as by host-1")
}

pub(crate) fn output(help: &'static str) -> Arg {
    option("output", "output", "FILE").value_parser(NonEmptyStringValueParser::new()).help(help)
}

/// Files of other tools, for the verbs that read them.
pub(crate) fn old_files(help: &'static str) -> Arg {
    Arg::new("file").value_name("FILE|FOLDER").num_args(1..).required(true).help(help)
}

/// The criterion for the order of several sides, and their prices.
pub(crate) fn order_and_prices() -> [Arg; 2] {
    let by = option("by", "by", "FIGURE").conflicts_with("figure");
    [
        by.help("Order of the sides: reads, 'reads at p99<=5ms', price, p99, or a name of --figure [default: reads]"),
        option("prices", "prices", "FILE")
            .value_parser(NonEmptyStringValueParser::new())
            .help("Prices of sides by tag, run or machine, as TOML: small = \"1.92 EUR\""),
    ]
}

pub(crate) fn margin_and_figure() -> [Arg; 2] {
    [
        option("margin", "margin", "PERCENT").help("Largest difference that does not matter [default: 3]"),
        option("figure", "figure", "NAME").help(
            "Figure to compare: throughput, mean, p99, reads, logical-reads, read-latency, per-price [default: \
             throughput; reads for results of other tools]",
        ),
    ]
}

pub(crate) fn repeat(help: impl Into<clap::builder::StyledStr>) -> Arg {
    option("repeat", "repeat", "N").help(help)
}

/// The value of `--repeat`, at least `least`; `default` without the flag.
pub(crate) fn repetitions(matches: &ArgMatches, least: u32, default: u32) -> Result<u32> {
    let bounded = |text: &String| {
        Bound::Count(least.into(), 1_000).check(text)?;
        units::parse_count(text).map(|count| u32::try_from(count).unwrap_or(default))
    };
    matches.get_one("repeat").map_or(Ok(default), bounded).map_err(|error| error.at("--repeat"))
}
