//! A load that is killed at any moment is completed by the next one.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use mindful_conformance::Fixture;
use mindful_core::contract::event::Silent;
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::dataset::DatasetPlan;

const FILE: &str = "SQLITE_LOAD_TO_BE_KILLED";

const KILLS: u32 = 20;

fn fixture(path: &Path) -> Fixture {
    let mut fixture = Fixture::new(&mindful_sqlite::ENGINE, format!("sqlite:{}", path.display()));
    fixture.dataset = DatasetPlan { schemas: 6, blocks_per_schema: 500, ..fixture.dataset };
    fixture
}

/// The process that the test below starts and kills; run on its own, it loads a file of its own.
#[test]
fn load_until_killed() {
    let own = tempfile::tempdir().unwrap();
    let path = std::env::var_os(FILE).map_or_else(|| own.path().join("own.db"), PathBuf::from);
    fixture(&path).loaded();
}

fn start(path: &Path) -> Child {
    Command::new(std::env::current_exe().expect("this test's own program"))
        .args(["--exact", "killed::load_until_killed"])
        .env(FILE, path)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("this test's own program")
}

/// Bytes of the file at `path`, and of its log.
fn bytes(path: &Path) -> u64 {
    let log = PathBuf::from(format!("{}-wal", path.display()));
    [path, &log].iter().filter_map(|file| file.metadata().ok()).map(|meta| meta.len()).sum()
}

#[test]
fn a_killed_load_is_completed_and_proven() {
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole.db");
    assert!(start(&whole).wait().unwrap().success());
    let all = bytes(&whole);
    let mut cut = 0;
    for turn in 0..KILLS {
        let path = folder.path().join(format!("{turn}.db"));
        let mut loading = start(&path);
        while bytes(&path) < all * u64::from(turn) / u64::from(KILLS) && loading.try_wait().unwrap().is_none() {
            thread::sleep(Duration::from_millis(1));
        }
        loading.kill().unwrap();
        cut += u32::from(!loading.wait().unwrap().success());
        let fixture = fixture(&path);
        let target = fixture.open();
        let half = target.dataset().unwrap();
        assert!(half.is_none_or(|half| half.schemas <= fixture.dataset.schemas));
        let dataset = target.load(&fixture.dataset, &Silent, &StopFlag::default()).unwrap();
        assert_eq!(dataset.schemas, fixture.dataset.schemas);
        assert_eq!(target.verify(&StopFlag::default()).unwrap().failure(), None);
        target.cleanup().unwrap();
        assert!(!path.exists());
    }
    assert!(cut >= KILLS / 4, "only {cut} of {KILLS} loads were cut off");
}
