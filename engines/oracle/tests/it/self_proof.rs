//! First contact with a made-up server: claims that hold, that fail, and that cannot be seen.

use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::contract::{Proven, SelfProof};

use crate::support::fixture;

fn lines(proof: &SelfProof, proven: Proven) -> Vec<&str> {
    proof.lines.iter().filter(|line| line.0 == proven).map(|line| line.1.as_str()).collect()
}

#[test]
fn a_sound_server_passes_each_line_and_keeps_nothing() {
    let (fixture, database) = fixture();
    let proof = fixture.open().self_proof(&StopFlag::default()).unwrap().unwrap();
    let failed = lines(&proof, Proven::Fail);
    // How late a slice begins, and how much of its time is work, depends on this machine.
    let other: Vec<_> = failed.iter().filter(|line| !line.contains(" late") && !line.contains("Little")).collect();
    assert!(other.is_empty() && lines(&proof, Proven::NotSeen).is_empty(), "{other:#?}");
    assert!(proof.lines.len() > 25, "{:#?}", proof.lines);
    for counted in ["2,000 rows in as many blocks", "updates, "] {
        assert!(lines(&proof, Proven::Pass).iter().any(|line| line.contains(counted)), "{counted}: {:#?}", proof.lines);
    }
    assert!(database.state().tables.is_empty(), "{:?}", database.state().tables.keys());
    assert!(proof.bundle.contains("/* mindful slice */") && proof.bundle.contains("PASS"));
    for name in ["bench", "BENCH", "host:1521", "tiger"] {
        assert!(!proof.bundle.contains(name), "the bundle contains {name}");
    }
}

#[test]
fn failed_and_forbidden_views_are_distinguished() {
    let (fixture, database) = fixture();
    database.fail("host", 942, u32::MAX);
    database.fail("sga", 904, u32::MAX);
    database.fail("explain", 1_039, u32::MAX);
    let proof = fixture.open().self_proof(&StopFlag::default()).unwrap().unwrap();
    let (failed, unseen) = (lines(&proof, Proven::Fail).join(" | "), lines(&proof, Proven::NotSeen).join(" | "));
    assert!(unseen.contains("text host") && unseen.contains("--grants"), "{unseen}");
    assert!(failed.contains("text sga") && failed.contains("ORA-00904") && failed.contains("plans"), "{failed}");
    assert!(database.state().tables.is_empty());
    let (fixture, database) = crate::support::fixture();
    database.fail("blocks", 1_950, u32::MAX);
    let proof = fixture.open().self_proof(&StopFlag::default()).unwrap().unwrap();
    assert!(lines(&proof, Proven::Fail).join(" | ").contains("QUOTA"), "{:#?}", proof.lines);
    assert!(database.state().tables.is_empty());
}
