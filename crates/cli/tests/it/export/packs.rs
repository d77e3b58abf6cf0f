//! Runs as one file, imported elsewhere and repeated there.

use std::process::Command;

use mindful_conformance::not_run;
use serde_json::{Value, json};

use crate::mindful::{Mindful, json, null};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_run_is_packed_and_made_again_elsewhere() {
    let (here, there) = (Mindful::new(), Mindful::new());
    let ran = here.measured(&["--sessions", "2", "--work-unit", "4", "--hook-end", "touch ended"]);
    let id = ran["id"].as_str().unwrap();
    let packed = here.run(&["pack", id]);
    assert!(packed.status.success() && text(&packed.stdout).contains("mindful import"), "{packed:?}");
    let again = here.run(&["pack", id]);
    assert!(again.status.code() == Some(2) && text(&again.stderr).contains("--yes to replace it"), "{again:?}");
    let pack = here.path(format!("{id}.tar.zst"));
    what_tar_and_zstd_see(&pack, id);
    there.succeed(&["import", pack.to_str().unwrap()]);
    let shown = there.json(&["show"]);
    assert_eq!(shown["steps"], ran["steps"]);
    let refused = there.run(&["run", "--again", id]);
    assert!(text(&refused.stderr).contains("its target is not used"), "{refused:?}");
    let again = there.run(&["run", "--again", id, "--target", "null:", "--format", "json"]);
    let compared = json(&again);
    assert_eq!(compared["runs"]["baseline"][0]["id"], id, "{compared:#}");
    assert_ne!(compared["runs"]["candidate"][0]["id"], id, "{compared:#}");
    assert!(compared["ratio"].as_f64().unwrap() > 0.0, "{compared:#}");
    assert!(text(&again.stderr).contains("ignored settings: hook_end"), "nothing of others is executed: {again:?}");
    assert!(here.path("ended").exists() && !there.path("ended").exists());
    let now = there.json(&["show", "latest"]);
    assert_eq!((&now["steps"][0]["work_unit"], &now["steps"][0]["sessions"]), (&4.into(), &2.into()));
}

/// Common tools can read the pack.
fn what_tar_and_zstd_see(pack: &std::path::Path, id: &str) {
    let listed = Command::new("tar").arg("--zstd").arg("-tf").arg(pack).output();
    let Ok(listed) = listed.map(|listed| (listed.status.success(), text(&listed.stdout))) else {
        return not_run("no tar here");
    };
    if !listed.0 {
        return not_run("tar cannot read zstd here: apt-get install zstd");
    }
    let names = ["run.jsonl", "summary.json", "VERSION", "plan.toml", "environment.json", "page.html"];
    assert_eq!(listed.1.lines().collect::<Vec<_>>(), names.map(|name| format!("{id}/{name}")));
}

#[test]
fn a_sweep_is_made_again_and_the_pack_contains_its_plan() {
    let mindful = Mindful::new();
    let ladder = ["--duration", "200ms", "-q", "--sessions", "1,2", "--null-latency", "2ms"];
    mindful.run(&null("sweep", &ladder));
    let again = mindful.run(&["run", "--again", "latest", "-q"]);
    assert!(text(&again.stdout).contains("verdicts are adjusted for the number of points"), "{again:?}");
    assert_eq!(text(&mindful.run(&["list"]).stdout).matches("null:").count(), 2);
    let flags = mindful.run(&["run", "--again", "latest", "--work-unit", "3"]);
    assert!(text(&flags.stderr).contains("--work-unit cannot change a run that is repeated (--again)"), "{flags:?}");
}

#[test]
fn runs_that_no_plan_can_repeat_are_refused_before_they_run() {
    let mindful = Mindful::new();
    let ran = mindful.measured(&["--sessions", "1"]);
    let (id, folder) = (ran["id"].as_str().unwrap(), mindful.runs());
    let record = folder.join(id).join("run.jsonl");
    let lines = std::fs::read_to_string(&record).unwrap();
    // Such runs differ from others by the points of their steps.
    for (point, why) in [
        (json!({"rung": "io_uring", "pinned": "true"}), "is a contrast: pass its flags to `mindful contrast`"),
        (json!({"small": "4", "large": "0"}), "is a job on files: pass its flags to `mindful raw`"),
    ] {
        let of_step = |line: &str| {
            let mut event: Value = serde_json::from_str(line).unwrap();
            if event["event"] == "step" {
                event["point"] = json!({"values": point, "pass": 0, "drift_check": false});
            }
            format!("{event}\n")
        };
        std::fs::write(&record, lines.lines().map(of_step).collect::<String>()).unwrap();
        let refusal = mindful.refusal(&["run", "--again", id]);
        assert!(refusal.contains(why), "{refusal}");
    }
    std::fs::write(mindful.path("w.csv"), "Num_concurrent_workers,Oracle_Logical_IOPS\n4,1.5\n").unwrap();
    assert!(mindful.run(&["import", "w.csv", "--tag", "old"]).status.success());
    let refusal = mindful.refusal(&["run", "--again", "old"]);
    assert!(refusal.contains("measured by another tool"), "{refusal}");
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 2, "nothing was run");
}

#[test]
fn a_report_goes_to_the_summary_of_a_job_if_asked() {
    let mindful = Mindful::new();
    mindful.measured(&["--sessions", "1"]);
    let summary = mindful.path("summary.md");
    std::fs::write(&summary, "# what stood there\n").unwrap();
    let appended = mindful.command(&["export", "--github-summary"]).env("GITHUB_STEP_SUMMARY", &summary).output();
    assert!(appended.unwrap().status.success());
    let there = std::fs::read_to_string(&summary).unwrap();
    assert!(there.starts_with("# what stood there\n") && there.contains("| engine | null"), "{there}");
    let mut outside = mindful.command(&["export", "--github-summary"]);
    let refused = outside.env_remove("GITHUB_STEP_SUMMARY").output().unwrap();
    assert!(text(&refused.stderr).contains("GITHUB_STEP_SUMMARY is not set"), "{refused:?}");
}
