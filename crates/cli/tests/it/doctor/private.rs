//! `mindful doctor` where there is no private server yet.

use mindful_conformance::{place, quick_place};

use crate::mindful::small_disk::folder_in_memory;
use crate::mindful::{Mindful, assert_has, text};

#[test]
fn doctor_neither_makes_nor_fetches_a_server() {
    let mindful = Mindful::beside_others(quick_place());
    let (shelf, data) = (mindful.path("shelf"), mindful.private_folder());
    let fetch_dir = format!("--fetch-dir={}", shelf.display());
    for args in ["", "--mode lio --fetch off"] {
        let findings = text(&mindful.private((&format!("doctor {fetch_dir}"), args)));
        assert!(findings.contains("no-server-yet") && findings.contains(data.to_str().unwrap()), "{findings}");
        assert!(!data.exists() && !shelf.exists(), "{findings}");
    }
    assert!(mindful.private("load --schemas 1 --scale 8MiB").status.success());
    let findings = text(&mindful.private("doctor"));
    assert!(!findings.contains("no-server-yet"), "{findings}");
}

#[test]
fn doctor_looks_at_the_volume_of_a_log_that_is_to_be_made() {
    let mindful = Mindful::beside_others(place());
    let memory = folder_in_memory();
    let (lost, beside) = (memory.path().join("log"), mindful.path("log"));
    let doctor = |log: &std::path::Path, args: &str| {
        let findings = text(&mindful.private((["doctor", "--log-dir", log.to_str().unwrap()], args)));
        assert!(!log.exists() && !mindful.private_folder().exists(), "{findings}");
        findings
    };
    assert_has(doctor(&lost, ""), "info     not-durable: tmpfs at /dev/shm");
    assert_has(doctor(&lost, "--update-pct 100"), "warning  not-durable: tmpfs at /dev/shm");
    let one_device = doctor(&beside, "--update-pct 100");
    assert!(one_device.contains("log and data on ") && !one_device.contains("not-durable"), "{one_device}");
}
