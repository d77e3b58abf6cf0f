//! The columns of a run's CSV compared with the summary it is made of.

use std::collections::BTreeMap;

use crate::made::Made;
use mindful_analyze::{Analysis, analyze};
use mindful_core::result::{
    CapSummary, CpuSummary, DeviceSummary, LogSummary, OpSummary, OpsSummary, PerPrice, WaitSummary,
};
use mindful_report::export::csv;
use serde_json::Value;

/// Fields that are not figures of a line: lists and maps of their own, and texts that have columns of their own.
const NO_FIGURES: [&str; 5] = ["by_session", "choices", "point", "like", "observed"];

/// Fields with a unit only in the column's name.
const RENAMED: [(&str, &str); 2] = [("scale", "scale_blocks"), ("work_unit", "work_unit_blocks")];

/// A run in which every figure is known and different.
fn whole() -> Analysis {
    let mut analysis = analyze(&Made { update_pct: "20", ..Made::default() }.run());
    let op: OpSummary = analysis.steps[0].summary.ops.select.clone().unwrap();
    let summary = &mut analysis.steps[0].summary;
    let kind = |first| Some(filled(op.clone(), first));
    summary.ops = OpsSummary { select: kind(100), update: kind(200), scan: kind(300) };
    summary.device = filled(DeviceSummary::default(), 400);
    summary.caps = filled(CapSummary::default(), 430);
    summary.client_peak_bytes = Some(605.0);
    summary.log = filled(LogSummary::default(), 800);
    summary.waits = filled(WaitSummary::default(), 450);
    summary.cpu = filled(CpuSummary::default(), 500);
    summary.point.values = [("small", "11"), ("large", "12")].map(|(key, value)| (key.into(), value.into())).into();
    summary.iodepth = Some(3);
    summary.block_bytes = Some(8192);
    summary.scan_direct_share = Some(0.5);
    summary.start_skew_ms = Some(0.25);
    summary.read_requests_per_s = Some(600.0);
    summary.blocks_per_read = Some(602.0);
    summary.device_in_flight = Some(603.0);
    summary.database_in_flight = Some(604.0);
    summary.per_price = filled(PerPrice::default(), 700);
    summary.write_requests_per_s = Some(601.0);
    analysis
}

/// The same with a number of its own in each field, from `first` on.
fn filled<T: serde::Serialize + serde::de::DeserializeOwned>(figures: T, first: u64) -> T {
    let Value::Object(mut fields) = serde_json::to_value(figures).unwrap() else { panic!("not a set of figures") };
    for (number, value) in (first..).zip(fields.values_mut()) {
        *value = number.into();
    }
    serde_json::from_value(Value::Object(fields)).unwrap()
}

fn figures(value: &Value, prefix: &str, found: &mut BTreeMap<String, Option<f64>>) {
    for (name, value) in value.as_object().unwrap() {
        if NO_FIGURES.contains(&name.as_str()) {
            continue;
        }
        let column = RENAMED.iter().find(|(field, _)| field == name).map_or(name.as_str(), |(_, column)| column);
        match value {
            Value::Object(_) if matches!(name.as_str(), "ops" | "cpu") => figures(value, "", found),
            Value::Object(_) => figures(value, &format!("{name}_"), found),
            Value::String(_) => {}
            value => drop(found.insert(format!("{prefix}{column}"), value.as_f64())),
        }
    }
}

#[test]
fn every_figure_of_the_summary_has_its_column() {
    let analysis = whole();
    let mut wanted = BTreeMap::new();
    figures(&serde_json::to_value(&analysis.steps[0].summary).unwrap(), "", &mut wanted);
    assert!(wanted.len() > 60 && wanted.values().all(Option::is_some), "a figure is not made: {wanted:#?}");
    let text = csv::steps(&analysis);
    let [titles, values]: [Vec<&str>; 2] =
        text.lines().map(|line| line.split(',').collect()).collect::<Vec<_>>().try_into().unwrap();
    for (name, figure) in wanted {
        let column = titles.iter().position(|title| *title == name);
        let cell = column.and_then(|column| values[column].parse::<f64>().ok());
        assert_eq!(cell, figure, "{name} in\n{text}");
    }
}

#[test]
fn no_column_of_figures_is_always_empty() {
    let text = csv::steps(&whole());
    let mut lines = text.lines().map(|line| line.split(','));
    let columns: Vec<_> = lines.next().unwrap().zip(lines.next().unwrap()).collect();
    let figures = columns.iter().skip_while(|(title, _)| *title != "sessions");
    for (title, value) in figures.take_while(|(title, _)| *title != "like") {
        assert!(!value.is_empty(), "{title} is empty:\n{text}");
    }
}
