//! A dataset that does not fit, on each engine: the same exit code, for the load, the run and the doctor.

use crate::mindful::small_disk::SmallDisk;
use crate::mindful::{Mindful, message};

#[test]
fn a_dataset_without_room_is_refused_alike_on_each_engine() {
    let Some(small) = SmallDisk::private(400) else { return };
    let mindful = Mindful::new();
    let place = small.data().display().to_string();
    let mut targets = vec![format!("raw:{place}"), format!("sqlite:{place}")];
    targets.extend(cfg!(feature = "postgres").then(|| "embedded".to_owned()));
    targets.extend(cfg!(feature = "mysql").then(|| "mariadb:".to_owned()));
    for target in targets {
        for verb in ["doctor", "load", "run", "doctor"] {
            let data = if target.contains(&place) { String::new() } else { format!("--data-dir {place}") };
            let output = mindful.run((format!("{verb} --target {target} --schemas 2 --scale 1GiB"), data));
            let line = message(&output).lines().last().unwrap_or_default().to_owned();
            assert_eq!(output.status.code(), Some(3), "{verb} {target}: {line}");
            assert!(line.contains("the load needs 2") && line.contains(" free: "), "{verb} {target}: {line}");
        }
        // A server of another engine may not stay there.
        let _ = mindful.run(format!("cleanup --yes --target {target} --data-dir {place}"));
        let _ = std::fs::remove_dir_all(&place);
    }
}
