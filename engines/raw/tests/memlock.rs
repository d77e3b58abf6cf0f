//! Limits of locked memory. Alone in its process, because the limit applies to the process.

#[path = "it/support.rs"]
mod support;

use std::path::Path;
use std::sync::Arc;

use mindful_conformance::Notes;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::CapabilitySet;
use support::{PLACEMENT, folder, made, open, open_with, reads, refusal, session, slice};

#[test]
fn too_little_locked_memory_is_reported_and_enough_is_used() {
    let folder = folder();
    let path = made(folder.path(), 200);
    // Root is exempt from the limit unless it drops the capability.
    let mut capabilities = rustix::thread::capabilities(None).unwrap();
    capabilities.effective.remove(CapabilitySet::IPC_LOCK);
    rustix::thread::set_capabilities(None, capabilities).unwrap();

    let none = evidence(&path, 0, "no-io-uring").unwrap();
    assert!(none.contains("ulimit -l"), "{none}");
    let target = open(&path, &[("large_iodepth", "1")]).unwrap();
    let workload = reads(&target.dataset().unwrap().unwrap());
    // No other test holds memory of this process that a session might wait for.
    let line = refusal(target.prepare(&workload, 1).and_then(|_| target.session(&workload, PLACEMENT)));
    assert!(line.contains("--large-iodepth") && line.contains("ulimit -l") && !line.contains("sysctl"), "{line}");
    let too_little = evidence(&path, 64 << 10, "buffers-not-registered").unwrap();
    assert!(too_little.contains("ulimit -l") && too_little.contains("65536 bytes"), "{too_little}");
    // 64 blocks fit; the huge page that would contain them takes more than half of the limit.
    assert_eq!(evidence(&path, 3 << 20, "buffers-not-registered"), None);
}

/// The evidence of finding `code` with 64 blocks in flight and this limit of locked memory.
#[expect(clippy::unwrap_used, reason = "a test that cannot set up its parts has failed")]
fn evidence(path: &Path, limit: u64, code: &str) -> Option<String> {
    let limit = Rlimit { current: Some(limit), maximum: getrlimit(Resource::Memlock).maximum };
    setrlimit(Resource::Memlock, limit).unwrap();
    let notes = Arc::new(Notes::default());
    let target = open_with(&[path], &[("iodepth", "64")], &notes).unwrap();
    let workload = reads(&target.dataset().unwrap().unwrap());
    let mut session = session(&*target, &workload).unwrap();
    assert_eq!(slice(&mut *session, 60_000, 0, Some(500)).unwrap().total_ops(), 500);
    notes.find(code)
}
