//! Block devices: read as they are, filled and verified only when their name was typed.

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;

use crate::support::{LoopDevice, WAYS, load, open, reads, refusal, run, updates, work};
use mindful_conformance::assert_says;
use mindful_core::contract::stop_flag::StopFlag;

#[test]
fn a_device_is_read_as_it_is_and_not_a_byte_changes() {
    let Some(device) = LoopDevice::new(8) else { return };
    let before = device.content();
    for way in WAYS {
        assert_eq!(work(&device.path, way, reads, 2_000).unwrap().total_ops(), 2_000, "{way:?}");
    }
    let target = open(&device.path, &[]).unwrap();
    assert_says(
        refusal(target.verify(&StopFlag::default())),
        &["does not contain a pattern to prove", "--destroy-data"],
    );
    assert_says(refusal(work(&device.path, &[("verify", "on")], reads, 10)), &["pattern"]);
    assert!(target.cleanup().unwrap()[0].kept_because.is_some());
    assert!(device.content() == before);
}

#[test]
fn a_device_is_filled_and_verified_when_its_own_name_was_typed() {
    let Some(device) = LoopDevice::new(16) else { return };
    let before = device.content();
    for typed in [None, Some("yes"), Some("/dev/loop")] {
        let options: Vec<_> = typed.into_iter().map(|name| ("destroy_data", name)).collect();
        assert_says(refusal(load(&*open(&device.path, &options).unwrap(), 2, 500)), &["destroys its data"]);
    }
    let named = ("destroy_data", device.name());
    assert_says(refusal(load(&*open(&device.path, &[named]).unwrap(), 2, 5_000)), &["do not fit onto", "16 MiB"]);
    assert!(device.content() == before, "not a byte changed");

    let filled = load(&*open(&device.path, &[named]).unwrap(), 2, 500).unwrap();
    assert_eq!((filled.schemas, filled.blocks_per_schema), (2, 500));
    for way in WAYS {
        work(&device.path, &[way, &[("verify", "on")]].concat(), reads, 1_000).unwrap();
    }
    let options = [named, ("verify", "on"), ("iodepth", "8")];
    work(&device.path, &options, |dataset| updates(dataset, "50"), 1_000).unwrap();
    assert_eq!(open(&device.path, &[]).unwrap().verify(&StopFlag::default()).unwrap().failure(), None);
    // It can be filled again with other data, by the same rule.
    load(&*open(&device.path, &[named]).unwrap(), 1, 800).unwrap();
    assert_eq!(open(&device.path, &[]).unwrap().dataset().unwrap().unwrap().blocks_per_schema, 800);
}

#[test]
fn the_mark_of_a_filled_device_does_not_permit_writing() {
    let Some(device) = LoopDevice::new(8) else { return };
    load(&*open(&device.path, &[("destroy_data", device.name())]).unwrap(), 1, 500).unwrap();
    let before = device.content();
    assert_says(refusal(work(&device.path, &[], |dataset| updates(dataset, "100"), 10)), &["destroys its data"]);
    refusal(load(&*open(&device.path, &[]).unwrap(), 1, 400));
    assert!(open(&device.path, &[]).unwrap().cleanup().unwrap()[0].kept_because.is_some());
    assert!(device.content() == before, "not a byte changed");
}

#[test]
fn a_bit_that_turned_on_a_filled_device_is_found() {
    let Some(device) = LoopDevice::new(8) else { return };
    load(&*open(&device.path, &[("destroy_data", device.name())]).unwrap(), 1, 100).unwrap();
    let file = OpenOptions::new().read(true).write(true).open(&device.path).unwrap();
    let (mut byte, at) = ([0], (1 << 20) + 20 * 8_192 + 5_000);
    file.read_exact_at(&mut byte, at).unwrap();
    file.write_all_at(&[byte[0] ^ 4], at).unwrap();
    file.sync_all().unwrap();
    drop(file);
    run("blockdev", &["--flushbufs", device.name()]);
    for way in WAYS {
        assert_says(
            refusal(work(&device.path, &[way, &[("verify", "on")]].concat(), reads, 1_000)),
            &["wrong data in the sector at byte 1217024"],
        );
    }
    assert!(open(&device.path, &[]).unwrap().verify(&StopFlag::default()).unwrap().failure().is_some());
}
