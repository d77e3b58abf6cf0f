//! A process may be killed at any byte it writes.

use std::fs;
use std::sync::OnceLock;

use mindful_record::{Store, read_run};
use proptest::prelude::*;

use crate::sample;

fn written() -> &'static [u8] {
    static WRITTEN: OnceLock<Vec<u8>> = OnceLock::new();
    WRITTEN.get_or_init(|| {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path());
        let id = sample::written(&store, Some("t"));
        fs::read(store.run_dir(&id).join("run.jsonl")).unwrap()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]
    #[test]
    fn a_run_cut_at_any_byte_is_unfinished_or_whole(at in 0.0_f64..=1.0) {
        let dir = tempfile::tempdir().unwrap();
        let whole = written();
        let cut = (whole.len() as f64 * at) as usize;
        let head_ends = whole.iter().position(|b| *b == b'\n').unwrap();
        let file = dir.path().join("cut.jsonl");
        fs::write(&file, &whole[..cut]).unwrap();
        match read_run(&file) {
            Ok(run) if cut == whole.len() => prop_assert!(run.finished),
            Ok(run) => prop_assert!(!run.finished),
            Err(error) => prop_assert!(cut <= head_ends, "cut at {cut}: {error}"),
        }
    }

    #[test]
    fn no_damage_makes_the_reader_panic(at in 0.0_f64..1.0, byte in any::<u8>()) {
        let dir = tempfile::tempdir().unwrap();
        let mut bytes = written().to_vec();
        let place = (bytes.len() as f64 * at) as usize;
        bytes[place] = byte;
        let file = dir.path().join("damaged.jsonl");
        fs::write(&file, &bytes).unwrap();
        if let Err(error) = read_run(&file) {
            prop_assert!(!error.to_string().contains('\n'));
        }
    }
}
