//! Servers that misbehave: whatever they send, mindful ends soon, with exit code 3 and one line, and in little memory.

#[cfg(feature = "mysql")]
mod mysql;
#[cfg(feature = "postgres")]
mod postgres;

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::mindful::{Mindful, message};
use crate::stops::{self, end_of, signal};

/// Longest that a verb may take, on a busy host too. The longest wait is 30 times a timeout of a second.
const PATIENCE: Duration = Duration::from_mins(2);
const MEMORY: usize = 384 << 10;
/// Most of them wait for a second or more.
const AT_A_TIME: usize = 8;

/// What a server does after its answer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    Close,
    Silence,
    /// It repeats the answer without end.
    Again,
}

/// A way to misbehave: its name, its begin, its answer, and what follows.
struct Case<Stage> {
    name: &'static str,
    at: Stage,
    says: Vec<u8>,
    then: Then,
}

fn case<Stage>(name: &'static str, at: Stage, says: impl AsRef<[u8]>, then: Then) -> Case<Stage> {
    Case { name, at, says: says.as_ref().to_vec(), then }
}

impl<Stage> Case<Stage> {
    fn misbehave(&self, stream: &mut TcpStream) {
        let _ = stream.write_all(&self.says);
        while self.then == Then::Again && stream.write_all(&self.says).is_ok() {}
        if self.then == Then::Close {
            let _ = stream.shutdown(Shutdown::Write);
        }
        // Until the other side closes, so that nothing unread resets the connection.
        let mut rest = [0; 4096];
        while matches!(stream.read(&mut rest), Ok(1..)) {}
    }
}

/// Runs `verify` against a server for each case; `url` names it by its port, and `serve` is given the number of the connection.
fn all_end<Stage: Sync>(
    cases: &[Case<Stage>],
    url: impl Fn(&Case<Stage>, u16) -> String + Sync,
    serve: impl Fn(&Case<Stage>, TcpStream, usize) + Sync + Send + Copy,
) {
    let mindful = Mindful::new();
    let next = AtomicUsize::new(0);
    let ends = || {
        let mut wrong = Vec::new();
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::SeqCst)) {
            let ended = serving(case, |port| end(&mindful, &url(case, port)), serve);
            wrong.extend(ended.err().map(|how| format!("{}: {how}", case.name)));
        }
        wrong
    };
    let wrong: Vec<String> = thread::scope(|scope| {
        let threads: Vec<_> = (0..AT_A_TIME).map(|_| scope.spawn(ends)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

/// Does `work` while a server for `case` is at the port.
fn serving<Stage: Sync, T>(
    case: &Case<Stage>,
    work: impl FnOnce(u16) -> T,
    serve: impl Fn(&Case<Stage>, TcpStream, usize) + Sync + Send + Copy,
) -> T {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let over = AtomicUsize::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            for (number, stream) in listener.incoming().flatten().enumerate() {
                if over.load(Ordering::SeqCst) == 1 {
                    break;
                }
                scope.spawn(move || serve(case, stream, number));
            }
        });
        let done = work(listener.local_addr().unwrap().port());
        over.store(1, Ordering::SeqCst);
        let _ = TcpStream::connect(listener.local_addr().unwrap());
        done
    })
}

/// Each verb that asks a server ends at the first signal, while the server of `case` lets it wait.
fn a_signal_ends_verbs<Stage: Sync>(
    case: &Case<Stage>,
    url: impl Fn(&Case<Stage>, u16) -> String + Sync,
    serve: impl Fn(&Case<Stage>, TcpStream, usize) + Sync + Send + Copy,
) {
    let mindful = Mindful::new();
    let ends = |verb: &str, asked: Signal| {
        let work = |port| {
            let mut child = mindful.start((verb, format!("--target={}", url(case, port))));
            thread::sleep(Duration::from_secs(2));
            signal(&child, asked);
            end_of(&mut child)
        };
        let (code, took) = serving(case, work, serve);
        assert!(code == Some(130) && took < stops::PATIENCE, "{verb:?}: {code:?} after {took:?}");
    };
    let verbs = "run,sweep,load,verify,verify --full,cleanup --yes,doctor,watch";
    thread::scope(|scope| {
        for (verb, asked) in verbs.split(',').zip([Signal::INT, Signal::TERM].into_iter().cycle()) {
            let ends = &ends;
            scope.spawn(move || ends(verb, asked));
        }
    });
}

fn end(mindful: &Mindful, url: &str) -> Result<(), String> {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -d {MEMORY}; exec timeout {} \"$0\" \"$@\"", PATIENCE.as_secs())]);
    command.args([env!("CARGO_BIN_EXE_mindful"), "verify", "--target", url]);
    let began = Instant::now();
    let output = mindful.at_home(command).envs([("PGPASSWORD", "pw"), ("MYSQL_PWD", "pw")]).output().unwrap();
    let (said, took) = (message(&output), began.elapsed());
    let is_text = |c: char| !c.is_control() && !matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let line = said.strip_suffix('\n').is_some_and(|line| line.starts_with("mindful: ") && line.chars().all(is_text));
    if output.status.code() == Some(3) && line {
        Ok(())
    } else {
        Err(format!("{} in {took:?}: {said:?}", output.status))
    }
}
