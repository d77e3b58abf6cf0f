//! The conformance suite on real files: through io_uring, by pread, over two files in stripes, and on its own file
//! system.

use mindful_conformance::Fixture;

fn fixture(url: impl FnOnce(&str) -> String, options: &[(&str, &str)]) -> Fixture {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder on a real file system");
    let url = url(folder.path().to_str().expect("a path in UTF-8"));
    let mut fixture = Fixture::new(&mindful_raw::ENGINE, url).keeping(folder);
    for (key, value) in options {
        fixture = fixture.with(key, value);
    }
    fixture.bad_urls.extend(["raw:", "raw:/", "raw:/dev/null", "raw:,,", "raw:/proc/version"].map(str::to_owned));
    fixture
}

mod uring {
    fn on_a_file() -> super::Fixture {
        super::fixture(|folder| format!("raw:{folder}/blocks"), &[])
    }

    mindful_conformance::suite!(on_a_file);
}

mod psync {
    fn on_a_file() -> super::Fixture {
        super::fixture(|folder| format!("raw:{folder}/blocks"), &[("io", "psync")])
    }

    mindful_conformance::suite!(on_a_file);
}

mod striped {
    fn on_two_files() -> super::Fixture {
        let options = [("combine", "stripe"), ("stripe_size", "64KiB"), ("verify", "on")];
        super::fixture(|folder| format!("raw:{folder}/one,{folder}/two"), &options)
    }

    mindful_conformance::suite!(on_two_files);
}

mod loop_mounted {
    use crate::support::{LoopDevice, mount_ext4};

    fn on_ext4() -> Option<super::Fixture> {
        let device = LoopDevice::among_others(256)?;
        let mount = mount_ext4(&device)?;
        let url = format!("raw:{}/blocks", mount.path().display());
        Some(super::fixture(|_| url, &[]).keeping((mount, device)))
    }

    mindful_conformance::suite!(on_ext4);
}
