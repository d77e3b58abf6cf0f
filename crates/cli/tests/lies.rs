//! Runs that would claim more than they are, each caught: by its headline, its code, or both.
#![cfg(all(target_os = "linux", feature = "postgres"))]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let open = std::fs::Permissions::from_mode(0o755);
        Self { folder: tempfile::Builder::new().prefix("mindful-lies-").permissions(open).tempdir().unwrap() }
    }

    /// A short run on the private server with its summary.
    fn run(&self, args: &[&str]) -> Value {
        let output = self.output(args);
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr)))
    }

    fn output(&self, args: &[&str]) -> Output {
        let data = self.folder.path().join("pg");
        let mut command = Command::new(env!("CARGO_BIN_EXE_mindful"));
        command.args(["run", "--format", "json", "--target", "embedded", "--data-dir"]).arg(data);
        command.args(["--schemas", "2", "--scale", "64MiB", "--warmup", "1s", "--duration", "3s"]).args(args);
        command.current_dir(self.folder.path()).env("MINDFUL_STORE", self.folder.path().join("store"));
        command.stdin(Stdio::null()).output().unwrap()
    }
}

fn codes(run: &Value) -> Vec<&str> {
    run["findings"].as_array().unwrap().iter().map(|finding| finding["code"].as_str().unwrap()).collect()
}

fn page_cache_share(run: &Value) -> f64 {
    run["steps"][0]["page_cache_share"].as_f64().unwrap()
}

/// Root may make control groups; others are refused with the way out, and that is what is tested then.
#[test]
fn a_warm_page_cache_is_told_and_a_limit_takes_it_out_of_the_way() {
    let bench = Bench::new();
    let buffered = ["--sessions", "2", "--set", "debug_io_direct="];
    bench.run(&buffered);
    let warm = bench.run(&buffered);
    assert!(page_cache_share(&warm) > 0.5, "{warm:#}");
    assert!(codes(&warm).contains(&"page-cache") && codes(&warm).contains(&"pg-page-cache-ahead"), "{warm:#}");
    let with_limit = [&buffered[..], &["--page-cache-limit", "80MiB"]].concat();
    if rustix::process::geteuid().is_root() {
        let limited = bench.run(&with_limit);
        assert!(page_cache_share(&limited) < page_cache_share(&warm) / 2.0, "{limited:#}");
    } else {
        let refused = String::from_utf8(bench.output(&with_limit).stderr).unwrap();
        assert!(refused.contains("mindful squeeze"), "{refused}");
    }
}

#[test]
fn updates_with_little_room_for_the_log_are_told_beforehand() {
    let run =
        Bench::new().run(&["--sessions", "2", "--update-pct", "50", "--set", "max_wal_size=32MB,min_wal_size=32MB"]);
    assert!(codes(&run).contains(&"pg-forced-checkpoints"), "{run:#}");
}
