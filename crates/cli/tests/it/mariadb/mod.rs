//! Whole commands on a private MariaDB.

mod compared;
mod full_disk;
mod logins;
mod ranks;
pub(crate) mod server;
mod stopped;

use mindful_conformance::{place, quick_place};

use crate::mariadb::server::UsersMariaDb;
use crate::mindful::{Mindful, PAUSES, assert_has, codes, figure, findings, message};

#[test]
fn a_run_loads_proves_measures_and_cleans_up() {
    // This test does not depend on figures, except two that must agree even on a busy machine.
    let mindful = Mindful::beside_others(place());
    mindful.refuses("run --target mariadb: --data-dir a:b", "a:b has a `:` in its name");
    let data = mindful.path("a,b c\"d'e;f$g%h#i\\j");
    let on = ("--target mariadb: --data-dir", &data);
    let small = "--schemas 1 --scale 96MiB --sessions 1 --work-unit 8 --warmup 1s --duration 2s";
    let run = mindful.json((("run", on), small, PAUSES));
    assert_eq!((run["engine"].as_str(), run["dataset"]["block_bytes"].as_u64()), (Some("mysql"), Some(16_384)));
    assert!(run["dataset"]["rank_correlation_max"].as_f64().unwrap().abs() < 0.02, "{run}");
    let findings = codes(&run);
    for code in ["layout", "plan-shape", "prefetched", "unasked-reads", "log-band", "counters-denied", "failed"] {
        assert!(!findings.contains(&code), "{code} in {findings:?}");
    }
    // Counts of the server and the kernel agree. On a full host so few operations are done that one at an end of the
    // window is more than a twentieth of them.
    let step = &run["steps"][0];
    let [database, processes] = ["physical_reads_per_s", "process_reads_per_s"].map(|name| step[name].as_f64());
    if let (Some(database), Some(processes)) = (database, processes) {
        let under_way = 2.0 * step["work_unit"].as_f64().unwrap() / step["duration_s"].as_f64().unwrap();
        let apart = (processes - database).abs();
        assert!(database > 0.0 && apart < (0.05 * database).max(under_way), "{database} and {processes}: {step}");
    }

    mindful.succeed(("cleanup --yes", on));
    assert!(!data.exists(), "the server's folder is still there");
}

#[test]
fn tables_of_aria_give_figures_of_operations_alone() {
    let mindful = Mindful::beside_others(quick_place());
    let server = UsersMariaDb::start(&mindful.path("db"), &[]);
    server.sql("SET GLOBAL enforce_storage_engine = Aria");
    let url = server.url();
    let short = format!("run --target {url} --schemas 1 --scale 4MiB --sessions 1 --warmup 1s --duration 2s {PAUSES}");
    // A note is before the refusal.
    let refused = mindful.run(&short);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    assert_has(message(&refused), "makes only tables of Aria…--loop client");

    let run = mindful.json((short, "--loop client"));
    let step = &run["steps"][0];
    assert!(figure(&step["ops"]["select"], "per_s") > 0.0, "{step}");
    for figure in
        ["physical_reads_per_s", "logical_reads_per_s", "hit_ratio", "log_bytes_per_s", "read_latency_mean_us"]
    {
        assert!(step[figure].is_null(), "{figure} is claimed: {}", step[figure]);
    }
    let unproven = findings(&run, "layout-not-proven")[0]["text"].as_str().unwrap();
    assert_has(unproven, "The layout, the pages and the physical reads are unknown");
    assert!(run["dataset"]["rank_correlation_max"].is_null(), "{run}");

    let shown = mindful.text("show --full");
    assert!(shown.contains("rows visited per second") && !shown.contains("storage IOPS"), "{shown}");
}

/// The server counts statements, and mindful's sessions do not work here.
#[test]
fn transactions_that_the_server_does_not_count_are_not_known() {
    let mindful = Mindful::beside_others(quick_place());
    let server = UsersMariaDb::start(&mindful.path("db"), &[]);
    let watched = mindful.text(["watch", "--duration", "3s", "--target", &server.url()]);
    let mut lines = watched.lines().skip_while(|line| !line.trim_start().starts_with("second"));
    let heads = lines.next().unwrap();
    assert!(heads.trim_start().starts_with("second     tx/s      LIO/s"), "{watched}");
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split_whitespace().collect()).collect();
    assert!(!rows.is_empty(), "{watched}");
    for row in rows {
        assert!(row[1] == "-" && row[2] != "-", "{watched}");
    }
}
