//! Results of other tools, recognised by content, next to our own runs.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::made::{Dress, Made, showcase};
use crate::mindful::{Mindful, assert_has, message, refused, steps, text};

fn stored(mindful: &Mindful, imported: &str) -> Value {
    let id = imported.split_whitespace().nth(1).unwrap().trim_end_matches(':');
    mindful.json(format!("show {id}"))
}

/// A folder `awr` of reports, each twice the sessions of the one before, up to a cap of 64,000 reads a second.
fn ladder() -> (Mindful, PathBuf) {
    let mindful = Mindful::new();
    let folder = mindful.path("awr");
    fs::create_dir(&folder).unwrap();
    for sessions in [1_u64, 2, 4, 8, 16, 32, 64] {
        let us = 250.0_f64.max(sessions as f64 * 1e6 / 64_000.0);
        let reads = sessions as f64 * 1e6 / us;
        let waits = (reads * 600.0) as u64;
        let made = Made {
            minutes: 10.0,
            db_time: sessions as f64,
            db_cpu: 0.02 * sessions as f64,
            executes: reads / 64.0,
            logical: reads * 1.1,
            blocks_read: reads,
            read_requests: reads,
            foreground: vec![("db file sequential read", waits, sessions * 600)],
            ..showcase()
        };
        fs::write(folder.join(format!("awr.txt.{sessions}")), made.report(Dress::Awr12)).unwrap();
    }
    (mindful, folder)
}

#[test]
fn a_redo_bound_showcase_is_recognised() {
    let mindful = Mindful::new();
    let file = mindful.path("awr.txt.128");
    for dress in [Dress::Awr11, Dress::Html] {
        fs::write(&file, showcase().report(dress)).unwrap();
        let imported = mindful.text("import awr.txt.128 --tag showcase");
        let run = stored(&mindful, &imported);
        let step = &run["steps"][0];
        assert_eq!((step["sessions"].as_u64(), step["work_unit"].as_u64()), (Some(128), None), "{run:#}");
        assert_eq!(step["read_requests_per_s"].as_f64().map(f64::round), Some(71_553.0));
        assert_eq!(step["ops"]["select"], Value::Null);
        let latency = step["read_latency_mean_us"].as_f64().unwrap();
        assert!((latency - 759.0).abs() < 0.1, "{latency}");
        assert_eq!(run["tag"], "showcase");
        let waits = &step["waits"];
        assert!(waits["reads"].as_u64().is_some_and(|reads| reads.abs_diff(21_643_000) < 10), "{waits:#}");
        assert_eq!(waits["log_writes"], Value::Null, "no section counts them");
        let late = dress == Dress::Html;
        for (name, us) in [("read_p50_us", if late { 756.0 } else { 500.0 }), ("read_p99_us", 3_000.0)] {
            let measured = waits[name].as_f64().unwrap();
            assert!((measured / us - 1.0).abs() < 0.01, "{name}: {measured} for {us}");
        }
    }
    mindful.shows("show showcase --heat-map", "waits for a block");
    let parts = "limited by redo or commit…waits for the redo were…127 average active sessions";
    mindful.shows("show showcase --full", parts);
}

#[test]
fn a_folder_of_reports_is_a_ladder_with_its_knee() {
    let (mindful, folder) = ladder();
    fs::write(folder.join("notes.md"), "nothing of the kind").unwrap();
    let imported = mindful.text("import awr");
    assert_has(&imported, "not imported: …notes.md…7 files");
    let run = stored(&mindful, &imported);
    assert_eq!(steps(&run).len(), 7);
    let knee = &run["knee"];
    assert_eq!(knee["model"], "capped", "{knee:#}");
    let at = knee["asymptote_sessions"].as_f64().unwrap();
    assert!((14.0..18.0).contains(&at), "{at}");
    mindful.shows("show", "LIO/s…64,000");
}

#[test]
fn reports_without_sessions_are_a_table_without_a_curve() {
    let (mindful, folder) = ladder();
    for (sessions, name) in [(1, "c.txt"), (2, "a.txt"), (4, "b.txt"), (8, "d.txt")] {
        fs::rename(folder.join(format!("awr.txt.{sessions}")), mindful.path(name)).unwrap();
    }
    let files = "c.txt a.txt b.txt d.txt";
    let imported = mindful.text(("import", files));
    assert!(imported.contains("4 files") && imported.lines().count() == 1, "{imported}");
    let run = stored(&mindful, &imported);
    assert_eq!((steps(&run).len(), &run["knee"]), (4, &Value::Null));
    assert!(steps(&run).iter().all(|step| step["sessions"].is_null()), "{run:#}");
    let asks = |finding: &Value| finding["text"].as_str().is_some_and(|text| text.contains("--sessions 1,2,4"));
    assert!(run["findings"].as_array().unwrap().iter().any(asks), "{run:#}");
    mindful.shows("show", files.replace(' ', "…"));
    let imported = mindful.text(("import --sessions 1,2,4,8", files));
    let run = stored(&mindful, &imported);
    let sessions: Vec<_> = steps(&run).iter().map(|step| step["sessions"].as_u64()).collect();
    assert_eq!(sessions, [Some(1), Some(2), Some(4), Some(8)]);
    for (given, said) in [
        ("1,2", "2 numbers for 4 files"),
        ("1", "1 number for 4 files"),
        ("1,2,4,x", "--sessions: `x`"),
        ("0,1,2,3", "`0`"),
    ] {
        mindful.refuses((format!("import --sessions {given}"), files), said);
    }
}

#[test]
fn reports_are_shown_in_the_order_of_their_times() {
    let mindful = Mindful::new();
    // Their names have another order than their times.
    let taken = [("db_2.txt", "09:30"), ("db_4.txt", "10:30"), ("db_3.txt", "11:30")];
    for (name, time) in taken {
        let report = showcase().report(Dress::Awr12).replace("23-May-16 10:0", &format!("23-May-16 {}", &time[..4]));
        fs::write(mindful.folder().join(name), report).unwrap();
    }
    mindful.text("import db_2.txt db_3.txt db_4.txt");
    let shown = mindful.text("show");
    let places: Vec<_> = taken.iter().map(|(name, _)| shown.find(&format!("report {name}"))).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?} in {shown}");
}

#[test]
fn reports_that_the_store_has_are_named() {
    let (mindful, _) = ladder();
    let first = mindful.text("import awr/awr.txt.1 awr/awr.txt.2");
    let id = first.split_whitespace().nth(1).unwrap().trim_end_matches(':');
    let again = mindful.text("import awr/awr.txt.1 awr/awr.txt.2");
    assert!(again.starts_with(&format!("run {id}: AWR report, 2 files, already there")), "{again}");
    let more = mindful.text("import awr");
    assert!(!more.contains(&format!("run {id}: ")) && more.contains("7 files"), "{more}");
    for name in ["awr.txt.1", "awr.txt.2"] {
        assert!(more.contains(&format!("already there: awr/{name}, in run {id}")), "{more}");
    }
    assert_eq!(more.matches("already there").count(), 2, "{more}");
    let tagged = mindful.text("import awr/awr.txt.1 awr/awr.txt.2 --tag new");
    assert!(!tagged.starts_with(&format!("run {id}:")), "under another tag it is another run: {tagged}");
}

#[test]
fn a_pattern_names_the_reports_that_it_fits() {
    let (mindful, _) = ladder();
    mindful.shows("import awr/awr.txt.*[248]", "5 files");
    mindful.refuses("import awr/*.html", "no files in");
}

#[test]
fn old_and_new_results_are_compared() {
    let mindful = Mindful::new();
    fs::write(mindful.path("awr.txt.128"), showcase().report(Dress::Awr19)).unwrap();
    mindful.text("import awr.txt.128 --tag old");
    mindful.measured("--duration 2s --tag new");
    let compared = mindful.json("compare old new --figure logical-reads --force");
    assert!(compared["ratio"].as_f64().is_some_and(|ratio| ratio > 0.0), "{compared:#}");
    let facts: Vec<&str> =
        compared["differing_facts"].as_array().unwrap().iter().map(|fact| fact["fact"].as_str().unwrap()).collect();
    assert!(facts.contains(&"engine") && facts.contains(&"figures"), "{facts:?}");
}

#[test]
fn awr_prints_a_row_a_file_in_each_form() {
    let mindful = Mindful::new();
    fs::write(mindful.path("awr.txt.128"), showcase().report(Dress::Awr11)).unwrap();
    fs::write(mindful.path("sp.txt"), showcase().report(Dress::Statspack)).unwrap();
    fs::write(mindful.path("failed.txt"), "ORA-00904: invalid identifier\n").unwrap();
    let all = "awr awr.txt.128 failed.txt sp.txt";
    let output = mindful.run(all);
    assert_has(message(&output), "ORA-00904");
    let table = text(&output);
    assert_eq!(table.lines().count(), 3, "{table}");
    assert!(table.contains("log buffer space") || table.contains("db file sequential read 42.6 %"), "{table}");
    let form = |form: &str| mindful.text(format!("{all} --format {form}"));
    assert_has(form("awr_info"), "awr.txt.128|128|304|5.7|126.5|370|119749|71553|559.1|");
    assert_eq!(form("flashdba").lines().next().unwrap().split(',').count(), 178);
    let csv = form("csv");
    let widths: Vec<_> = csv.lines().map(|line| line.split(',').count()).collect();
    assert!(widths.len() == 3 && widths[0] == widths[1] && widths[0] == widths[2], "{csv}");
    let json: Value = serde_json::from_str(&form("json")).unwrap();
    assert_eq!((&json[0]["sessions"], &json[1]["sessions"]), (&Value::from(128), &Value::Null));
    mindful.refuses("awr failed.txt", "ORA-00904");
}

#[test]
fn a_trace_is_grouped_by_its_fields() {
    let mindful = Mindful::new();
    let wait = |file: u32, ela: u32| {
        let tim = 2_000_000 + ela;
        format!("WAIT #1: nam='db file sequential read' ela= {ela} file#={file} block#=9 blocks=1 obj#=8 tim={tim}\n")
    };
    let text: String = (0..95).map(|_| wait(7, 100)).chain((0..5).map(|_| wait(8, 50_000))).collect();
    fs::write(mindful.path("t.trc"), text).unwrap();
    let traced = mindful.json(["trace", "t.trc", "--group-by", "file,event"]);
    let slow = &traced[0]["groups"][0];
    assert_eq!((&slow["waits"], &slow["time_us"]), (&5.into(), &250_000.into()), "{slow:#}");
    assert_eq!(slow["key"], "8 | db file sequential read");
    let p50 = ["counted_us", "time_weighted_us"].map(|counted| &traced[0]["all"][counted]["p50"]);
    assert_eq!(p50, [100, 50_000]);
    mindful.shows("trace t.trc --where 'file=7 and ela<=100'", "95 of 100 waits");
    mindful.refuses("trace t.trc --where fiel=7", "did you mean `file`");
    mindful.text("import t.trc --tag traced");
    mindful.shows("show traced --heat-map", "share…95 %");
}

#[test]
fn gigabytes_of_zeros_through_a_pipe_take_no_memory() {
    let mindful = Mindful::new();
    fs::write(mindful.path("awr.txt"), showcase().report(Dress::Awr12)).unwrap();
    let wait = "WAIT #1: nam='db file sequential read' ela= 5 p1=1 p2=2 p3=1 obj#=1 tim=";
    fs::write(mindful.path("t.trc"), format!("{wait}2000001\n{wait}3000001\n")).unwrap();
    // After a file, or alone; with memory of less than a third of it.
    let piped = |begin: &str, verb: &str| {
        let mut command = std::process::Command::new("sh");
        let script =
            format!("(cat {begin} /dev/null; head -c 3G /dev/zero) | (ulimit -v 1000000; exec \"$0\" {verb} -)");
        command.args(["-c", &script]).arg(mindful.command("").get_program()).current_dir(mindful.folder());
        command.env("MINDFUL_STORE", mindful.runs()).output().unwrap()
    };
    for verb in ["import", "awr", "trace"] {
        assert_has(refused(&piped("", verb)), "contains zeros");
    }
    for verb in ["import", "awr"] {
        let output = piped("awr.txt", verb);
        assert!(!output.status.success(), "{verb}: {output:?}");
        assert_has(message(&output), "contains only zeros from byte");
    }
    assert_has(text(&piped("t.trc", "import")), "10046 trace");
}
