//! The binary against a server that speaks Oracle's protocol, of another maker, with a made-up database behind it.

#[expect(dead_code, reason = "the engine's own tests use all of it")]
#[path = "../../../../../engines/oracle/tests/it/fake/mod.rs"]
mod fake;
mod logins;
mod stops;

use std::process::Output;
use std::sync::Arc;

use serde_json::Value;

use self::fake::wire::Server;
use self::fake::{Database, PASSWORD};
use crate::house::metrics::row;
use crate::house::root;
use crate::mindful::{Mindful, codes, json};

struct Place {
    mindful: Mindful,
    target: String,
}

impl Place {
    /// Runs `verb` with `args` on the server; the password is in the environment.
    fn run(&self, verb: &str, args: &[&str]) -> Output {
        let all = [&[verb, "--target", &self.target, "--connect-timeout", "1m"], args].concat();
        let output = self.mindful.command(&all).env("ORACLE_PASSWORD", PASSWORD).output().unwrap();
        let printed = String::from_utf8_lossy(&[&*output.stdout, &*output.stderr].concat()).into_owned();
        assert!(!printed.contains(PASSWORD), "{verb} prints the password");
        assert!(!printed.contains("panicked"), "{printed}");
        output
    }

    fn json(&self, verb: &str, args: &[&str]) -> Value {
        json(&self.run(verb, &[args, &["--format", "json"]].concat()))
    }
}

/// A database of that name behind a server, and a place where mindful runs; `None` if this host has no such server.
fn made_up(name: &str, version: u32) -> Option<(Arc<Database>, Server, Place)> {
    let database = Database::create(name);
    let server = Server::start(&database, version)?;
    let target = format!("oracle://bench@127.0.0.1:{}/made_up", server.port);
    Some((database, server, Place { mindful: Mindful::new(), target }))
}

fn text(output: &Output) -> String {
    let words = String::from_utf8_lossy(&[&*output.stdout, &*output.stderr].concat()).into_owned();
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn load_run_doctor_and_cleanup_go_through_the_real_driver() {
    let Some((database, _server, place)) = made_up("binary", 24) else { return };
    let small = ["--schemas", "1", "--scale", "400", "--sessions", "1"];
    let loaded = place.run("load", &small[..4]);
    assert!(loaded.status.success(), "{}", text(&loaded));
    let short = [&small[..], &["--warmup", "0s", "--duration", "2s", "--update-pct", "20"]].concat();
    let run = place.json("run", &[&short[..]].concat());
    assert!(run["notice"].as_str().unwrap().contains("without its consent"), "{run:#}");
    assert!(run["steps"][0]["ops"]["select"]["count"].as_f64().unwrap() > 100.0, "{run:#}");
    for form in ["csv", "markdown", "html"] {
        let id = run["id"].as_str().unwrap();
        let exported = text(&place.mindful.run(["export", id, "--as", form, "--output", "-"]));
        assert!(exported.contains("Your agreement with Oracle"), "{form}: {exported}");
    }
    metrics_are_on_the_page(&place.mindful);
    let doctor = text(&place.run("doctor", &small));
    assert!(doctor.contains("PASS one row a block") && doctor.contains("mindful-doctor-"), "{doctor}");
    let cleaned = place.run("cleanup", &["--yes"]);
    assert!(cleaned.status.success() && database.state().tables.is_empty(), "{}", text(&cleaned));
    let grants = text(&place.mindful.run(["engines", "oracle", "--grants"]));
    assert!(grants.contains("GRANT CREATE SESSION, CREATE TABLE") && grants.contains("experimental"), "{grants}");
}

#[test]
fn older_releases_are_loaded_run_proven_and_cleaned_too() {
    for version in [8, 12, 16] {
        let Some((database, _server, place)) = made_up(&format!("binary_{version}"), version) else { return };
        let small = ["--schemas", "1", "--scale", "400"];
        assert!(place.run("load", &small).status.success(), "{version}");
        let short = ["--sessions", "1", "--warmup", "0s", "--duration", "1s", "--format", "json"];
        let run = json(&place.run("run", &[&small[..], &short].concat()));
        assert!(run["steps"][0]["ops"]["select"]["count"].as_f64().unwrap() > 50.0, "{version}: {run:#}");
        let doctor = text(&place.run("doctor", &small));
        assert!(doctor.contains("PASS one row a block"), "{version}: {doctor}");
        let cleaned = place.run("cleanup", &["--yes"]);
        assert!(cleaned.status.success() && database.state().tables.is_empty(), "{version}: {}", text(&cleaned));
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
    let doctor = place.run("doctor", &["--schemas", "1", "--scale", "400", "--sessions", "1"]);
    assert!(text(&doctor).contains("cannot write mindful-doctor-"), "{}", text(&doctor));
    assert_eq!((doctor.status.code(), std::fs::read(&theirs).unwrap()), (Some(1), b"theirs".to_vec()));
}

/// The severity of finding `code` of the last run.
fn found(run: &Value, code: &str) -> Option<String> {
    let findings = run["findings"].as_array().unwrap();
    findings.iter().find(|finding| finding["code"] == code).map(|finding| finding["severity"].to_string())
}

#[test]
fn runs_use_the_doctors_findings_on_their_database() {
    let Some((database, _server, place)) = made_up("proven", 24) else { return };
    let work = ["--schemas", "1", "--scale", "400", "--sessions", "1", "--warmup", "0s", "--duration", "1s"];
    let run = || place.run("run", &[&work[..], &["--format", "json"]].concat());
    let unproven = json(&run());
    assert_eq!(found(&unproven, "self-proof-missing").as_deref(), Some("\"warning\""), "{unproven:#}");
    assert_ne!(unproven["validity"], "valid");
    database.fail("clock_cost", 904, u32::MAX);
    let doctor = place.run("doctor", &work[..6]);
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
    let page = std::fs::read_to_string(root().join("docs/metrics.md")).unwrap();
    let exported = mindful.run(["export", "latest", "--as", "jsonl"]);
    let (mut sources, exported) = (0, String::from_utf8(exported.stdout).unwrap());
    // The differences of V$EVENT_HISTOGRAM_MICRO, second by second: the heat map.
    let heat = exported.lines().filter(|line| line.contains("\"wait_histogram\"") && line.contains("\"latencies\""));
    assert!(heat.count() >= 1, "no second of the histogram: {exported}");
    for line in exported.lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        if event["event"] == "source" {
            sources += 1;
            for metric in event["metrics"].as_array().unwrap() {
                let row = row(event["source"].as_str().unwrap(), metric);
                assert!(page.lines().any(|line| line == row), "docs/metrics.md lacks:\n{row}");
            }
        }
    }
    assert!(sources > 8, "{sources} sources");
}

#[test]
fn other_verbs_work_as_for_any_engine() {
    let Some((_database, _server, place)) = made_up("verbs", 24) else { return };
    let work = ["--schemas", "1", "--scale", "400", "--warmup", "0s", "--duration", "1s", "--work-unit", "4"];
    let loaded = place.run("load", &work[..4]);
    assert!(loaded.status.success(), "{}", text(&loaded));
    let sweep = place.json("sweep", &[&work[..], &["--sessions", "1,2"]].concat());
    let steps = sweep["steps"].as_array().unwrap();
    let done = |step: &Value| step["ops"]["select"]["count"].as_f64().unwrap_or(0.0) > 50.0;
    assert!(steps.len() >= 2 && steps.iter().all(done), "{sweep:#}");
    let shown = text(&place.mindful.run(["show", "latest", "--full"]));
    assert!(shown.contains("Your agreement with Oracle"), "{shown}");
    let page = text(&place.mindful.run(["export", "latest", "--as", "html", "--output", "-"]));
    assert!(page.contains("</html>") && page.contains("Your agreement with Oracle"));
    let one = place.json("run", &[&work[..], &["--sessions", "1"]].concat());
    let other = place.json("run", &[&work[..], &["--sessions", "1"]].concat());
    let ids = [&one, &other].map(|run| run["id"].as_str().unwrap().to_owned());
    // A machine that is busy with other tests may have cut a window short: that does not matter here.
    let sides = ["compare", &ids[0], &ids[1], "--format", "json", "--force"];
    let compared = json(&place.mindful.run(sides));
    assert!(compared["ratio"].as_f64().unwrap() > 0.0, "{compared:#}");
    let watched = place.run("watch", &["--duration", "2s", "--format", "json", "--only", "v$sysstat"]);
    let first = String::from_utf8_lossy(&watched.stdout).lines().next().unwrap_or_default().to_owned();
    assert!(watched.status.success() && first.contains("instance_physical_reads"), "{watched:?}");
}

#[test]
fn a_contrast_measures_visible_levels_and_names_the_others() {
    let Some((database, _server, place)) = made_up("contrast", 24) else { return };
    let turns = ["--schemas", "1", "--scale", "400", "--sessions", "1", "--repeat", "1", "--duration", "2s"];
    let contrast = || place.json("contrast", &[&turns[..], &["--warmup", "200ms"]].concat());
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
    assert!(alone["contrast"]["all_cores"][0]["iops"].as_f64().unwrap() > 0.0, "{alone:#}");
    let shown = text(&place.mindful.run(["show", "latest"]));
    assert!(shown.contains("the database's side of a contrast") && shown.contains("level-left-out"), "{shown}");
    let file = place.mindful.path("users01.dbf");
    std::fs::write(&file, (0..16 << 20).map(|at: u32| at.to_le_bytes()[1]).collect::<Vec<u8>>()).unwrap();
    database.state().files = vec![file.to_str().unwrap().to_owned()];
    let both = contrast();
    assert_eq!(of(&both).len(), 5, "{both:#}");
    assert!(both["contrast"]["eta"].as_f64().unwrap() > 0.0 && !left_out(&both, no_file), "{both:#}");
    assert!(left_out(&both, "the server was running before") && both["contrast"]["pinned"].is_null());
}

#[test]
fn a_remote_servers_own_cpu_figures_can_be_the_limit() {
    let database = Database::create("elsewhere");
    let Some(server) = Server::start(&database, 24) else { return };
    // An address of this host that mindful does not recognise as such.
    let target = format!("oracle://bench@0.0.0.0:{}/made_up", server.port);
    let place = Place { mindful: Mindful::new(), target };
    let work = ["--schemas", "1", "--scale", "400", "--sessions", "1", "--warmup", "0s", "--duration", "2s"];
    let run = || place.json("run", &[&work[..]].concat());
    database.state().busy_cpus = 1.98;
    let full = run();
    // If this machine is busy with other tests, a finding about the client precedes that.
    let limit = full["steps"][0]["limited_by"].as_str().unwrap();
    assert!(limit == "CPU" || limit == "the client" && found(&full, "little").is_some(), "{full:#}");
    assert!(found(&full, "host-saturated").is_some(), "{full:#}");
    assert!(full["steps"][0]["cpu"]["host_busy_share"].as_f64().unwrap() > 0.95, "{full:#}");
    let findings = full["findings"].as_array().unwrap();
    let mut unseen = findings.iter().filter(|finding| finding["code"] == "not-seen").map(|finding| &finding["text"]);
    let of_host = |text: &Value| text.as_str().is_some_and(|text| text.contains("reported by v$osstat"));
    let unseen = unseen.find(|text| of_host(text)).unwrap_or_else(|| panic!("{full:#}"));
    assert!(unseen.as_str().unwrap().contains("Its processes and its device are unknown"), "{unseen}");
    database.state().busy_cpus = 0.2;
    let idle = run();
    assert!(idle["steps"][0]["cpu"]["host_busy_share"].as_f64().unwrap() < 0.2, "{idle:#}");
    assert!(found(&idle, "host-saturated").is_none(), "{idle:#}");
    database.fail("host", 942, u32::MAX);
    let blind = run();
    let unseen = blind["findings"].as_array().unwrap().iter().filter(|finding| finding["code"] == "not-seen");
    let of_host =
        |finding: &Value| finding["text"].as_str().is_some_and(|text| text.contains("Its CPU, its processes"));
    assert!(unseen.into_iter().any(of_host), "{blind:#}");
    assert!(blind["steps"][0]["cpu"]["host_busy_share"].is_null(), "{blind:#}");
}
