//! Servers with another storage engine than InnoDB: operations are measured, and pages are unknown.

use std::sync::Arc;

use mindful_conformance::{Notes, Opened};
use mindful_core::ErrorKind;
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::plan::units::Share;
use mindful_core::workload::{LoopSite, OpKind, Workload};

use crate::by_hand::ByHand;
use crate::support::{MARIADB, each};

/// Options that make a MariaDB a server without InnoDB to mindful, and the message about it.
const OTHERS: [(&[&str], &str); 3] = [
    (&["--version=8.0.11-TiDB-v7.5.0"], "the server is TiDB"),
    (&["--enforce-storage-engine=Aria"], "the server makes only tables of Aria"),
    (&["--innodb=OFF", "--default-storage-engine=Aria"], "the server has no InnoDB"),
];

fn measured_by_its_operations(options: &[&str], what: &str) {
    let server = ByHand::start(MARIADB, options);
    let fixture = server.fixture(200);
    let notes = Arc::new(Notes::default());
    let opened = Opened { target: fixture.open_for(&notes) };
    let target = &*opened.target;
    assert!(notes.tell(&format!("{what}: layout, pages and physical reads are unknown")), "{}", notes.all());
    let description = target.describe().unwrap();
    assert_eq!(description.no_layout.as_deref(), Some(what));
    assert_eq!((description.cache_bytes, description.cache_requests, description.expected_log), (None, None, None));

    target.load(&fixture.dataset, &*notes, &StopFlag::default()).unwrap();
    let (drawn, all) = (target.verify(&StopFlag::default()).unwrap(), target.verify_all(&StopFlag::default()).unwrap());
    assert!(drawn.schemas.is_empty() && all.schemas.is_empty(), "a layout is claimed: {drawn:?}");

    let by_client = Workload { loop_site: LoopSite::Client, ..Workload::reads_only(2, 200, 8) };
    let by_server = Workload { loop_site: LoopSite::Server, ..by_client.clone() };
    let error = target.prepare(&by_server, 1).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Plan);
    let line = error.to_string();
    assert!(line.contains(what) && line.contains("pass --loop client") && !line.contains('\n'), "{line}");

    assert_eq!(opened.work_ops(&by_client, 1, Some(20))[0].op(OpKind::Select).blocks, 160);
    let updating = Workload { update_pct: Share::ALL, ..by_client.clone() };
    assert_eq!(opened.work_ops(&updating, 1, Some(20))[0].op(OpKind::Update).ops, 20);
    let names: Vec<String> = target.samplers().unwrap().iter().map(|sampler| sampler.name().to_owned()).collect();
    assert_eq!(names, ["sessions"], "counters of pages");

    let removed = target.cleanup().unwrap();
    assert!(removed.iter().all(|object| object.kept_because.is_none()), "{removed:?}");
}

#[test]
fn other_storage_than_innodb_is_measured_by_operations_alone() {
    each(OTHERS, |(options, what)| measured_by_its_operations(options, what));
}
