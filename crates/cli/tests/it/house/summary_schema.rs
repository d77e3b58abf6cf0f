//! docs/summary.schema.json matches the types, and every summary conforms to it.

use std::path::Path;

use jsonschema::Validator;
use mindful_core::result::Summary;
use mindful_core::result::comparison::{ComparisonSummary, HistorySummary};
use mindful_core::result::ranking::RankingSummary;
use serde_json::{Map, Value};

use crate::house::{root, text};
use crate::mindful::{Mindful, json, sample};

fn read(path: impl AsRef<Path>) -> Value {
    serde_json::from_str(&text(path)).unwrap()
}

fn published() -> Value {
    read("docs/summary.schema.json")
}

/// The schema of the types. The root is the summary of a run; its definitions hold those of comparisons and histories.
fn made() -> Value {
    let mut generator = schemars::generate::SchemaSettings::draft2020_12().into_generator();
    generator.subschema_for::<ComparisonSummary>();
    generator.subschema_for::<HistorySummary>();
    generator.subschema_for::<RankingSummary>();
    let mut schema = serde_json::to_value(generator.into_root_schema_for::<Summary>()).unwrap();
    schema["title"] = "Summary of a run of mindful, format 1".into();
    for summary in ["", "/$defs/ComparisonSummary", "/$defs/HistorySummary", "/$defs/RankingSummary"] {
        let format = schema.pointer_mut(&format!("{summary}/properties/format")).unwrap();
        *format = serde_json::json!({ "description": "Format number.", "const": 1 });
    }
    schema
}

fn definition(name: &str) -> Validator {
    let mut schema = strict(&published());
    let root = schema.as_object_mut().unwrap();
    root.retain(|key, _| key.starts_with('$'));
    root.insert("$ref".into(), format!("#/$defs/{name}").into());
    jsonschema::validator_for(&schema).unwrap()
}

/// `schema`, changed so that an unknown field is a fault, and so is a missing one that is not optional.
fn strict(schema: &Value) -> Value {
    match schema {
        Value::Object(fields) => {
            let mut fields: Map<String, Value> =
                fields.iter().map(|(name, value)| (name.clone(), strict(value))).collect();
            if fields.contains_key("properties") {
                fields.insert("additionalProperties".into(), false.into());
            }
            fields.into()
        }
        Value::Array(values) => values.iter().map(strict).collect(),
        other => other.clone(),
    }
}

fn holds(validator: &Validator, summary: &Value, whose: &str) {
    let faults: Vec<String> =
        validator.iter_errors(summary).map(|fault| format!("{}: {fault}", fault.instance_path())).collect();
    assert!(faults.is_empty(), "{whose}: {faults:#?}");
}

#[test]
fn the_schema_in_docs_is_the_one_of_the_types() {
    let text = format!("{:#}\n", made());
    let path = root().join("docs/summary.schema.json");
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(there == text, "UPDATE_SCHEMA=1 cargo test -p mindful --test it summary_schema:: rewrites it");
}

/// Stored runs are from earlier versions and may lack later fields, so no field is required.
#[test]
fn stored_runs_of_format_1_keep_to_the_schema() {
    let mindful = Mindful::new();
    let validator = jsonschema::validator_for(&strict(&published())).unwrap();
    for name in ["postgres", "ladder", "job"] {
        holds(&validator, &read(sample(name).join("summary.json")), &format!("{name}/summary.json"));
        mindful.succeed(("import", sample(name)));
        holds(&validator, &mindful.json("show"), name);
    }
}

/// The keys of an example about its load, common to all engines; not those of its target or duration.
const OF_THE_LOAD: &str = "schemas sessions ops hot_spot_share work_unit rate price scan_pct update_pct think_time \
                           update_work_unit redo skew scan_table";

#[test]
fn the_loads_of_all_examples_have_summaries_of_the_schema() {
    let mindful = Mindful::new();
    let validator = jsonschema::validator_for(&strict(&published())).unwrap();
    let examples = std::fs::read_dir(root().join("examples")).unwrap().map(|entry| entry.unwrap().path());
    let mut runs = Vec::new();
    for plan in examples.filter(|path| path.extension().is_some_and(|e| e == "toml")) {
        let name = plan.file_name().unwrap().to_str().unwrap().to_owned();
        let text = std::fs::read_to_string(&plan).unwrap();
        let of_load = |line: &&str| {
            line.split_once('=').is_some_and(|(key, _)| OF_THE_LOAD.split(' ').any(|known| known == key.trim()))
        };
        let mut load: Vec<&str> = text.lines().filter(of_load).collect();
        load.extend(["target = \"null:\"", "scale = 4096", "warmup = \"0s\""]);
        if !load.iter().any(|line| line.starts_with("ops")) {
            load.push("duration = \"200ms\"");
        }
        if text.contains("hot_spot_size") {
            load.push("hot_spot_size = 512");
        }
        std::fs::write(mindful.path(&name), load.join("\n")).unwrap();
        let run = mindful.start_piped(format!("run --format json -q --plan {name}"));
        runs.push((name, run));
    }
    assert!(runs.len() > 12);
    for (name, run) in runs {
        holds(&validator, &json(&run.wait_with_output().unwrap()), &name);
    }
}

#[test]
fn comparisons_and_histories_keep_to_the_schema() {
    let mindful = Mindful::new();
    let load = "--target null: --scale 1000 --warmup 0s --duration 200ms";
    for (tag, price) in [("one", "1 EUR"), ("two", "2 EUR")] {
        // Four are compared; a run so short may be invalid on a busy host.
        for _ in 0..7 {
            mindful.run(("run", load, ["--tag", tag, "--price", price]));
        }
        mindful.run(("sweep --sessions 1,2,4,8", load, format!("--tag {tag}-sweep")));
    }
    let compared = |more: &str| json(&mindful.run(("compare --force --format json", more)));
    let (comparison, history) = (definition("ComparisonSummary"), definition("HistorySummary"));
    let single = compared("one two --fail-if slower>1%");
    assert!(single["verdict"].is_string() && single["gate"]["failed"].is_boolean(), "{single:#}");
    holds(&comparison, &single, "runs");
    let sweeps = compared("one-sweep two-sweep");
    assert!(sweeps["points"].as_array().unwrap().len() == 4 && sweeps["curves"].is_array(), "{sweeps:#}");
    holds(&comparison, &sweeps, "sweeps");
    holds(&history, &compared("--history one two"), "history");
    let ranking = compared("one two --by throughput --fail-if 'not in the first rank'");
    assert!(ranking["groups"][0]["sides"][0]["per_month"].is_number(), "{ranking:#}");
    holds(&definition("RankingSummary"), &ranking, "ranks");
}

/// A summary that breaks its promise is found: a field without a name in the schema, a text for a figure.
#[test]
fn the_schema_rejects_other_documents() {
    let validator = jsonschema::validator_for(&published()).unwrap();
    let good = read(sample("postgres").join("summary.json"));
    assert!(validator.is_valid(&good));
    for (pointer, value) in [("/format", 2.into()), ("/validity", "fine".into()), ("/steps/0/duration_s", "10".into())]
    {
        let mut bad = good.clone();
        *bad.pointer_mut(pointer).unwrap() = value;
        assert!(!validator.is_valid(&bad), "{pointer}");
    }
}
