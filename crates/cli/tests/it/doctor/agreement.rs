//! `mindful doctor` predicts what `mindful run` does with the same arguments.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Output};

use mindful_conformance::{place, quick_place};

#[cfg(all(feature = "postgres", feature = "raw"))]
use crate::lies::neighbours::reader;
use crate::mindful::small_disk::SmallDisk;
#[cfg(all(feature = "postgres", feature = "raw"))]
use crate::mindful::users_server::UsersServer;
use crate::mindful::{Mindful, PAUSES, Words, codes, json, kill, message, printed};

/// The exit code and the last line of standard error.
fn end(mindful: &Mindful, verb: &str, args: impl Words) -> (Option<i32>, String) {
    let output = mindful.run((verb, args));
    (output.status.code(), message(&output).lines().last().unwrap_or_default().to_owned())
}

#[test]
fn doctor_refuses_in_the_same_words_as_a_run() {
    let mindful = Mindful::at(quick_place());
    let taken = mindful.path("taken");
    fs::create_dir(&taken).unwrap();
    fs::write(taken.join("theirs"), "x").unwrap();
    let shared = mindful.path("shared");
    fs::create_dir(&shared).unwrap();
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o1777)).unwrap();
    let store = mindful.path("a-file");
    fs::write(&store, "x").unwrap();
    let small = mindful.path("small.db");
    let small = format!("sqlite:{}", small.display());
    let loaded = format!("--target {small} --schemas 1 --scale 1MiB");
    assert_eq!(end(&mindful, "load", &loaded).0, Some(0));
    let disk = SmallDisk::mounted(40);
    let full = disk.as_ref().map_or_else(|| taken.clone(), SmallDisk::data).display().to_string();
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

/// Processes that use all CPUs until this is dropped.
struct Neighbours(Vec<Child>);

impl Neighbours {
    fn start() -> Self {
        let cpus = std::thread::available_parallelism().unwrap().get();
        let busy = || Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        Self((0..cpus).map(|_| busy()).collect())
    }
}

impl Drop for Neighbours {
    fn drop(&mut self) {
        self.0.iter_mut().for_each(kill);
    }
}

#[test]
fn a_cause_of_suspect_runs_is_a_warning_of_the_doctor() {
    let mindful = Mindful::new();
    let small = "--target sqlite:small.db --schemas 1 --scale 4MiB";
    assert_eq!(end(&mindful, "load", small).0, Some(0));
    let _neighbours = Neighbours::start();
    let doctor = mindful.run(("doctor --fail-on warning", &small));
    let text = printed(&doctor);
    assert_eq!(doctor.status.code(), Some(1), "{text}");
    assert!(text.contains("warning  busy-host: ") && text.ends_with(": a result would be SUSPECT\n"), "{text}");
    let run = mindful.json(("run", &small, "--sessions 1 --warmup 0s --duration 2s"));
    assert!(codes(&run).contains(&"foreign-cpu"), "{run}");
}

/// The warnings of `doctor --fail-on warning`, which must exit with 1.
fn warnings(output: &Output) -> Vec<String> {
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let findings = json(output)["findings"].as_array().unwrap().clone();
    let grave = findings.into_iter().filter(|finding| finding["severity"] == "warning");
    grave.map(|finding| finding["code"].as_str().unwrap().to_owned()).collect()
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
    let foretold = warnings(&mindful.private((DOCTOR, &buffered)));
    assert!(foretold.iter().any(|code| code == "page-cache-ahead"), "{foretold:?}");
}

#[cfg(all(feature = "postgres", feature = "raw"))]
#[test]
fn a_busy_device_is_one_in_the_run() {
    let mindful = Mindful::beside_others(place());
    let server = UsersServer::start(&mindful, "shared_buffers=1MB");
    let _reader = reader(&mindful);
    let foretold = warnings(&mindful.run((DOCTOR, ["--target", &server.url()])));
    assert!(foretold.iter().any(|code| code == "busy-device"), "{foretold:?}");
    server.run(&mindful, PAUSES).assert_suspect("foreign-reads");
}
