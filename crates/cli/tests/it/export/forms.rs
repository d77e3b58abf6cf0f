//! Runs that leave a store and are imported into another one.

use std::collections::BTreeSet;

use mindful_conformance::{write_files, write_program};

use crate::mindful::{Mindful, assert_has, cell, ended, id, json, message, null, steps};

#[test]
fn a_run_is_exported_as_steps_summary_and_events() {
    let mindful = Mindful::new();
    let ran = mindful.measured("--sessions 2");
    let id = id(&ran);
    let csv = mindful.text(format!("export {id}"));
    assert_eq!(csv.lines().count(), 2, "a head and a step: {csv}");
    assert_eq!(cell(&csv, 1, "sessions"), "2");
    assert_eq!(json(&mindful.run(format!("export {id} --as json"))), ran);
    let written = mindful.succeed(format!("export {id} --as jsonl --output events.jsonl"));
    assert!(written.stdout.is_empty(), "{written:?}");
    assert_eq!(std::fs::read_to_string(mindful.path("events.jsonl")).unwrap(), mindful.record(&ran));
    // `-` is standard output and no file.
    assert_eq!(mindful.text(format!("export {id} --output -")), csv);
    assert_eq!(mindful.text(format!("export {id} --as jsonl --output -")), mindful.record(&ran));
    assert!(!mindful.path("-").exists());
    // A file is not replaced unasked.
    mindful.refusal(format!("export {id} --output events.jsonl"));
}

#[test]
fn a_run_folder_from_elsewhere_is_taken_in_and_shown_the_same() {
    let (here, there) = (Mindful::new(), Mindful::new());
    let ran = here.measured("--sessions 2");
    let folder = here.run_folder(&ran);
    there.succeed(["import", folder.to_str().unwrap()]);
    assert_eq!(there.json("show"), ran);
    there.refusal(["import", folder.to_str().unwrap()]);
}

#[test]
fn latency_over_time_is_shown_where_asked_and_nowhere_else() {
    let mindful = Mindful::new();
    let ran = mindful.measured("--duration 2s --sessions 2 --null-latency 1ms");
    let printed = |args: &str| mindful.text((args, id(&ran)));
    let page = printed("export --as html");
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"), "{page}");
    assert_eq!(page.matches("data-chart=\"heat\"").count(), 2, "two heat maps of selects alone: {page}");
    let report = printed("show --full");
    assert!(report.contains("what was measured") && page.contains("what was measured"), "{page}");
    let map = printed("show --heat-map");
    assert!(map.contains("select: latency") && map.contains('█') && !report.contains('█'), "{map}");
}

#[test]
fn a_sweep_is_exported_as_page_picture_and_markdown() {
    let mindful = Mindful::new();
    mindful.shows(null("sweep", "--sessions 1,2"), " --as svg --output curve.svg");
    let text = |args: &str| mindful.text(("export latest", args));
    let (page, picture) = (text("--as html"), text("--as svg"));
    assert_has(&page, "data-chart=\"latency-iops\"…data-chart=\"sessions\"");
    assert!(picture.starts_with("<svg xmlns="), "{picture}");
    assert_has(&picture, "Latency against throughput…block size: 8192 B…work unit: 64 blocks");
    mindful.shows("export latest --as svg --chart sessions", "Throughput by load");
    mindful.refusal("export latest --as svg --chart rungs");
    for (form, part) in [
        ("markdown", "| engine | null"),
        ("bencher", "\"blocks-per-second\""),
        ("github-bigger", "\"unit\": \"blocks/s\""),
        ("github-smaller", "\"unit\": \"us\""),
    ] {
        mindful.shows(format!("export latest --as {form}"), part);
    }
    assert!(text("--as openmetrics").ends_with("# EOF\n"));
    for tag in ["one", "two"] {
        mindful.run(null("sweep", format!("--sessions 1,2 --tag {tag}")));
    }
    mindful.shows("export one two --as html", "What is compared…data-chart=\"differences\"");
    mindful.refusal("export one two --as bencher");
}

#[test]
fn rows_of_older_tools_are_read_by_our_own_importer() {
    let mindful = Mindful::new();
    let small = "sweep --target sqlite:old.db --scale 4MiB --warmup 0s --duration 1s -q";
    let ran = mindful.run((small, "--sessions 1,2 --update-pct 20"));
    assert!(ended(&ran), "{ran:?}");
    let summary = json(&mindful.run("export --as json"));
    for (form, whole) in [("awr_info", 1.0_f64), ("flashdba", 0.001)] {
        mindful.succeed(format!("export {} --as {form} --output {form}", id(&summary)));
        let rows = mindful.json(format!("awr {form}"));
        // The two loads, and the first once more.
        assert_eq!(rows.as_array().unwrap().len(), steps(&summary).len(), "{rows:#}");
        let mut most = 0;
        for (row, step) in rows.as_array().unwrap().iter().zip(steps(&summary)) {
            assert_eq!(row["sessions"], step["sessions"], "{form}: {rows:#}");
            let mut compared = 0;
            for (column, figure) in [
                ("elapsed_s", "/duration_s"),
                ("logical_reads_per_s", "/logical_reads_per_s"),
                ("read_requests_per_s", "/read_requests_per_s"),
                ("write_requests_per_s", "/write_requests_per_s"),
                ("db_cpu_cores", "/cpu/db_cores"),
            ] {
                let (row, step) = (row[column].as_f64(), step.pointer(figure).unwrap().as_f64());
                assert_eq!(row.is_some(), step.is_some(), "{form}, {column}: {rows:#}");
                let Some((row, step)) = row.zip(step) else { continue };
                let digits = match column {
                    "db_cpu_cores" => 0.06,
                    "elapsed_s" => whole.max(0.05),
                    _ => whole,
                };
                assert!((row - step).abs() <= digits + 2e-3 * step, "{form}, {column}: {row} for {step}");
                compared += 1;
            }
            most = most.max(compared);
        }
        // A reading that a busy host took too late is in no row.
        assert!(most >= 3, "{form}: {rows:#}");
        mindful.succeed(format!("import {form} --tag {form}"));
        let imported = mindful.json(format!("show {form}"));
        let loads: BTreeSet<_> = steps(&imported).iter().map(|step| step["sessions"].as_u64()).collect();
        assert_eq!(loads, [Some(1), Some(2)].into(), "a ladder again: {imported:#}");
    }
}

#[test]
fn a_page_is_shown_by_the_program_of_the_desktop() {
    let mindful = Mindful::new();
    mindful.measured("--sessions 1");
    let programs = mindful.path("programs");
    std::fs::create_dir(&programs).unwrap();
    write_program(&programs.join("xdg-open"), "#!/bin/sh\ntest \"$1\" = page.html && cp \"$1\" seen.html\n");
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let args = "export --as html --output page.html --open";
    let opened = mindful.command(args).env("PATH", path).output().unwrap();
    assert!(opened.status.success(), "{opened:?}");
    let read = |name| std::fs::read(mindful.path(name)).unwrap();
    assert_eq!(read("seen.html"), read("page.html"));
    let nobody = mindful.command((args, "--yes")).env("PATH", "/nowhere").output().unwrap();
    assert_has(message(&nobody), "open it yourself");
}

#[test]
fn a_comparison_ends_with_the_command_that_makes_its_page() {
    let mindful = Mindful::new();
    for (tag, latency) in [("slow", "400us"), ("slow", "400us"), ("fast", "200us"), ("fast", "200us")] {
        mindful.measured(format!("--sessions 2 --tag {tag} --null-latency {latency}"));
    }
    let report = mindful.text("compare slow fast --force --figure p99");
    let line = report.lines().find_map(|line| line.strip_prefix("as a page: mindful ")).unwrap();
    let page = mindful.text(line.replace("compare.html", "-"));
    let place = |what: &str| page.find(what).unwrap_or_else(|| panic!("no {what}: {page}"));
    assert!(place("What is compared") < place("data-chart=\"differences\""), "{page}");
    assert!(place("us p99") < place("% interval -"), "{page}");
    assert_eq!(page.matches("<article>").count(), 4, "{page}");
    mindful.shows("export slow fast --as html", "<h1>fast against slow…2 runs against 2");
    let drawing = "export slow fast --as svg --chart differences --figure p99";
    mindful.shows(drawing, "<svg xmlns=…fast against slow…class=\"whisker c1\"…class=\"fact\"");
    mindful.refuses("export slow --as svg --chart differences", "is of several sides");
}

#[test]
fn all_runs_are_a_site_of_static_files() {
    let mindful = Mindful::new();
    for tag in ["one", "two"] {
        mindful.measured(format!("--duration 4s --sessions 2 --tag {tag}"));
    }
    write_files(mindful.folder(), &[("runs/20200101-000000-bad/run.jsonl", "no run\n")]);
    mindful.refusal("export --all --as site");
    let site = "export --all --as site --output public/runs";
    mindful.succeed(site);
    let folder = mindful.path("public/runs");
    let index = std::fs::read_to_string(folder.join("index.html")).unwrap();
    assert_eq!(index.matches("class=\"spark\"").count(), 2, "{index}");
    // What cannot be read.
    assert_has(&index, "20200101-000000-bad…is corrupt");
    let linked: Vec<&str> = index.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert_eq!(linked.len(), 2, "{index}");
    for file in linked {
        assert_has(std::fs::read_to_string(folder.join(file)).unwrap(), "href=\"index.html\"…data-chart=");
    }
    // Nothing is replaced unasked.
    mindful.refusal(site);
    mindful.succeed((site, "--yes"));
}

#[test]
fn a_record_larger_than_memory_is_exported() {
    use std::io::Write as _;

    let mindful = Mindful::new();
    let ran = mindful.measured("");
    let note = format!("{{\"event\":\"note\",\"text\":\"{}\"}}\n", "x".repeat(1 << 20));
    let mut record = std::fs::OpenOptions::new().append(true).open(mindful.log(&ran)).unwrap();
    (0..128).for_each(|_| record.write_all(note.as_bytes()).unwrap());
    for redact in ["--yes", "--redact"] {
        let mut shell = std::process::Command::new("sh");
        // In KiB: less memory than the record has bytes.
        shell.args(["-c", "ulimit -v 150000; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_mindful")]);
        shell.args(["export", id(&ran), "--as", "jsonl", "--output", &format!("events{redact}"), redact]);
        let exported = mindful.at_home(shell).output().unwrap();
        assert!(exported.status.success(), "{exported:?}");
        let bytes = std::fs::metadata(mindful.path(format!("events{redact}"))).unwrap().len();
        assert!(bytes >= 128 << 20, "{bytes} bytes");
    }
}
