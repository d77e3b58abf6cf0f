//! `mindful launch`.

use std::process::Command;

use crate::mindful::{Mindful, assert_has, printed};

#[test]
fn each_launcher_gets_a_script_and_no_secret() {
    let mindful = Mindful::new();
    let plan = ["--target", "postgres://me:secret@db/x?application_name=it's", "--ranks", "4", "--sessions", "64"];
    let script = |launcher: &str| {
        let text = mindful.text((format!("launch {launcher}"), plan));
        assert!(text.contains("run") && !text.contains("secret@"), "{text}");
        text
    };
    let slurm = script("slurm");
    assert!(slurm.starts_with("#!/bin/sh\n"), "{slurm}");
    assert_has(&slurm, "#SBATCH --ntasks=4\n…srun --kill-on-bad-exit=0…--sessions 64");
    let mpi = script("mpi");
    assert!(mpi.starts_with("mpirun -n 4 mindful run ") && !mpi.contains("--ranks"), "{mpi}");
    let words = Command::new("sh").args(["-c", &format!("printf '%s\\n' {mpi}")]).output().unwrap();
    let words = printed(&words);
    assert!(words.lines().any(|word| word.starts_with("postgres://") && word.ends_with("it's")), "{words}");
    assert_has(
        script("kubernetes"),
        "completionMode: Indexed…backoffLimit: 0…completions: 4…secretKeyRef:…- \"--ranks\"\n            - \"4\"",
    );
    mindful.refuses("launch ssh", "choose slurm, mpi, kubernetes");
}

#[test]
fn a_launcher_is_given_the_password_of_each_database() {
    let mindful = Mindful::new();
    let printed =
        |launcher: &str, given: &str| mindful.text((format!("launch {launcher} --ranks 2 --sessions 8"), given));
    let mysql = "--target mysql://me@db/bench";
    let script = printed("slurm", mysql);
    assert!(script.contains("Password: MYSQL_PWD in the environment") && !script.contains("PGPASSWORD"), "{script}");
    assert_has(printed("kubernetes", mysql), "- name: MYSQL_PWD\n…key: password\n");
    let both = printed("kubernetes", &format!("{mysql} --meet postgres://me@other/meet"));
    let secrets = "--from-literal=mysql-pwd=... --from-literal=pgpassword=...";
    assert_has(both, format!("{secrets}…- name: MYSQL_PWD\n…key: pgpassword\n"));
    let files = printed("kubernetes", "--target raw:blocks --meet dir:meet");
    assert!(!files.contains("secret") && !printed("slurm", "--target null:").contains("password"), "{files}");
}
