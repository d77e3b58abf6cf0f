//! The binary, a store and a server's folder of its own, and what a run reported.

use std::os::unix::fs::PermissionsExt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use crate::mindful::alone::Quiet;
use crate::mindful::template;
use crate::mindful::{host_was_full, short_run};

/// Codes of what others on this host do to a run, whatever it is.
const OF_NEIGHBOURS: [&str; 3] = ["foreign-cpu", "foreign-reads", "cpu-steal"];

/// And where they leave no CPU idle or take the device: sessions wait for a CPU between two slices, and a device that
/// writes for others may answer nobody for a while.
const OF_A_BUSY_HOST: [&str; 2] = ["little", "stall"];

pub struct Bench {
    folder: tempfile::TempDir,
    _beside: Option<Quiet>,
}

impl Bench {
    /// For what others may work beside.
    pub fn new() -> Self {
        let beside = Quiet::beside();
        Self { _beside: Some(beside), ..Self::before_quiet() }
    }

    /// For what has to be alone with this machine: the test waits for that by [`Quiet::wait`] once all is made ready.
    pub fn before_quiet() -> Self {
        let open = std::fs::Permissions::from_mode(0o755);
        let folder = tempfile::Builder::new().prefix("mindful-lies-").permissions(open).tempdir().unwrap();
        Self { folder, _beside: None }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mindful"));
        command.args(args);
        self.at_home(command)
    }

    pub fn at_home(&self, mut command: Command) -> Command {
        command.current_dir(self.folder.path()).env("MINDFUL_STORE", self.path("store")).stdin(Stdio::null());
        command
    }

    /// The private server, with the dataset of a short run.
    pub fn with_private(self) -> Self {
        template::copy_to(&self.path("private"));
        self
    }

    /// A short run on the private server.
    pub fn private(&self, args: &[&str]) -> Reported {
        self.reported(&self.private_output(args))
    }

    pub fn private_output(&self, args: &[&str]) -> Output {
        let data = self.path("private").display().to_string();
        self.run(&[&["--target", "embedded", "--data-dir", &data], args].concat())
    }

    /// A short run, with two small schemas unless reported otherwise.
    pub fn run(&self, args: &[&str]) -> Output {
        self.command(&short_run(args)).output().unwrap()
    }

    /// What a run reported, and what is shown of it.
    pub fn reported(&self, output: &Output) -> Reported {
        let run: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr)));
        let shown = self.command(&["show", run["id"].as_str().unwrap(), "--full"]).output().unwrap();
        Reported { run, text: String::from_utf8(shown.stdout).unwrap() }
    }
}

/// A run, as JSON and as text.
pub struct Reported {
    pub run: Value,
    pub text: String,
}

impl Reported {
    pub fn codes(&self) -> Vec<&str> {
        self.findings().map(|finding| finding["code"].as_str().unwrap()).collect()
    }

    pub fn has(&self, code: &str) -> bool {
        self.codes().contains(&code)
    }

    /// Whether a finding of that code has evidence that contains `part`.
    pub fn shows(&self, code: &str, part: &str) -> bool {
        let of_code = |finding: &&serde_json::Value| finding["code"] == code;
        self.findings().filter(of_code).any(|finding| finding["evidence"].as_str().unwrap().contains(part))
    }

    pub fn evidence(&self, code: &str) -> &str {
        let finding = self.findings().find(|finding| finding["code"] == code);
        finding.unwrap_or_else(|| panic!("no {code}: {self}"))["evidence"].as_str().unwrap()
    }

    pub fn validity(&self) -> &str {
        self.run["validity"].as_str().unwrap()
    }

    /// Warnings and errors that the run itself has earned, however loud the neighbours are.
    pub fn own_warnings(&self) -> Vec<&str> {
        self.warnings().filter(|code| !self.of_neighbours().contains(code)).collect()
    }

    /// Whether `code` is among its warnings and errors.
    pub fn warns(&self, code: &str) -> bool {
        self.warnings().any(|warning| warning == code)
    }

    fn warnings(&self) -> impl Iterator<Item = &str> {
        let grave = self.findings().filter(|finding| finding["severity"] != "info");
        grave.map(|finding| finding["code"].as_str().unwrap())
    }

    fn of_neighbours(&self) -> Vec<&'static str> {
        OF_NEIGHBOURS.into_iter().chain(OF_A_BUSY_HOST.into_iter().filter(|_| self.disturbed())).collect()
    }

    /// Whether others used the device or the CPUs, or nothing was left of these.
    pub fn disturbed(&self) -> bool {
        host_was_full(&self.run["steps"][0]) || OF_NEIGHBOURS.iter().any(|code| self.has(code))
    }

    /// Nothing speaks against it but what neighbours did.
    pub fn assert_clean(&self) {
        assert_eq!(self.own_warnings(), [""; 0], "{self}");
        let disturbed = self.warnings().next().is_some();
        assert_eq!(self.validity(), if disturbed { "suspect" } else { "valid" }, "{self}");
    }

    /// The warning `code` makes it suspect.
    pub fn assert_suspect(&self, code: &str) {
        let reported = self.findings().any(|finding| finding["code"] == code && finding["severity"] == "warning");
        assert!(reported, "no warning {code}: {self}");
        // On a busy host a short window may also end late, which is invalid.
        assert!(self.validity() == "suspect" || self.has("short-window"), "{self}");
    }

    pub fn figure(&self, name: &str) -> f64 {
        self.run["steps"][0][name].as_f64().unwrap_or_else(|| panic!("{name} is not known: {self}"))
    }

    /// The figure that stands for the run and why it is called that, in lower case.
    pub fn headline(&self) -> String {
        // The paragraph after the verdict, which may take several lines.
        self.text.split("\n\n").nth(1).unwrap_or_default().to_lowercase()
    }

    fn findings(&self) -> impl Iterator<Item = &Value> {
        self.run["findings"].as_array().unwrap().iter()
    }
}

impl std::fmt::Display for Reported {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

/// `run`, and what `other` does beside it until the flag that it is handed is set.
pub fn beside(other: impl FnOnce(&AtomicBool) + Send, run: impl FnOnce() -> Reported) -> Reported {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| other(&done));
        let reported = catch_unwind(AssertUnwindSafe(run));
        done.store(true, Ordering::SeqCst);
        reported.unwrap_or_else(|panic| resume_unwind(panic))
    })
}

/// The first of three runs that is as it should be; the third as it is.
pub fn tried(run: impl Fn() -> Reported, is_so: impl Fn(&Reported) -> bool) -> Reported {
    (0..2).map(|_| run()).find(is_so).unwrap_or_else(&run)
}

/// The block device that holds `path`, as the kernel numbers it; `None` where a layer hides it.
pub fn device_of(path: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let number = std::fs::metadata(path).unwrap().dev();
    let name = format!("{}:{}", rustix::fs::major(number), rustix::fs::minor(number));
    let folder = PathBuf::from(format!("/sys/dev/block/{name}")).canonicalize().ok()?;
    let disk = if folder.join("partition").exists() { folder.parent()?.to_owned() } else { folder };
    Some(std::fs::read_to_string(disk.join("dev")).ok()?.trim().to_owned())
}
