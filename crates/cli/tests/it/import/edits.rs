//! Edited packs: `check` finds each edit, and an import shows only data that follows from the record.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use mindful_analyze::{Analysis, analyze};
use mindful_conformance::write_files;
use mindful_core::record::run::Run;
use mindful_record::{LOG, SUMMARY, pack, read_text};
use mindful_report::export::packed::{Derivation, Difference};
use mindful_report::export::unproven::UnprovenNumbers;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::made::{Dress, showcase};
use crate::mindful::{
    Mindful, assert_has, codes, edit_record, ended, findings, id, json, json_lines, null, sample, text, wait_until,
};

/// Short runs of different kinds: of the null engine, of files, of SQLite, of other tools, and stored ones.
fn record_all_kinds(mindful: &Mindful) {
    let short = "--duration 300ms --null-latency 2ms -q";
    for run in [
        "--sessions 1",
        "--sessions 2 --update-pct 30 --tag updates",
        "--sessions 2 --rate 100",
        "--think-time 1ms..3ms --skew zipf:0.9",
        "--warmup 1s --price '0.12 USD'",
        "--work-unit 1 --sessions 3",
        "--hot-spot-size 1MiB --hot-spot-share 50",
        "--redo heavy --update-pct 100",
        "--loop client",
    ] {
        mindful.text(null("run", (short, run)));
    }
    mindful.text(null("run", "--ops 50 --guard 20s -q"));
    for ladder in ["1,2,4", "1..2 --max-iops-at p50<=1s"] {
        mindful.text(null("sweep", (short, format!("--sessions {ladder}"))));
    }
    for target in ["sqlite:made.db", "raw:made.raw"] {
        let small = "--scale 4MiB --schemas 1 --warmup 0s --duration 500ms -q";
        mindful.text(format!("run --target {target} {small}"));
    }
    fs::write(mindful.path("w.csv"), "Num_concurrent_workers,Oracle_Logical_IOPS\n4,1.5\n8,2.5\n").unwrap();
    for (name, dress) in [("awr.txt.8", Dress::Awr11), ("awr.html.8", Dress::Html)] {
        fs::write(mindful.path(name), showcase().report(dress)).unwrap();
        mindful.text(format!("import {name}"));
    }
    mindful.text("import w.csv");
    for name in ["postgres", "ladder", "job", "ranks"] {
        mindful.text(("import", sample(name)));
    }
}

/// Records of several parts: contrasts, runs of several targets, and sweeps that were stopped and resumed.
fn record_all_shapes(mindful: &Mindful) {
    let short = "--scale 4MiB --schemas 2 --warmup 200ms --duration 500ms -q";
    for target in ["null:", "sqlite:swept.db"] {
        for sent in [Signal::INT, Signal::KILL] {
            let begun_steps = || mindful.records().matches("\"event\":\"started\"").count();
            let before = begun_steps();
            let mut child = mindful.start((format!("sweep --target={target} --sessions 1,2"), short));
            wait_until("no step begins", || begun_steps() > before);
            // It may have ended: a record is continued then as well.
            let _ = kill_process(Pid::from_child(&child), sent);
            child.wait().unwrap();
            assert!(ended(&mindful.run("sweep --resume latest")), "{target}");
        }
    }
    for verb in [
        "run --target=sqlite:a.db --target=sqlite:b.db --sessions=4",
        "contrast --target=sqlite:a.db --repeat=2 --sessions=2",
        "contrast --commits=. --target=sqlite:a.db --repeat=1 --sessions=2",
        "contrast --target=null: --repeat=2 --sessions=2",
    ] {
        let output = mindful.run((verb, short));
        assert!(ended(&output), "{verb}: {output:?}");
    }
}

/// Packs of all runs of the store, in a folder of their own.
fn packed(mindful: &Mindful) -> Vec<(String, PathBuf)> {
    fs::create_dir(mindful.path("packs")).unwrap();
    let ids = fs::read_dir(mindful.runs()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    ids.map(|id| {
        let file = mindful.path(format!("packs/{id}.tar.zst"));
        mindful.text((format!("pack {id} --output"), &file));
        (id, file)
    })
    .collect()
}

/// The files of a pack, in a folder.
fn unpacked(mindful: &Mindful, file: &Path) -> PathBuf {
    let folder = mindful.path(format!("unpacked-{}", file.file_name().unwrap().to_string_lossy()));
    fs::create_dir(&folder).unwrap();
    pack::unpack(file, &folder).unwrap();
    folder
}

/// A run by `args` and the files of its pack, `whole.tar.zst`.
fn with_pack(mindful: &Mindful, args: &str) -> (Value, PathBuf) {
    let ran = mindful.measured(args);
    mindful.text(format!("pack {} --output whole.tar.zst", id(&ran)));
    let folder = unpacked(mindful, &mindful.path("whole.tar.zst"));
    (ran, folder)
}

fn read(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap()
}

const FILES: [&str; 5] = [SUMMARY, pack::PAGE, pack::PLAN, pack::ENVIRONMENT, pack::VERSION];

/// Packs the files of `folder` again, as run `id`.
fn packed_again(folder: &Path, id: &str, to: &Path) {
    let text = |name: &&'static str| Some((*name, fs::read_to_string(folder.join(name)).ok()?));
    let texts: Vec<(&str, String)> = FILES.iter().filter_map(text).collect();
    pack::write(folder, id, &texts, &File::create(to).unwrap()).unwrap();
}

/// Where numbers are in `text`, also in words.
fn numbers(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let is_part = |byte: u8| byte.is_ascii_digit() || byte == b'.';
    (0..bytes.len()).filter(|at| bytes[*at].is_ascii_digit() && (*at == 0 || !is_part(bytes[at - 1]))).collect()
}

/// The first figure of a summary with its name.
fn figure_of(summary: &str) -> &str {
    let from = summary.find("\"blocks_visited_per_s\": ").unwrap();
    summary[from..].split(',').next().unwrap()
}

/// `text` with another digit at `at`.
fn with_digit(text: &str, at: usize) -> String {
    let digit = if text.as_bytes()[at] == b'9' { "8" } else { "9" };
    format!("{}{digit}{}", &text[..at], &text[at + 1..])
}

/// Checks and imports `packs` as they are.
fn accept(mindful: &Mindful, packs: &[(String, PathBuf)]) {
    let checked = text(&mindful.succeed("check packs"));
    assert_has(checked, format!("{} packs checked, none differs", packs.len()));
    let imported = Mindful::new().text(("import", mindful.path("packs")));
    assert!(!imported.contains("EDITED"), "{imported}");
}

/// Changes every `nth` number of the summary and the environment of `packs`, and returns how many: each change is found.
fn find_changes(mindful: &Mindful, packs: &[(String, PathBuf)], nth: usize) -> usize {
    let mut changed = 0;
    for (id, file) in packs {
        let folder = unpacked(mindful, file);
        let run = read_text(&read(&folder, LOG), &folder).unwrap();
        let derived = Derivation { run: &run, analysis: &analyze(&run) };
        for (name, derived) in [(SUMMARY, &derived.summary()), (pack::ENVIRONMENT, &derived.environment())] {
            assert_eq!(Difference::of_text(name, &read(&folder, name), derived), None, "{id}");
            for at in numbers(derived).into_iter().step_by(nth) {
                let edited = with_digit(derived, at);
                assert!(Difference::of_text(name, &edited, derived).is_some(), "{id} {name} at {at}");
                // Words of another build may differ; its numbers may not.
                let line = derived[..at].rsplit('\n').next().unwrap().replace("\\\"", "");
                let in_words = line.matches('"').count() % 2 == 1;
                let found = Difference::of_figures(name, &edited, derived).is_some();
                assert!(in_words || found, "{id} {name}: {line}");
                changed += 1;
            }
        }
    }
    changed
}

#[test]
fn every_changed_figure_of_a_pack_is_found() {
    let mindful = Mindful::new();
    record_all_kinds(&mindful);
    let packs = packed(&mindful);
    assert!(packs.len() >= 20, "{packs:?}");
    accept(&mindful, &packs);
    let changed = find_changes(&mindful, &packs, 1);
    assert!(changed > 2_000, "{changed} figures");
}

#[test]
fn runs_of_several_parts_follow_from_their_records() {
    let mindful = Mindful::new();
    record_all_shapes(&mindful);
    let packs = packed(&mindful);
    accept(&mindful, &packs);
    // Their summaries are large.
    let changed = find_changes(&mindful, &packs, 23);
    assert!(changed > 10 * packs.len(), "{changed} figures");
}

#[test]
fn an_edited_pack_is_imported_as_invalid() {
    let mindful = Mindful::new();
    let (ran, folder) = with_pack(&mindful, "--sessions 2 --tag edited");
    let (id, whole) = (id(&ran), read(&folder, SUMMARY));
    let figure = figure_of(&whole);
    let edits: [(&str, String); 8] = [
        ("a figure", whole.replacen(figure, "\"blocks_visited_per_s\": 999999.0", 1)),
        ("a number in another form", whole.replacen("\"format\": 1", "\"format\": 01", 1)),
        ("a name", whole.replacen("\"blocks_visited_per_s\"", "\"blocks_visited_per_m\"", 1)),
        ("a missing figure", whole.replacen(&format!("{figure},"), "", 1)),
        ("a figure twice", whole.replacen(figure, &format!("{figure},\n{figure}"), 1)),
        ("one more", whole.replacen("\"format\": 1", "\"format\": 1,\n  \"more\": 1", 1)),
        ("a letter that looks the same", whole.replacen("null", "nu\u{2113}l", 1)),
        ("nothing", String::new()),
    ];
    for (what, edited) in edits {
        fs::write(folder.join(SUMMARY), &edited).unwrap();
        packed_again(&folder, id, &mindful.path("edited.tar.zst"));
        let checked = mindful.run("check edited.tar.zst whole.tar.zst");
        assert_eq!(checked.status.code(), Some(1), "{what}: {checked:?}");
        assert_has(text(&checked), "summary.json line…1 of them differ");
        let elsewhere = Mindful::new();
        elsewhere.shows(("import", mindful.path("edited.tar.zst")), "EDITED: summary.json line");
        let shown = elsewhere.json(format!("show {id}"));
        assert_eq!((&shown["steps"], &shown["validity"]), (&ran["steps"], &"invalid".into()), "{what}");
        assert!(codes(&shown).contains(&"edited"), "{what}: {shown:#}");
        let listed = elsewhere.text("list");
        assert!(listed.contains("INVALID") && !listed.contains("999,999"), "{what}: {listed}");
        elsewhere.refuses(format!("pack {id}"), "did not follow from its record");
        elsewhere.succeed(format!("export {id} --as site --output site"));
        let index = read(elsewhere.folder(), "site/index.html");
        assert!(index.contains("INVALID") && !index.contains("999,999"), "{what}: {index}");
    }
}

#[test]
fn each_file_of_a_pack_is_compared_with_its_record() {
    let mindful = Mindful::new();
    let ran = mindful.measured("--sessions 2 --seed 1234");
    let id = id(&ran);
    for redact in ["", "--redact"] {
        mindful.text((format!("pack {id} --output whole.tar.zst --yes"), redact));
        let folder = unpacked(&mindful, &mindful.path("whole.tar.zst"));
        for name in [pack::PAGE, pack::PLAN, pack::ENVIRONMENT, pack::VERSION] {
            let whole = read(&folder, name);
            let mut numbers = numbers(&whole).into_iter();
            let at = numbers.find(|at| *at > whole.find('\n').unwrap() || name == pack::VERSION).unwrap();
            for edited in [Some(with_digit(&whole, at)), None] {
                match &edited {
                    Some(edited) => fs::write(folder.join(name), edited).unwrap(),
                    None => fs::remove_file(folder.join(name)).unwrap(),
                }
                packed_again(&folder, id, &mindful.path("edited.tar.zst"));
                let checked = mindful.run("check edited.tar.zst");
                assert_eq!(checked.status.code(), Some(1), "{name}: {checked:?}");
                assert_has(text(&checked), name);
            }
            fs::write(folder.join(name), whole).unwrap();
        }
        packed_again(&folder, id, &mindful.path("again.tar.zst"));
        mindful.succeed("check again.tar.zst");
        fs::remove_dir_all(folder).unwrap();
    }
}

#[test]
fn a_pack_of_another_build_is_compared_by_its_figures() {
    let mindful = Mindful::new();
    let (ran, folder) = with_pack(&mindful, "--sessions 2");
    let check_again = |summary: String| {
        fs::write(folder.join(SUMMARY), summary).unwrap();
        packed_again(&folder, id(&ran), &mindful.path("other.tar.zst"));
        mindful.run("check other.tar.zst")
    };
    let version = read(&folder, pack::VERSION);
    let by = version.lines().find(|line| line.starts_with("packed by mindful")).unwrap();
    fs::write(folder.join(pack::VERSION), version.replace(by, "packed by mindful 9.9.9")).unwrap();
    let whole = read(&folder, SUMMARY);
    let words = check_again(whole.replacen("\"text\": \"", "\"text\": \"In other words: ", 1));
    assert_has(text(&words), "not compared: page.html: mindful 9.9.9 wrote it");
    let figure = check_again(whole.replacen(figure_of(&whole), "\"blocks_visited_per_s\": 999999.0", 1));
    assert_has(text(&figure), "summary.json steps[0].blocks_visited_per_s: `999999.0` instead of");
    assert_eq!([words, figure].map(|checked| checked.status.code()), [Some(0), Some(1)]);
}

#[test]
fn hostile_packs_are_named_and_do_not_hide_others() {
    let mindful = Mindful::new();
    let (ran, folder) = with_pack(&mindful, "--sessions 1");
    let (id, record) = (id(&ran), read(&folder, LOG));
    write_files(mindful.folder(), &[("packs/cut.tar.zst", "no pack"), ("packs/README.md", "# Results\n")]);
    fs::rename(mindful.path("whole.tar.zst"), mindful.path("packs/whole.tar.zst")).unwrap();
    let lines: Vec<&str> = record.lines().collect();
    let joined = |lines: &[&str]| lines.join("\n") + "\n";
    let other = "20200101-000000-abc";
    let mut backwards = lines.clone();
    backwards[1..].reverse();
    let notes = "{\"event\":\"note\",\"text\":\"n\"}\n".repeat(100_000);
    let records: [(&str, String); 7] = [
        ("huge", record.replacen("\"blocks\":", "\"blocks\":1e308,\"blocks\":", 1)),
        ("nan", record.replacen("\"sum_ns\":", "\"sum_ns\":NaN,\"sum_ns\":", 1)),
        ("short", joined(&lines[..lines.len() / 2])),
        ("backwards", joined(&backwards)),
        ("long", format!("{record}{notes}")),
        ("other", record.replace(id, other)),
        ("twice", record.replacen("\"format\":1", "\"format\":1,\"format\":1", 1)),
    ];
    for (name, record) in &records {
        fs::write(folder.join(LOG), record).unwrap();
        packed_again(&folder, id, &mindful.path(format!("packs/{name}.tar.zst")));
    }
    let checked = mindful.run("check packs --format json");
    assert_eq!(checked.status.code(), Some(1), "{checked:?}");
    let all = json(&checked);
    for pack in all.as_array().unwrap() {
        let differs = !pack["differences"].as_array().unwrap().is_empty();
        assert_eq!(differs, pack["path"] != "packs/whole.tar.zst", "{pack:#}");
    }
    assert_eq!(all.as_array().unwrap().len(), records.len() + 2, "{all:#}");
    // A run with the name of another is not imported.
    mindful.succeed("import packs/other.tar.zst");
    assert!(codes(&mindful.json(format!("show {other}"))).contains(&"edited"));
    mindful.succeed("export packs --as site --output site");
    let index = read(mindful.folder(), "site/index.html");
    assert_has(index, format!("cut.tar.zst…another pack contains run {id}"));
}

#[test]
fn a_record_that_differs_from_its_settings_is_edited() {
    let mindful = Mindful::new();
    let ran = mindful.measured("--sessions 2 --work-unit 8");
    let (id, record) = (id(&ran), mindful.record(&ran));
    let edits = [
        ("head", "/plan/work_unit", "the plan has work_unit 7 instead of 8 by its settings"),
        ("head", "/plan/warmup", "the plan has warmup 7.0 instead of 0.0"),
        ("step", "/workload/update_work_unit", "step 1 has workload update_work_unit 7 instead of 8"),
        ("step", "/placements/1/schema", "step 1 has placements schema 7 instead of 2"),
        ("step", "/step", "step 1 is stored as step 8"),
    ];
    for (event, pointer, evidence) in edits {
        fs::write(mindful.log(&ran), &record).unwrap();
        edit_record(&mindful.log(&ran), |line| {
            if line["event"] == event {
                *line.pointer_mut(pointer).unwrap() = 7.into();
            }
        });
        let shown = mindful.json(format!("show {id}"));
        assert_eq!(shown["validity"], "invalid", "{pointer}: {shown:#}");
        assert_has(findings(&shown, "edited")[0]["evidence"].as_str().unwrap(), evidence);
    }
    fs::write(mindful.log(&ran), record).unwrap();
    assert!(!codes(&mindful.json(format!("show {id}"))).contains(&"edited"));
}

/// The run of the record `text`; `None` where it cannot be read.
fn analysed(text: &str) -> Option<(Run, Analysis)> {
    let run = read_text(text, Path::new(LOG)).ok()?;
    let analysis = analyze(&run);
    Some((run, analysis))
}

/// The number with another first digit.
fn another(number: &Value) -> Value {
    let text = number.to_string();
    serde_json::from_str(&with_digit(&text, text.find(|c: char| c.is_ascii_digit()).unwrap())).unwrap()
}

#[test]
fn a_number_of_the_record_changes_a_figure_or_is_listed() {
    let mindful = Mindful::new();
    record_all_kinds(&mindful);
    let (mut changed, mut turn, mut unseen) = (0, 0, Vec::new());
    let mut shares: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for entry in fs::read_dir(mindful.runs()).unwrap() {
        let events = json_lines(&read(&entry.unwrap().path(), LOG));
        let lines: Vec<String> = events.iter().map(|event| format!("{event}\n")).collect();
        let (run, analysis) = analysed(&lines.concat()).unwrap();
        let mut listed = UnprovenNumbers::of_run(&run, &analysis);
        let mut fields: BTreeMap<String, Vec<(usize, String)>> = BTreeMap::new();
        let share = shares.entry(run.head.engine.clone()).or_default();
        for (at, event) in events.iter().enumerate() {
            let numbers = listed.numbers(event);
            share.1 += numbers.len() as u64;
            for number in numbers.into_iter().filter(|number| number.unproven.is_none()) {
                share.0 += 1;
                fields.entry(number.field).or_default().push((at, number.pointer));
            }
        }
        let derived = Derivation { run: &run, analysis: &analysis };
        let (summary, environment, page) = (derived.summary(), derived.environment(), derived.page());
        for (field, numbers) in fields {
            // A different sample of fields in each run: all would take hours.
            turn += 7;
            let (at, pointer) = &numbers[turn % numbers.len()];
            let mut event = events[*at].clone();
            let number = event.pointer_mut(pointer).unwrap();
            let (was, now) = (number.clone(), another(number));
            *number = now;
            let mut edited = lines.clone();
            edited[*at] = format!("{event}\n");
            changed += 1;
            let Some((other, analysis)) = analysed(&edited.concat()) else { continue };
            let other = Derivation { run: &other, analysis: &analysis };
            let is_seen = other.summary() != summary || other.environment() != environment || other.page() != page;
            if !is_seen {
                let line: String = lines[*at].chars().take(200).collect();
                unseen.push(format!("{field}: {was} of {} in {line}", run.head.id));
            }
        }
    }
    assert!(unseen.is_empty(), "{}", unseen.join("\n"));
    assert!(changed > 300, "{changed} numbers");
    // The rest is mostly outside the measured window, which is a second here.
    let provable = |(engine, (provable, all)): (&String, &(u64, u64))| (engine.clone(), 100 * provable / all);
    let shares: BTreeMap<String, u64> = shares.iter().map(provable).collect();
    assert!(shares.values().all(|percent| *percent > 50), "{shares:?}");
}
