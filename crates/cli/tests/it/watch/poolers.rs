//! `doctor` and `watch` through Debian's PgBouncer: its session mode hides nothing from them, its other modes are
//! refused.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::MetadataExt;
use std::process::{Output, Stdio};

use mindful_conformance::not_run;
use rustix::process::Signal;
use serde_json::Value;

use crate::mindful::processes::stat;
use crate::mindful::users_server::UsersServer;
use crate::mindful::{Mindful, Words, assert_has, codes, json, json_lines, printed, refused_with};
use crate::pgbouncer::{self, Behind, Pooler};
use crate::stops::{self, standstill::children};
use mindful_conformance::place;

/// A role that the server accepts without a password.
const ROLE: &str = "pooled";

const DOCTOR: &str = "doctor --format json";
const WATCH: &str = "watch --duration 3s --format json";

/// A user's server, and the URL that leads to it past any pooler; `None` without PgBouncer.
fn server(mindful: &Mindful) -> Option<(UsersServer, String)> {
    pgbouncer::at_hand().then(|| {
        let server = UsersServer::start(mindful, "shared_buffers=16MB");
        server.sql(&format!("CREATE ROLE {ROLE} SUPERUSER LOGIN"));
        let url = server.admit(mindful, ROLE);
        (server, url)
    })
}

/// A pooler before it, which runs as the server does: no other user may use the server's socket.
fn before(server: &UsersServer, mode: &str) -> Pooler {
    let (folder, port, database) = server.place();
    let socket = fs::metadata(folder.join(format!(".s.PGSQL.{port}"))).unwrap();
    let account = Some((socket.uid(), socket.gid()));
    Pooler::start(&Behind { folder: &folder, port, database, role: ROLE, account }, mode, 20)
}

fn ask(mindful: &Mindful, verb: impl Words, url: &str) -> Output {
    mindful.run((verb, &format!("--target {url} --namespace behind")))
}

#[test]
fn doctor_and_watch_refuse_a_pooler_that_moves_sessions() {
    let mindful = Mindful::beside_others(place());
    let Some((server, _)) = server(&mindful) else { return };
    for mode in ["transaction", "statement"] {
        let pooler = before(&server, mode);
        for verb in [DOCTOR, "doctor", WATCH, "watch --duration 3s"] {
            let output = ask(&mindful, verb, &pooler.url());
            assert_has(refused_with(3, &output), "changes between statements…session mode…the server's own port");
        }
    }
}

#[test]
fn doctor_and_watch_see_through_a_pooler_that_keeps_sessions() {
    let mindful = Mindful::beside_others(place());
    let Some((server, url)) = server(&mindful) else { return };
    let pooler = before(&server, "session");
    // Findings of the checks of a server; the host's own findings vary.
    let of_servers = ["server-setting", "predicted-hits", "page-cache-ahead", "checkpoints-ahead", "replication"];
    let of_server = |url: &str| -> Vec<String> {
        let findings = json(&ask(&mindful, DOCTOR, url));
        codes(&findings).into_iter().filter(|code| of_servers.contains(code)).map(str::to_owned).collect()
    };
    let seen = of_server(&pooler.url());
    assert!(!seen.is_empty());
    assert_eq!(seen, of_server(&url), "past the pooler");
    let watched = ask(&mindful, WATCH, &pooler.url());
    assert_eq!(watched.status.code(), Some(0), "{watched:?}");
    let seconds = json_lines(&printed(&watched));
    assert!(!seconds.is_empty());
    let figure = |second: &Value, name: &str| second["per_s"][name].as_f64();
    // The transactions of watch itself are committed too; a server process publishes them once a second at most.
    let commits: f64 = seconds.iter().filter_map(|second| figure(second, "pg_stat_database/commits")).sum();
    assert!(commits > 0.0, "{seconds:#?}");
    let of_server = seconds.iter().all(|second| figure(second, "processes/server_cpu_user").is_some());
    assert!(of_server, "the processes are the server's, not the pooler's: {seconds:#?}");
}

/// Processes of the server with real-time priority (round robin, policy 2 in the kernel).
fn going_first(server: &UsersServer) -> Vec<u32> {
    let of_server = children(server.pid()).into_iter().map(|(pid, _)| pid);
    of_server.filter(|pid| stat(*pid).get(38).is_some_and(|policy| policy == "2")).collect()
}

#[test]
fn a_second_signal_leaves_no_pooled_process_going_first() {
    let mindful = Mindful::beside_others(place());
    let Some((server, _)) = server(&mindful) else { return };
    let pooler = before(&server, "session");
    let watch = ["watch", "--duration", "5m", "--format", "json", "--namespace", "behind", "--target", &pooler.url()];
    let mut watching = mindful.command(watch).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    // The counters are read after the first second: the pooler does not close a connection that it finds idle.
    BufReader::new(watching.stdout.as_mut().unwrap()).read_line(&mut String::new()).unwrap();
    let raised = going_first(&server);
    // Both signals arrive together, so that no orderly end comes between them.
    for sent in [Signal::STOP, Signal::INT, Signal::TERM, Signal::CONT] {
        stops::signal(&watching, sent);
    }
    let (code, _) = stops::end_of(&mut watching);
    assert_eq!(code, Some(130));
    if raised.is_empty() {
        return not_run("it needs root, so that a process may go first");
    }
    let kept = raised.iter().filter(|pid| fs::exists(format!("/proc/{pid}")).unwrap());
    assert!(kept.count() > 0, "the pooler kept none of {raised:?}");
    assert_eq!(going_first(&server), [0; 0]);
}
