//! A limit of locked memory too small to register buffers. Alone in its process, for the limit is the process's.

mod support;

use std::sync::Arc;

use mindful_core::event::Events;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::CapabilitySet;
use support::{Kept, folder, made, open_with, reads, session, slice};

#[test]
fn with_too_little_locked_memory_buffers_are_not_registered_and_it_says_so() {
    let folder = folder();
    let path = made(folder.path(), 200);
    let limit = Rlimit { current: Some(64 << 10), maximum: getrlimit(Resource::Memlock).maximum };
    setrlimit(Resource::Memlock, limit).unwrap();
    // Root is above the limit unless it gives that up.
    let mut capabilities = rustix::thread::capabilities(None).unwrap();
    capabilities.effective.remove(CapabilitySet::IPC_LOCK);
    rustix::thread::set_capabilities(None, capabilities).unwrap();

    let kept = Arc::new(Kept::default());
    let events: Arc<dyn Events> = kept.clone();
    let target = open_with(&[&path], &[("iodepth", "64")], &events).unwrap();
    let workload = reads(&target.dataset().unwrap().unwrap());
    let mut session = session(&*target, &workload).unwrap();
    assert_eq!(slice(&mut *session, 60_000, 0, Some(500)).unwrap().total_ops(), 500);
    let told = kept.finding("buffers-not-registered").unwrap();
    assert!(told.contains("ulimit -l") && told.contains("65536 bytes"), "{told}");
}
