//! Processes of a private server, and killable processes that own one for a test.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use mindful_core::Result;
use mindful_core::workload::draw::mix64;
use mindful_host::Kernel;
use mindful_host::process::{self, Stat};
use rustix::process::{Pid, Signal, kill_process};

use crate::Notes;
use crate::places::quick_place;

/// Far beyond any guard's patience.
const PATIENCE: Duration = Duration::from_mins(1);

pub fn working_in(folder: &Path) -> Vec<i32> {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let works_there = |pid: &i32| fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.starts_with(&folder));
    all().filter(works_there).collect()
}

/// Fails if one of these processes, which have Unix sockets, listens on TCP.
pub fn assert_no_tcp(pids: &[i32]) {
    // One of them may just have ended.
    let files = pids.iter().filter_map(|pid| fs::read_dir(format!("/proc/{pid}/fd")).ok()).flatten().flatten();
    let links = files.filter_map(|file| fs::read_link(file.path()).ok()?.into_os_string().into_string().ok());
    let sockets: Vec<_> = links.filter_map(|link| Some(link.strip_prefix("socket:[")?.replace(']', ""))).collect();
    assert!(!sockets.is_empty(), "the sockets are not seen");
    let listens = |line: &&str| {
        let columns: Vec<_> = line.split_whitespace().collect();
        columns.get(3) == Some(&"0A") && columns.get(9).is_some_and(|inode| sockets.iter().any(|own| own == inode))
    };
    for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
        let table = fs::read_to_string(table).unwrap_or_default();
        assert_eq!(table.lines().find(listens), None);
    }
}

/// Waits until all have ended; returns the time.
///
/// # Errors
///
/// The processes left after a minute.
pub fn gone(folder: &Path) -> std::result::Result<Duration, Vec<i32>> {
    let began = Instant::now();
    loop {
        let left = working_in(folder);
        if left.is_empty() {
            return Ok(began.elapsed());
        }
        if began.elapsed() > PATIENCE {
            return Err(left);
        }
        // Reading every process takes a millisecond of CPU.
        thread::sleep(Duration::from_millis(50));
    }
}

pub fn kill(pid: i32) {
    if let Some(pid) = Pid::from_raw(pid) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

/// The guard of the private server with its data in `folder`, and the guard's watcher: the server's parent, and that
/// parent's other child.
pub fn guards(folder: &Path) -> Vec<i32> {
    let parent = |pid: i32| {
        let stat = Stat::read(&Kernel::default(), pid.cast_unsigned()).ok()?;
        Some(stat.parent.cast_signed())
    };
    let is_guard =
        |pid: &i32| fs::read_to_string(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line.contains("mindful-guard"));
    let Some(guard) = working_in(folder).into_iter().filter_map(parent).find(is_guard) else { return Vec::new() };
    all().filter(|pid| (*pid == guard || parent(*pid) == Some(guard)) && is_guard(pid)).collect()
}

fn all() -> impl Iterator<Item = i32> {
    process::all(&Kernel::default()).into_iter().map(u32::cast_signed)
}

/// One test of this program in a separate process, which holds a private server.
#[derive(Debug)]
pub struct Owner {
    process: Child,
    output: BufReader<ChildStdout>,
}

impl Owner {
    /// Starts the test `owner` of the module that `module_path!` names, for [`own_server`] in `folder`.
    pub fn start(module: &str, folder: &Path) -> Self {
        let (_program, module) = module.split_once("::").unwrap();
        let mut process = Command::new(env::current_exe().unwrap())
            .args(["--exact", &format!("{module}::owner"), "--nocapture"])
            .env(FOLDER, folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        Self { process, output }
    }

    pub fn wait_for(&mut self, word: &str) {
        let mut lines = (&mut self.output).lines().map_while(Result::ok);
        assert!(lines.any(|line| line.contains(word)), "the owner ended before `{word}`");
    }

    /// Kills only the owner.
    pub fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Time until it prints a line with `word`. It is killed then.
    fn time_until(mut self, word: &str) -> Duration {
        let began = Instant::now();
        self.wait_for(word);
        self.kill();
        began.elapsed()
    }

    /// The last number that it reported as committed since its last load began, once it is killed.
    fn committed(self) -> u32 {
        let printed = self.output.lines().map_while(Result::ok);
        printed.fold(0, |last, line| match line.strip_prefix("committed ") {
            Some(number) => number.parse().unwrap_or(last),
            None if line.contains("loading") => 0,
            None => last,
        })
    }
}

/// The folder of the owner that a test has started.
const FOLDER: &str = "KILL_TEST_FOLDER";
const ROUNDS: &str = "KILL_TEST_ROUNDS";
const SEED: &str = "KILL_TEST_SEED";

/// The work of the test `owner`: opens a server, loads it, and commits numbers, each printed after its commit. Without
/// [`Owner::start`] it does one round and ends.
#[expect(clippy::print_stdout, reason = "an owner prints its numbers for the test that started it")]
pub fn own_server<S>(open: impl FnOnce(&Path) -> S, load: impl Fn(&S), commit: impl Fn(&S, u32)) {
    let folder = env::var_os(FOLDER).map(PathBuf::from);
    let own = quick_place();
    let server = open(folder.as_deref().unwrap_or(&own.path().join("db")));
    let mut next = 1;
    loop {
        println!("loading");
        load(&server);
        println!("at work");
        for _ in 0..50 {
            commit(&server, next);
            println!("committed {next}");
            next += 1;
        }
        if folder.is_none() {
            break;
        }
    }
}

/// Kills owners at random moments: while they create the data folder, start, load, work and restart; sometimes the
/// guard or every process of the server too. `KILL_TEST_ROUNDS` is the number of kills, `KILL_TEST_SEED` the seed of
/// their times.
///
/// `data` is the name of the data folder. `check` receives the server that opens after a kill, and the last number
/// reported as committed since the last load began. It also receives the notes, and words for a failure.
#[expect(clippy::print_stdout, reason = "the test prints how often it killed an owner")]
pub fn kill_owners_at_any_moment<S>(
    kills: u64,
    data: &str,
    module: &str,
    open: impl Fn(&Path) -> (Result<S>, Arc<Notes>),
    check: impl Fn(&S, u32, &Notes, &str),
) {
    let number = |name: &str, default: u64| env::var(name).map_or(default, |text| text.parse().unwrap());
    let (kills, seed) = (number(ROUNDS, kills), number(SEED, 1));
    let draw = |round: u64, what: u64| mix64(seed << 32 | round << 1 | what);
    let (mut place, mut rebuilt) = (quick_place(), 0);
    let [fresh, warm] = [(); 2].map(|()| Owner::start(module, &place.path().join("db")).time_until("at work"));
    for round in 0..kills {
        // Every third round begins without data, to hit the making of the data folder too.
        if round % 3 == 0 {
            place = quick_place();
        }
        let folder = place.path().join("db");
        let data = folder.join(data);
        let mut owner = Owner::start(module, &folder);
        // From the start to some way into the work, however fast this machine is.
        let longest = if round % 3 == 0 { fresh } else { warm } * 5 / 4;
        let moment = longest.mul_f64(draw(round, 0) as f64 / u64::MAX as f64);
        thread::sleep(moment);
        let how = draw(round, 1) % 4;
        if how == 1 {
            guards(&data).into_iter().for_each(kill);
        }
        owner.kill();
        if how == 2 {
            working_in(&data).into_iter().for_each(kill);
        }
        let acknowledged = owner.committed();
        let at = format!("seed {seed}, round {round}, killed after {moment:?}, way {how}");
        if how == 3 {
            let left = gone(&data);
            assert!(left.is_ok(), "{at}: still there: {left:?}\n{}", last_log(&folder));
        }
        let (server, notes) = open(&folder);
        let server = server.unwrap_or_else(|error| panic!("{at}: {error}\n{}\n{}", notes.all(), last_log(&folder)));
        check(&server, acknowledged, &notes, &at);
        rebuilt += u32::from(notes.tell("made again"));
        drop(server);
        assert_eq!(working_in(&data), [] as [i32; 0], "{at}");
    }
    println!("{kills} owners killed, {rebuilt} data folders made again");
}

/// The end of the log of the server in `folder`.
pub fn last_log(folder: &Path) -> String {
    let text = fs::read_to_string(folder.join("server.log")).unwrap_or_default();
    let lines: Vec<_> = text.lines().collect();
    lines[lines.len().saturating_sub(30)..].join("\n")
}
