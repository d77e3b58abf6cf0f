//! Runs as one file, imported elsewhere and repeated there.

use std::process::Command;

use mindful_conformance::not_run;
use serde_json::json;

use crate::mindful::{Mindful, assert_has, edit_record, id, json, message, null, printed};

#[test]
fn a_run_is_packed_and_made_again_elsewhere() {
    let (here, there) = (Mindful::new(), Mindful::new());
    let ran = here.measured("--sessions 2 --work-unit 4 --hook-end 'touch ended'");
    let id = id(&ran);
    here.shows(format!("pack {id}"), "mindful import");
    here.refuses(format!("pack {id}"), "--yes to replace it");
    let pack = here.path(format!("{id}.tar.zst"));
    what_tar_and_zstd_see(&pack, id);
    there.succeed(["import", pack.to_str().unwrap()]);
    assert_eq!(there.json("show")["steps"], ran["steps"]);
    assert_has(message(&there.run(format!("run --again {id}"))), "its target is not used");
    let again = there.run(format!("run --again {id} --target null: --format json"));
    let compared = json(&again);
    assert_eq!(compared["runs"]["baseline"][0]["id"], id, "{compared:#}");
    assert_ne!(compared["runs"]["candidate"][0]["id"], id, "{compared:#}");
    assert!(compared["ratio"].as_f64().unwrap() > 0.0, "{compared:#}");
    // Nothing of others is executed.
    assert_has(message(&again), "ignored settings: hook_end");
    assert!(here.path("ended").exists() && !there.path("ended").exists());
    let now = there.json("show latest");
    assert_eq!((&now["steps"][0]["work_unit"], &now["steps"][0]["sessions"]), (&4.into(), &2.into()));
}

/// Common tools can read the pack.
fn what_tar_and_zstd_see(pack: &std::path::Path, id: &str) {
    let listed = Command::new("tar").arg("--zstd").arg("-tf").arg(pack).output();
    let Ok(listed) = listed else { return not_run("no tar here") };
    if !listed.status.success() {
        return not_run("tar cannot read zstd here: apt-get install zstd");
    }
    let names = ["run.jsonl", "summary.json", "VERSION", "plan.toml", "environment.json", "page.html"];
    assert_eq!(printed(&listed).lines().collect::<Vec<_>>(), names.map(|name| format!("{id}/{name}")));
}

#[test]
fn a_sweep_is_made_again_and_the_pack_contains_its_plan() {
    let mindful = Mindful::new();
    mindful.run(null("sweep", "--duration 200ms -q --sessions 1,2 --null-latency 2ms"));
    let again = mindful.run("run --again latest -q");
    assert_has(printed(&again), "verdicts are adjusted for the number of points");
    assert_eq!(mindful.count_runs(), 2);
    let other = "run --again latest --work-unit 3";
    mindful.refuses(other, "--work-unit cannot change a run that is repeated (--again)");
}

#[test]
fn runs_that_no_plan_can_repeat_are_refused_before_they_run() {
    let mindful = Mindful::new();
    let ran = mindful.measured("--sessions 1");
    // Such runs differ from others by the points of their steps.
    for (point, why) in [
        (json!({"rung": "io_uring", "pinned": "true"}), "is a contrast: pass its flags to `mindful contrast`"),
        (json!({"small": "4", "large": "0"}), "is a job on files: pass its flags to `mindful raw`"),
    ] {
        edit_record(&mindful.log(&ran), |event| {
            if event["event"] == "step" {
                event["point"] = json!({"values": point, "pass": 0, "drift_check": false});
            }
        });
        mindful.refuses(["run", "--again", id(&ran)], why);
    }
    std::fs::write(mindful.path("w.csv"), "Num_concurrent_workers,Oracle_Logical_IOPS\n4,1.5\n").unwrap();
    mindful.succeed("import w.csv --tag old");
    mindful.refuses("run --again old", "measured by another tool");
    assert_eq!(mindful.count_runs(), 2, "nothing was run");
}

#[test]
fn a_report_goes_to_the_summary_of_a_job_if_asked() {
    let mindful = Mindful::new();
    mindful.measured("--sessions 1");
    let summary = mindful.path("summary.md");
    std::fs::write(&summary, "# what stood there\n").unwrap();
    let appended = mindful.command("export --github-summary").env("GITHUB_STEP_SUMMARY", &summary).output();
    assert!(appended.unwrap().status.success());
    let there = std::fs::read_to_string(&summary).unwrap();
    assert!(there.starts_with("# what stood there\n") && there.contains("| engine | null"), "{there}");
    let mut outside = mindful.command("export --github-summary");
    let refused = outside.env_remove("GITHUB_STEP_SUMMARY").output().unwrap();
    assert_has(message(&refused), "GITHUB_STEP_SUMMARY is not set");
}
