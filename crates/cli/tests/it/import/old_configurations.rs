//! Configurations of older kits that become plans.

use std::fs;

use mindful_conformance::write_files;

use crate::mindful::Mindful;

const SLOB: &str = "UPDATE_PCT=25\nRUN_TIME=2\nSCALE=8M\nWORK_UNIT=16\n";

#[test]
fn an_old_configuration_becomes_a_plan_that_runs() {
    let mindful = Mindful::new();
    fs::write(mindful.path("slob.conf"), format!("{SLOB}REDO_STRESS=LITE\n")).unwrap();
    mindful.succeed("import slob.conf --output mindful.toml");
    mindful.refuses("import slob.conf --output mindful.toml", "--yes");
    let ran = mindful.json("run --target null: --null-latency 1ms --warmup 0s");
    assert_eq!((ran["steps"][0]["work_unit"].as_u64(), ran["steps"][0]["scale"].as_u64()), (Some(16), Some(1024)));
}

#[test]
fn command_substitution_in_an_old_configuration_is_refused() {
    let mindful = Mindful::new();
    fs::write(mindful.path("slob.conf"), "UPDATE_PCT=25\nSCALE=$(touch ran)\n").unwrap();
    mindful.refuses("import slob.conf --output mindful.toml", "line 2");
    for name in ["ran", "mindful.toml"] {
        assert!(!mindful.path(name).exists(), "{name}");
    }
}

#[test]
fn a_plan_made_of_an_old_configuration_goes_to_stdout() {
    let mindful = Mindful::new();
    fs::write(mindful.path("slob.conf"), SLOB).unwrap();
    let plan = mindful.text("import slob.conf");
    assert!(plan.contains("\nupdate_pct = "), "{plan}");
    assert!(!mindful.path("mindful.toml").exists());
    let message = mindful.text("import slob.conf --output 'old plan.toml'");
    assert_eq!(fs::read_to_string(mindful.path("old plan.toml")).unwrap(), plan);
    assert!(message.lines().next().unwrap().contains("see `mindful plan --plan 'old plan.toml'`"), "{message}");
    mindful.shows("plan --plan 'old plan.toml' --target null:", "old plan.toml");
}

#[test]
fn a_plan_that_every_command_will_use_is_called_one() {
    let mindful = Mindful::new();
    fs::write(mindful.path("slob.conf"), "UPDATE_PCT=25\n").unwrap();
    fs::create_dir(mindful.path("elsewhere")).unwrap();
    for (output, everywhere) in [("mindful.toml", true), ("./mindful.toml", true), ("elsewhere/mindful.toml", false)] {
        let message = mindful.text(["import", "slob.conf", "--yes", "--output", output]);
        let first = message.lines().next().unwrap();
        assert_eq!(first.contains("every command in this folder will use it"), everywhere, "{message}");
        assert_eq!(first.contains(&format!("--plan {output}")), !everywhere, "{message}");
    }
}

#[test]
fn configurations_of_a_folder_become_plans_too() {
    let mindful = Mindful::new();
    let curve = "Num_concurrent_workers,Oracle_Logical_IOPS\n1,0.75\n2,1.5\n";
    write_files(mindful.folder(), &[("old/slob.conf", SLOB), ("old/LIO.csv", curve)]);
    let alone = mindful.text("import old/slob.conf");
    let both = mindful.text("import old");
    assert!(both.starts_with("run ") && both.ends_with(&alone) && !both.contains("not imported"), "{both}");
    mindful.shows("import old --output old.toml", "already there…old.toml is written from slob.conf");
    assert_eq!(fs::read_to_string(mindful.path("old.toml")).unwrap(), alone);
    fs::write(mindful.path("old/pgio.conf"), "NUM_SCHEMAS=4\nNUM_THREADS=2\nDBNAME=pg10\n").unwrap();
    mindful.shows("import old", "made from slob.conf…made from pgio.conf");
    mindful.refuses("import old --output two.toml", "several configurations");
}
