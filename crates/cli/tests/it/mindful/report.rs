//! A run as JSON and as text, and checks of it that tolerate other programs on this host.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use crate::mindful::{Mindful, Words, codes, figure, findings, host_was_full, id, json, short_run};

/// Codes of findings that others on this host can cause in any run.
const OF_NEIGHBOURS: [&str; 4] = ["foreign-cpu", "foreign-reads", "foreign-writes", "cpu-steal"];

/// Also if they leave no CPU idle or load the device: sessions wait for a CPU between two slices, and a device that
/// writes for others may not answer for a while.
const OF_A_BUSY_HOST: [&str; 3] = ["little", "stall", "levels-disagree"];

impl Mindful {
    /// A short run, with two small schemas unless `args` say otherwise.
    pub(crate) fn short_run(&self, args: impl Words) -> Report {
        self.report(&self.run(short_run(args)))
    }

    /// The run of the summary that a command printed, with the full output of `show`.
    pub(crate) fn report(&self, output: &Output) -> Report {
        let run = json(output);
        let text = self.text(["show", id(&run), "--full"]);
        Report { run, text }
    }
}

pub(crate) struct Report {
    pub run: Value,
    pub text: String,
}

impl Report {
    pub(crate) fn id(&self) -> &str {
        id(&self.run)
    }

    pub(crate) fn codes(&self) -> Vec<&str> {
        codes(&self.run)
    }

    pub(crate) fn has(&self, code: &str) -> bool {
        self.codes().contains(&code)
    }

    /// Whether a finding of that code has evidence that contains `part`.
    pub(crate) fn shows(&self, code: &str, part: &str) -> bool {
        findings(&self.run, code).iter().any(|finding| finding["evidence"].as_str().unwrap().contains(part))
    }

    pub(crate) fn evidence(&self, code: &str) -> &str {
        let findings = findings(&self.run, code);
        findings.first().unwrap_or_else(|| panic!("no {code}: {self}"))["evidence"].as_str().unwrap()
    }

    pub(crate) fn validity(&self) -> &str {
        self.run["validity"].as_str().unwrap()
    }

    /// Warnings and errors that the run itself causes, without those of its neighbours.
    pub(crate) fn own_warnings(&self) -> Vec<&str> {
        self.warnings().filter(|code| !self.of_neighbours().contains(code)).collect()
    }

    /// Whether `code` is among its warnings and errors.
    pub(crate) fn warns(&self, code: &str) -> bool {
        self.warnings().any(|warning| warning == code)
    }

    fn warnings(&self) -> impl Iterator<Item = &str> {
        let grave = self.run["findings"].as_array().unwrap().iter().filter(|finding| finding["severity"] != "info");
        grave.map(|finding| finding["code"].as_str().unwrap())
    }

    fn of_neighbours(&self) -> Vec<&'static str> {
        OF_NEIGHBOURS.into_iter().chain(OF_A_BUSY_HOST.into_iter().filter(|_| self.disturbed())).collect()
    }

    /// Whether others used the device or the CPUs, or the host was full.
    pub(crate) fn disturbed(&self) -> bool {
        host_was_full(&self.run["steps"][0]) || OF_NEIGHBOURS.iter().any(|code| self.has(code))
    }

    /// Its only warnings are those of its neighbours.
    pub(crate) fn assert_clean(&self) {
        assert_eq!(self.own_warnings(), [""; 0], "{self}");
        let disturbed = self.warnings().next().is_some();
        assert_eq!(self.validity(), if disturbed { "suspect" } else { "valid" }, "{self}");
    }

    pub(crate) fn assert_suspect(&self, code: &str) {
        let warning = findings(&self.run, code).iter().any(|finding| finding["severity"] == "warning");
        assert!(warning, "no warning {code}: {self}");
        // On a busy host a short window may also end late, which is invalid.
        assert!(self.validity() == "suspect" || self.has("short-window"), "{self}");
    }

    /// Has a warning `code` with evidence that contains `part`.
    pub(crate) fn assert_suspect_of(&self, code: &str, part: &str) {
        self.assert_suspect(code);
        assert!(self.shows(code, part), "no {part} of {code}: {self}");
    }

    pub(crate) fn figure(&self, name: &str) -> f64 {
        figure(&self.run["steps"][0], name)
    }

    /// The figure that represents the run and the reason for its name, in lower case.
    pub(crate) fn headline(&self) -> String {
        // The paragraph after the verdict, which may take several lines.
        self.text.split("\n\n").nth(1).unwrap_or_default().to_lowercase()
    }
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

/// `run` while `other` works in a thread, until the flag passed to `other` is set.
pub(crate) fn during(other: impl FnOnce(&AtomicBool) + Send, run: impl FnOnce() -> Report) -> Report {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| other(&done));
        let report = catch_unwind(AssertUnwindSafe(run));
        done.store(true, Ordering::SeqCst);
        report.unwrap_or_else(|panic| resume_unwind(panic))
    })
}

/// `run` while `other` works in a thread, which ends by itself.
pub(crate) fn next_to(other: impl FnOnce() + Send, run: impl FnOnce() -> Report) -> Report {
    std::thread::scope(|scope| {
        scope.spawn(other);
        run()
    })
}

/// `run` while `other` is repeated in a thread.
pub(crate) fn while_repeated(mut other: impl FnMut() + Send, run: impl FnOnce() -> Report) -> Report {
    let again = |done: &AtomicBool| {
        while !done.load(Ordering::SeqCst) {
            other();
        }
    };
    during(again, run)
}

/// The first of three runs that passes `is_so`, or else the third.
pub(crate) fn retried(run: impl Fn() -> Report, is_so: impl Fn(&Report) -> bool) -> Report {
    (0..2).map(|_| run()).find(is_so).unwrap_or_else(&run)
}

/// The block device that holds `path`, as the kernel numbers it; `None` where a layer hides it.
pub(crate) fn device_of(path: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let number = std::fs::metadata(path).unwrap().dev();
    let name = format!("{}:{}", rustix::fs::major(number), rustix::fs::minor(number));
    let folder = PathBuf::from(format!("/sys/dev/block/{name}")).canonicalize().ok()?;
    let disk = if folder.join("partition").exists() { folder.parent()?.to_owned() } else { folder };
    Some(std::fs::read_to_string(disk.join("dev")).ok()?.trim().to_owned())
}
