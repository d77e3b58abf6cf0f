//! `watch --instance` on a real server: the work of two databases is counted together, and without it that of one.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

use mindful_conformance::quick_place;
use rustix::process::Signal;
use serde_json::Value;

use crate::mindful::users_server::UsersServer;
use crate::mindful::{Mindful, Words};
use crate::stops;

/// Transactions in the database of the target, and in the other one.
const COMMITS: [f64; 2] = [300.0, 200.0];
/// Those of the watch itself and of the server.
const OTHERS: f64 = 150.0;
const INTERVAL_S: f64 = 0.5;

struct Watching {
    process: Child,
    seconds: Box<dyn Iterator<Item = Value>>,
}

impl Watching {
    /// A watch of `server` that has read its counters.
    fn start(mindful: &Mindful, server: &UsersServer, more: impl Words) -> Self {
        let url = server.url();
        let args = "watch --interval 500ms --duration 60s --format json --target";
        let mut command = mindful.command((args, [url.as_str()], more));
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines().map_while(Result::ok);
        let mut seconds = lines.map(|line| serde_json::from_str(&line).unwrap());
        assert!(seconds.next().is_some());
        Self { process, seconds: Box::new(seconds) }
    }

    /// Reads on until there are `least` commits; how many commits and logical reads there were.
    fn until(&mut self, least: f64) -> [f64; 2] {
        let mut counted = [0.0; 2];
        for second in self.seconds.by_ref() {
            for (sum, name) in counted.iter_mut().zip(["commits", "logical_reads"]) {
                let rate = second["per_s"][format!("pg_stat_database/{name}")].as_f64();
                *sum += rate.unwrap_or_else(|| panic!("{name} is not known: {second:#}")) * INTERVAL_S;
            }
            if counted[0] >= least {
                break;
            }
        }
        counted
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        stops::signal(&self.process, Signal::INT);
        self.process.wait().unwrap();
    }
}

#[test]
fn an_instance_is_all_databases_of_its_server() {
    let mindful = Mindful::beside_others(quick_place());
    let server = UsersServer::at(&mindful.path("users"), "fsync=off,autovacuum=off");
    let (own, other) = (server.place().2, "other");
    server.sql("CREATE DATABASE other");
    for database in [own, other] {
        server.sql_in(database, "CREATE TABLE counted (n int)");
    }
    let mut of_instance = Watching::start(&mindful, &server, "--instance");
    let mut of_own = Watching::start(&mindful, &server, "");
    for (database, commits) in [own, other].into_iter().zip(COMMITS) {
        let work =
            format!("DO $$ BEGIN FOR i IN 1..{commits} LOOP INSERT INTO counted VALUES (i); COMMIT; END LOOP; END $$");
        server.sql_in(database, &work);
    }
    // Rates are by the time between two readings, which is not quite the interval.
    let all: f64 = COMMITS.iter().sum();
    let [commits, reads] = of_instance.until(0.9 * all);
    assert!(commits >= 0.9 * all && reads >= commits, "{commits} commits and {reads} reads of {all} in the instance");
    let [commits, reads] = of_own.until(0.9 * COMMITS[0]);
    assert!((0.9 * COMMITS[0]..COMMITS[0] + OTHERS).contains(&commits), "{commits} commits of {}", COMMITS[0]);
    assert!(reads >= commits, "{reads} reads of {commits} commits");
    let line = mindful.text(["watch", "--instance", "--duration", "1s", "--target", &server.url()]);
    assert!(["- server -", " host "].iter().all(|scope| line.contains(scope)) && !line.contains("database"), "{line}");
}
