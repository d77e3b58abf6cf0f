//! A private server with the dataset of a short run, made once for all tests of this binary: making it takes seconds of
//! CPU, a copy does not.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use mindful_conformance::copy_of_one;
use serde_json::Value;

use crate::mindful::report::Report;
use crate::mindful::{Mindful, Words, json, short_run};

impl Mindful {
    pub(crate) fn private_folder(&self) -> PathBuf {
        self.path("private")
    }

    /// With a private server that has the dataset of a short run.
    pub(crate) fn with_private(self) -> Self {
        copy_to(&self.private_folder());
        self
    }

    /// The same with a private MariaDB.
    #[cfg(feature = "mysql")]
    pub(crate) fn with_private_mariadb(self) -> Self {
        mariadb_to(&self.private_folder());
        self
    }

    pub(crate) fn on_private(&self, args: impl Words) -> Command {
        let mut command = self.command(args);
        command.arg("--data-dir").arg(self.private_folder());
        command
    }

    /// A command on its private server that has come to its end.
    pub(crate) fn private(&self, args: impl Words) -> Output {
        self.on_private(args).output().unwrap()
    }

    pub(crate) fn private_json(&self, args: impl Words) -> Value {
        json(&self.private((args, "--format json")))
    }

    pub(crate) fn private_run(&self, args: impl Words) -> Report {
        self.report(&self.private(short_run(args)))
    }
}

/// Copies it to `folder`, which is not there yet.
pub(crate) fn copy_to(folder: &Path) {
    copy("embedded", "", folder);
}

/// A copy has no holes, so nine tenths of it would be the log. A start with another size makes it again.
#[cfg(feature = "mysql")]
pub(crate) const SMALL_LOG: &str = "innodb_log_file_size=32M";

#[cfg(feature = "mysql")]
pub(crate) fn mariadb_to(folder: &Path) {
    copy("mariadb:", &format!("--set {SMALL_LOG}"), folder);
}

fn copy(target: &str, args: &str, folder: &Path) {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("private-{}", target.trim_end_matches(':')));
    let binary = Path::new(env!("CARGO_BIN_EXE_mindful"));
    copy_of_one(&place, binary, folder, |data| {
        let store = data.parent().unwrap();
        let mut load = Command::new(binary);
        load.args(format!("load --target {target} --schemas 2 --scale 16MiB {args}").words())
            .arg("--data-dir")
            .arg(data);
        let loaded = load.current_dir(store).env("MINDFUL_STORE", store).output().unwrap();
        assert!(loaded.status.success(), "{loaded:?}");
    });
}
