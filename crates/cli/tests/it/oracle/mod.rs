//! The binary against a server that speaks Oracle's protocol, of another maker, with a made-up database behind it.

#[expect(dead_code, reason = "the engine's own tests use all of it")]
#[path = "../../../../../engines/oracle/tests/it/fake/mod.rs"]
mod fake;
mod logins;
mod stops;

use std::process::{Command, Output};
use std::sync::Arc;

use serde_json::Value;

use self::fake::wire::Server;
use self::fake::{Database, PASSWORD};
use crate::house;
use crate::house::metrics::row;
use crate::mindful::{Mindful, Words, assert_has, codes, figure, findings, json, printed, steps, unwrapped, whole};

struct Place {
    mindful: Mindful,
    target: String,
}

impl Place {
    /// `args` on the server, with the password in the environment.
    fn command(&self, args: impl Words) -> Command {
        let mut command = self.mindful.command((args, format!("--target {} --connect-timeout 1m", self.target)));
        command.env("ORACLE_PASSWORD", PASSWORD);
        command
    }

    fn run(&self, args: impl Words) -> Output {
        let output = self.command(&args).output().unwrap();
        let printed = whole(&output);
        assert!(!printed.contains(PASSWORD), "{:?} prints the password", args.words());
        assert!(!printed.contains("panicked"), "{printed}");
        output
    }

    fn succeed(&self, args: impl Words) {
        let output = self.run(args);
        assert!(output.status.success(), "{}", text(&output));
    }

    fn json(&self, args: impl Words) -> Value {
        json(&self.run((args, "--format json")))
    }
}

const SMALL: &str = "--schemas 1 --scale 400";
/// A run of that dataset.
const SHORT: &str = "--schemas 1 --scale 400 --sessions 1 --warmup 0s --duration 1s";

/// A database of that name behind a server, and a place where mindful runs; `None` if this host has no such server.
fn made_up(name: &str, version: u32) -> Option<(Arc<Database>, Server, Place)> {
    let database = Database::create(name);
    let server = Server::start(&database, version)?;
    let target = format!("oracle://bench@127.0.0.1:{}/made_up", server.port);
    Some((database, server, Place { mindful: Mindful::new(), target }))
}

fn text(output: &Output) -> String {
    unwrapped(&whole(output))
}

#[test]
fn load_run_doctor_and_cleanup_go_through_the_real_driver() {
    let Some((database, _server, place)) = made_up("binary", 24) else { return };
    place.succeed(("load", SMALL));
    let run = place.json(("run --update-pct 20 --duration 2s --warmup 0s --sessions 1", SMALL));
    assert_has(run["notice"].as_str().unwrap(), "without its consent");
    assert!(selects(&run["steps"][0]) > 100.0, "{run:#}");
    for form in ["csv", "markdown", "html"] {
        let exported = place.mindful.text(format!("export latest --as {form}"));
        assert_has(unwrapped(&exported), "Your agreement with Oracle");
    }
    metrics_are_on_the_page(&place.mindful);
    assert_has(text(&place.run(("doctor --sessions 1", SMALL))), "PASS one row a block…mindful-doctor-");
    place.succeed("cleanup --yes");
    assert!(database.state().tables.is_empty());
    place.mindful.shows("engines oracle --grants", "GRANT CREATE SESSION, CREATE TABLE…experimental");
}

#[test]
fn older_releases_are_loaded_run_proven_and_cleaned_too() {
    for version in [8, 12, 16] {
        let Some((database, _server, place)) = made_up(&format!("binary_{version}"), version) else { return };
        place.succeed(("load", SMALL));
        let run = place.json(("run", SHORT));
        assert!(selects(&run["steps"][0]) > 50.0, "{version}: {run:#}");
        assert_has(text(&place.run(("doctor", SMALL))), "PASS one row a block");
        place.succeed("cleanup --yes");
        assert!(database.state().tables.is_empty(), "{version}");
    }
}

#[test]
fn a_link_or_pipe_in_place_of_the_doctors_file_is_refused() {
    let Some((_database, _server, place)) = made_up("planted", 24) else { return };
    let theirs = place.mindful.path("theirs");
    std::fs::write(&theirs, "theirs").unwrap();
    // Its name contains the second in which it is made.
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    for second in now..now + 600 {
        let planted = place.mindful.path(format!("mindful-doctor-{second}.txt"));
        if second % 2 == 0 {
            std::os::unix::fs::symlink(&theirs, planted).unwrap();
        } else {
            rustix::fs::mkfifoat(rustix::fs::CWD, &planted, 0o666.into()).unwrap();
        }
    }
    let doctor = place.run(("doctor --sessions 1", SMALL));
    assert_has(text(&doctor), "cannot write mindful-doctor-");
    assert_eq!((doctor.status.code(), std::fs::read(&theirs).unwrap()), (Some(1), b"theirs".to_vec()));
}

/// The severity of finding `code` of the last run.
fn found(run: &Value, code: &str) -> Option<String> {
    findings(run, code).first().map(|finding| finding["severity"].to_string())
}

/// The number of reads in a step.
fn selects(step: &Value) -> f64 {
    step["ops"]["select"]["count"].as_f64().unwrap_or(0.0)
}

#[test]
fn runs_use_the_doctors_findings_on_their_database() {
    let Some((database, _server, place)) = made_up("proven", 24) else { return };
    let run = || place.run(("run --format json", SHORT));
    let unproven = json(&run());
    assert_eq!(found(&unproven, "self-proof-missing").as_deref(), Some("\"warning\""), "{unproven:#}");
    assert_ne!(unproven["validity"], "valid");
    database.fail("clock_cost", 904, u32::MAX);
    let doctor = place.run(("doctor --sessions 1", SMALL));
    assert!(doctor.status.code() == Some(1) && text(&doctor).contains("FAIL cost of SYSTIMESTAMP"));
    let refuted = run();
    assert_eq!(refuted.status.code(), Some(1), "{}", text(&refuted));
    let refuted = json(&refuted);
    assert_eq!(found(&refuted, "self-proof-failed").as_deref(), Some("\"error\""), "{refuted:#}");
    assert_eq!((found(&refuted, "self-proof-missing"), &refuted["validity"]), (None, &"invalid".into()));
    // Another store has no proof, nor has another account on the same server.
    let kept = std::fs::read_dir(place.mindful.path("self-proofs")).unwrap();
    let kept: Vec<_> = kept.map(|entry| entry.unwrap().path()).collect();
    let stored = std::fs::read_to_string(&kept[0]).unwrap();
    assert!(kept.len() == 1 && !stored.contains("4711") && !stored.contains("BENCH"), "{stored}");
    // The text when each claim holds, without timing, which depends on this machine.
    std::fs::write(&kept[0], stored.replace("\"fail\"", "\"pass\"")).unwrap();
    let proven = json(&run());
    assert_eq!((found(&proven, "self-proof-failed"), found(&proven, "self-proof-missing")), (None, None));
    std::fs::write(&kept[0], "torn").unwrap();
    let unread = run();
    assert!(unread.status.code() == Some(2) && text(&unread).contains("run `mindful doctor` again"), "{unread:?}");
}

/// Each metric of the last run has its row in docs/metrics.md.
fn metrics_are_on_the_page(mindful: &Mindful) {
    let (page, events) = (house::text("docs/metrics.md"), mindful.events());
    // The differences of V$EVENT_HISTOGRAM_MICRO, second by second: the heat map.
    let is_heat = |event: &Value| event["event"] == "latencies" && event["source"] == "wait_histogram";
    assert!(events.iter().any(is_heat), "no second of the histogram: {events:#?}");
    let sources: Vec<_> = events.iter().filter(|event| event["event"] == "source").collect();
    assert!(sources.len() > 8, "{sources:#?}");
    for source in sources {
        for metric in source["metrics"].as_array().unwrap() {
            let row = row(source["source"].as_str().unwrap(), metric);
            assert!(page.lines().any(|line| line == row), "docs/metrics.md lacks:\n{row}");
        }
    }
}

#[test]
fn other_verbs_work_as_for_any_engine() {
    let Some((_database, _server, place)) = made_up("verbs", 24) else { return };
    let work = "--warmup 0s --duration 1s --work-unit 4";
    place.succeed(("load", SMALL));
    let sweep = place.json(("sweep --sessions 1,2", SMALL, work));
    assert!(steps(&sweep).len() >= 2 && steps(&sweep).iter().all(|step| selects(step) > 50.0), "{sweep:#}");
    // Lines may break anywhere.
    assert_has(unwrapped(&place.mindful.text("show --full")), "Your agreement with Oracle");
    assert_has(unwrapped(&place.mindful.text("export --as html")), "</html>…Your agreement with Oracle");
    for tag in ["one", "other"] {
        place.run((format!("run --sessions 1 --tag {tag}"), SMALL, work));
    }
    // A machine that is busy with other tests may have cut a window short: that does not matter here.
    let compared = place.mindful.json("compare one other --force");
    assert!(figure(&compared, "ratio") > 0.0, "{compared:#}");
    let watched = place.run("watch --duration 2s --format json --only v$sysstat");
    let first = printed(&watched).lines().next().unwrap_or_default().to_owned();
    assert!(watched.status.success() && first.contains("instance_physical_reads"), "{watched:?}");
}

#[test]
fn a_contrast_measures_visible_levels_and_names_the_others() {
    let Some((database, _server, place)) = made_up("contrast", 24) else { return };
    let contrast = || place.json(("contrast --sessions 1 --repeat 1 --duration 2s --warmup 200ms", SMALL));
    let of = |ran: &Value| -> Vec<String> {
        let levels = ran["contrast"]["all_cores"].as_array().unwrap_or_else(|| panic!("{ran:#}"));
        levels.iter().map(|level| level["rung"].as_str().unwrap().to_owned()).collect()
    };
    let left_out =
        |ran: &Value, why: &str| codes(ran).contains(&"level-left-out") && ran["findings"].to_string().contains(why);
    let no_file = "no data file of the target can be read";
    // In ASM, or on another host: the database alone.
    database.state().files = vec!["+DATA/FREE/users.dbf".to_owned()];
    let alone = contrast();
    assert_eq!(of(&alone), ["database, physical"]);
    assert!(alone["contrast"]["eta"].is_null() && left_out(&alone, no_file), "{alone:#}");
    assert!(figure(&alone["contrast"]["all_cores"][0], "iops") > 0.0, "{alone:#}");
    assert_has(unwrapped(&place.mindful.text("show")), "the database's side of a contrast…level-left-out");
    let file = place.mindful.path("users01.dbf");
    std::fs::write(&file, (0..16 << 20).map(|at: u32| at.to_le_bytes()[1]).collect::<Vec<u8>>()).unwrap();
    database.state().files = vec![file.to_str().unwrap().to_owned()];
    let both = contrast();
    assert_eq!(of(&both).len(), 5, "{both:#}");
    assert!(figure(&both["contrast"], "eta") > 0.0 && !left_out(&both, no_file), "{both:#}");
    assert!(left_out(&both, "the server was running before") && both["contrast"]["pinned"].is_null());
}

#[test]
fn a_remote_servers_own_cpu_figures_can_be_the_limit() {
    let database = Database::create("elsewhere");
    let Some(server) = Server::start(&database, 24) else { return };
    // An address of this host that mindful does not recognise as such.
    let target = format!("oracle://bench@0.0.0.0:{}/made_up", server.port);
    let place = Place { mindful: Mindful::new(), target };
    let run = || place.json(("run --sessions 1 --warmup 0s --duration 2s", SMALL));
    let has = |run: &Value, part: &str| {
        findings(run, "not-seen").iter().any(|finding| finding["text"].as_str().unwrap().contains(part))
    };
    database.state().busy_cpus = 1.98;
    let full = run();
    // If this machine is busy with other tests, a finding about the client precedes that.
    let limit = full["steps"][0]["limited_by"].as_str().unwrap();
    assert!(limit == "CPU" || limit == "the client" && found(&full, "little").is_some(), "{full:#}");
    assert!(found(&full, "host-saturated").is_some(), "{full:#}");
    assert!(figure(&full["steps"][0]["cpu"], "host_busy_share") > 0.95, "{full:#}");
    assert!(has(&full, "reported by v$osstat") && has(&full, "Its processes and its device are unknown"), "{full:#}");
    database.state().busy_cpus = 0.2;
    let idle = run();
    assert!(figure(&idle["steps"][0]["cpu"], "host_busy_share") < 0.2, "{idle:#}");
    assert!(found(&idle, "host-saturated").is_none(), "{idle:#}");
    database.fail("host", 942, u32::MAX);
    let blind = run();
    assert!(has(&blind, "Its CPU, its processes"), "{blind:#}");
    assert!(blind["steps"][0]["cpu"]["host_busy_share"].is_null(), "{blind:#}");
}
