//! Reading made files.

use crate::support::{counter, folder, made, reads, slice, work, working};
use mindful_core::contract::clock;

const WAYS: [&[(&str, &str)]; 4] = [
    &[("io", "uring"), ("iodepth", "16")],
    &[("io", "uring"), ("iodepth", "3"), ("direct", "off")],
    &[("io", "psync")],
    &[("io", "psync"), ("direct", "off")],
];

#[test]
fn every_sector_of_a_made_file_reads_back_as_written() {
    let folder = folder();
    let path = made(folder.path(), 1_000);
    for way in WAYS {
        let options = [way, &[("verify", "on")]].concat();
        let report = work(&path, &options, reads, 3_000).unwrap();
        assert_eq!(report.total_ops(), 3_000, "{way:?}");
        assert_eq!(report.ops[0].latency.count(), 3_000, "{way:?}");
        assert_eq!(report.ops[0].blocks, 3_000, "{way:?}");
    }
}

#[test]
fn a_slice_ends_in_time_and_counts_its_work() {
    let folder = folder();
    let path = made(folder.path(), 1_000);
    for way in WAYS {
        let (target, mut session) = working(&path, way, reads);
        let mut ops = 0;
        for _ in 0..3 {
            let asked_us = clock::now_us();
            let report = slice(&mut *session, 100, ops, None).unwrap();
            // Slices end by the clock that runs evenly, and are reported by the wall clock, which may be adjusted
            // meanwhile.
            assert!(
                report.end_us - asked_us >= 99_000,
                "{way:?}: ended {} us early",
                asked_us + 100_000 - report.end_us
            );
            assert!(report.total_ops() > 0, "{way:?}");
            assert!(report.cpu_us.unwrap() as i64 <= clock::now_us() - asked_us, "{way:?}: one thread");
            ops += report.total_ops();
        }
        assert_eq!(counter(&*target, "physical_reads") as u64, ops, "{way:?}");
        assert_eq!(counter(&*target, "read_bytes") as u64, ops * 8_192, "{way:?}");
    }
}

#[test]
fn a_large_read_is_one_request_and_many_physical_reads() {
    let folder = folder();
    let path = made(folder.path(), 1_000);
    for direct in ["on", "off"] {
        let way = [("iodepth", "0"), ("large_iodepth", "2"), ("large_size", "64KiB"), ("direct", direct)];
        let (target, mut session) = working(&path, &way, reads);
        let report = slice(&mut *session, 60_000, 0, Some(50)).unwrap();
        let [select, _, large] = &report.ops;
        assert_eq!((select.ops, large.ops, large.blocks), (0, 50, 400), "direct {direct}");
        assert_eq!((counter(&*target, "reads"), counter(&*target, "physical_reads")), (50.0, 400.0), "direct {direct}");
    }
}

#[test]
fn reading_a_file_does_not_change_its_access_time() {
    let folder = folder();
    let path = made(folder.path(), 100);
    let file = std::fs::File::open(&path).unwrap();
    // Older than its last change: otherwise few file systems would record a read.
    let old = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    for way in WAYS {
        file.set_times(std::fs::FileTimes::new().set_accessed(old)).unwrap();
        assert_eq!(work(&path, way, reads, 200).unwrap().total_ops(), 200, "{way:?}");
        assert_eq!(file.metadata().unwrap().accessed().unwrap(), old, "{way:?}");
    }
}
