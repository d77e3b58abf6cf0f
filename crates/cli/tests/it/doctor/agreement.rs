//! `mindful doctor` predicts what `mindful run` does with the same arguments.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};

use mindful_conformance::{place, quick_place, write_files};

#[cfg(all(feature = "postgres", feature = "raw"))]
use crate::lies::neighbours::reader;
use crate::mindful::processes::Background;
use crate::mindful::small_disk::SmallDisk;
#[cfg(all(feature = "postgres", feature = "raw"))]
use crate::mindful::users_server::UsersServer;
use crate::mindful::{Mindful, PAUSES, Words, codes, findings, json, message, printed};

/// The exit code and the last line of standard error.
fn end(mindful: &Mindful, verb: &str, args: impl Words) -> (Option<i32>, String) {
    let output = mindful.run((verb, args));
    (output.status.code(), message(&output).lines().last().unwrap_or_default().to_owned())
}

#[test]
fn doctor_refuses_in_the_same_words_as_a_run() {
    let mindful = Mindful::at(quick_place());
    write_files(mindful.folder(), &[("taken/theirs", "x"), ("a-file", "x")]);
    let shared = mindful.path("shared");
    fs::create_dir(&shared).unwrap();
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o1777)).unwrap();
    let small = format!("sqlite:{}", mindful.path("small.db").display());
    mindful.succeed(format!("load --target {small} --schemas 1 --scale 1MiB"));
    let disk = SmallDisk::mounted(40);
    let full = disk.as_ref().map_or_else(|| mindful.path("taken"), SmallDisk::data).display().to_string();
    let cases = [
        "--target raw:missing/file --scale 1MiB",
        "--target raw:file",
        "--target raw:file --schemas 1 --scale 900TiB",
        "--target raw:file,other --schemas 2 --scale 900TiB",
        "--target sqlite:missing/file.db --scale 1MiB",
        "--target sqlite:file.db --schemas 1 --scale 900TiB",
        &format!("--target {small} --scale 2MiB"),
        &format!("--target {small} --hot-spot 9999,90"),
        "--target sqlite:/proc/version --scale 1MiB",
        "--target embedded --data-dir taken --fetch off",
        "--target embedded --data-dir shared --fetch off",
        "--target embedded --data-dir new --log-dir taken --fetch off",
        "--target embedded --data-dir new --log-dir new/log --fetch off",
        &format!("--target embedded --data-dir new --log-dir {full} --fetch off"),
        "--target embedded --data-dir new --cache 900TiB --fetch off",
        "--target null: --store a-file",
    ];
    for args in cases {
        let (doctor, run) = (end(&mindful, "doctor", args), end(&mindful, "run", args));
        // Free space changes while others write.
        let words = |(code, text): &(Option<i32>, String)| (*code, text.replace(|c: char| c.is_ascii_digit(), "#"));
        assert_eq!(words(&doctor), words(&run), "{args:?}");
        assert!(matches!(doctor.0, Some(2 | 3)), "{args:?}: {doctor:?}");
    }
    assert!(!mindful.path("new").exists() && !mindful.path("file.db").exists());
}

#[test]
fn a_cause_of_suspect_runs_is_a_warning_of_the_doctor() {
    let mindful = Mindful::new();
    let small = "--target sqlite:small.db --schemas 1 --scale 4MiB";
    mindful.succeed(("load", small));
    let cpus = std::thread::available_parallelism().unwrap().get();
    let busy = || Background(Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap());
    let _neighbours: Vec<_> = (0..cpus).map(|_| busy()).collect();
    let doctor = mindful.run(("doctor --fail-on warning", &small));
    let text = printed(&doctor);
    assert_eq!(doctor.status.code(), Some(1), "{text}");
    assert!(text.contains("warning  busy-host: ") && text.ends_with(": a result would be SUSPECT\n"), "{text}");
    let run = mindful.json(("run", &small, "--sessions 1 --warmup 0s --duration 2s"));
    assert!(codes(&run).contains(&"foreign-cpu"), "{run}");
}

/// `doctor --fail-on warning` has a warning `code`, and exits with 1.
fn assert_foretells(output: &Output, code: &str) {
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let foretold = json(output);
    assert!(findings(&foretold, code).iter().any(|finding| finding["severity"] == "warning"), "{foretold:#}");
}

const DOCTOR: &str = "doctor --format json --fail-on warning";

#[cfg(feature = "postgres")]
#[test]
fn a_page_cache_ahead_is_one_in_the_run() {
    let mindful = Mindful::beside_others(place()).with_private();
    let buffered = "--set debug_io_direct=,shared_buffers=1MB";
    // The server of the copy has direct I/O until it starts with other settings.
    let run = || mindful.private_run((&buffered, PAUSES));
    run().assert_suspect("page-cache");
    assert_foretells(&mindful.private((DOCTOR, &buffered)), "page-cache-ahead");
}

#[cfg(all(feature = "postgres", feature = "raw"))]
#[test]
fn a_busy_device_is_one_in_the_run() {
    let mindful = Mindful::beside_others(place());
    let server = UsersServer::start(&mindful, "shared_buffers=1MB");
    let _reader = reader(&mindful);
    assert_foretells(&mindful.run((DOCTOR, ["--target", &server.url()])), "busy-device");
    server.run(&mindful, PAUSES).assert_suspect("foreign-reads");
}
