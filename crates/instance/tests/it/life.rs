//! The life of an instance, with a server that is not PostgreSQL: real processes, signals and files.

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use mindful_conformance::processes::{gone, guards, kill, working_in};
use mindful_conformance::{Notes, names, place};
use mindful_core::contract::OwnedObject;
use mindful_core::contract::event::Events;
use mindful_core::{ErrorKind, Result};
use mindful_instance::account::Account;
use mindful_instance::program::Purpose;
use mindful_instance::{Instance, Order, has_data};
use rustix::process::{Pid, Signal, kill_process};

use crate::tiny::{KIND, Tiny, ask};

const FOLDER: &str = "LIFE_TEST_FOLDER";

fn open_with(place: &Path, tiny: &Tiny) -> (Result<Instance>, Arc<Notes>) {
    open_with_log(place, None, tiny)
}

/// The same with its log in another folder.
pub(crate) fn open_with_log(place: &Path, log: Option<&Path>, tiny: &Tiny) -> (Result<Instance>, Arc<Notes>) {
    // Under the name of a server, and where the server's user can reach it.
    let program = place.join("tiny-server");
    let me = std::env::current_exe().unwrap();
    if !program.exists() && fs::hard_link(&me, &program).is_err() {
        fs::copy(&me, &program).unwrap();
    }
    open_in(place.join("tiny"), log, Tiny { program, ..tiny.clone() })
}

fn open_in(folder: PathBuf, log: Option<&Path>, tiny: Tiny) -> (Result<Instance>, Arc<Notes>) {
    let account = Account::choose(None).unwrap();
    let order = Order { folder, log: log.map(Path::to_owned), account, sessions: 4, page_cache_limit: None };
    let notes = Arc::new(Notes::default());
    let events: Arc<dyn Events> = notes.clone();
    (Instance::open(order, Arc::new(tiny), &events), notes)
}

fn open(place: &Path) -> (Instance, String) {
    let (instance, notes) = open_with(place, &Tiny::default());
    let log = || fs::read_to_string(place.join("tiny/server.log")).unwrap_or_default();
    (instance.unwrap_or_else(|error| panic!("{error}\n{}\n{}", notes.all(), log())), notes.all())
}

fn refusal(place: &Path, tiny: &Tiny) -> String {
    open_with(place, tiny).0.err().expect("it is refused").to_string()
}

pub(crate) fn pid(instance: &Instance) -> i32 {
    instance.pid().cast_signed()
}

pub(crate) fn tell(instance: &Instance, what: &str) -> String {
    ask(instance.socket_folder(), what).unwrap()
}

fn data(place: &Path) -> PathBuf {
    place.join("tiny/data")
}

/// A process that another test starts and kills. Run on its own, it makes a folder and ends in order.
#[test]
fn owner() {
    let folder = std::env::var_os(FOLDER).map(PathBuf::from);
    let own = place();
    let (instance, _) = open(folder.as_deref().unwrap_or(own.path()));
    assert_eq!(tell(&instance, "one"), "written");
    if folder.is_some() {
        println!("at work");
        std::thread::sleep(Duration::from_mins(10));
    }
}

/// Starts an owner in a process of its own, and waits until its server is at work.
fn owner_of(place: &Path) -> Child {
    let mut owner = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "life::owner", "--nocapture"])
        .env(FOLDER, place)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(owner.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("at work")), "the owner ended early");
    owner
}

#[test]
fn a_server_stops_with_its_owner_and_its_data_is_found_again() {
    let place = place();
    let (instance, notes) = open(place.path());
    assert!(notes.contains("made a Tiny 1.0 in "), "{notes}");
    assert_eq!((tell(&instance, "one").as_str(), tell(&instance, "count").as_str()), ("written", "2"));
    assert_eq!(working_in(&data(place.path())), [pid(&instance)]);
    drop(instance);
    assert_eq!(working_in(&data(place.path())), [] as [i32; 0]);
    let (instance, notes) = open(place.path());
    assert_eq!((tell(&instance, "count").as_str(), notes.as_str()), ("2", ""), "there is nothing to repair");
}

#[test]
fn a_killed_server_recovers_and_says_so() {
    let place = place();
    let (instance, _) = open(place.path());
    tell(&instance, "one");
    kill(pid(&instance));
    drop(instance);
    let (instance, notes) = open(place.path());
    assert!(notes.contains("was not shut down the last time: it recovers first"), "{notes}");
    assert_eq!(tell(&instance, "count"), "2");
}

#[test]
fn a_server_ends_when_its_owner_is_killed() {
    let place = place();
    let mut owner = owner_of(place.path());
    assert_eq!(working_in(&data(place.path())).len(), 1);
    owner.kill().unwrap();
    owner.wait().unwrap();
    gone(&data(place.path())).unwrap();
    let (instance, notes) = open(place.path());
    assert_eq!((tell(&instance, "count").as_str(), notes.as_str()), ("2", ""), "the guard stopped it in order");
}

#[test]
fn a_server_that_outlived_owner_and_guard_is_stopped() {
    let place = place();
    let mut owner = owner_of(place.path());
    let left = working_in(&data(place.path()));
    // Its watcher too, which would continue without it.
    guards(&data(place.path())).into_iter().for_each(kill);
    owner.kill().unwrap();
    owner.wait().unwrap();
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(working_in(&data(place.path())), left);
    let (instance, notes) = open(place.path());
    assert!(notes.contains("a server of an earlier run still uses "), "{notes}");
    assert_eq!(working_in(&data(place.path())), [pid(&instance)]);
    assert!(!left.contains(&pid(&instance)));
    assert_eq!(tell(&instance, "count"), "2");
}

#[test]
fn a_second_owner_is_refused_and_the_first_continues() {
    let place = place();
    let (instance, _) = open(place.path());
    let refusal = refusal(place.path(), &Tiny::default());
    assert!(refusal.contains(&format!("process {}", std::process::id())), "{refusal}");
    assert_eq!(tell(&instance, "count"), "1");
}

#[test]
fn settings_that_change_restart_the_server_and_others_do_not() {
    let place = place();
    let (instance, _) = open(place.path());
    assert_eq!(tell(&instance, "settings"), "10 true");
    assert!(!instance.carry(9).unwrap());
    assert!(instance.carry(11).unwrap());
    assert_eq!(tell(&instance, "settings"), "20 true");
    assert!(instance.serve(Purpose::Load).unwrap());
    assert_eq!(tell(&instance, "settings"), "20 false");
    assert!(instance.serve(Purpose::Run).unwrap());
    assert!(!instance.serve(Purpose::Run).unwrap());
}

#[test]
fn a_crash_in_a_load_starts_again_but_an_end_does_not() {
    let place = place();
    let (instance, _) = open(place.path());
    instance.serve(Purpose::Load).unwrap();
    tell(&instance, "one");
    kill(pid(&instance));
    drop(instance);
    let (instance, notes) = open(place.path());
    assert!(notes.contains("made again"), "{notes}");
    assert_eq!(tell(&instance, "count"), "1");
    instance.serve(Purpose::Load).unwrap();
    tell(&instance, "one");
    drop(instance);
    let (instance, notes) = open(place.path());
    assert_eq!((tell(&instance, "count").as_str(), notes.as_str()), ("2", ""));
}

#[test]
fn a_failed_start_is_reported_with_cause_and_next_step() {
    let place = place();
    drop(open(place.path()));
    let refusal = refusal(place.path(), &Tiny { trouble: Some("the disk is on fire"), ..Tiny::default() });
    assert!(refusal.contains("Tiny 1.0 did not start: the disk is on fire"), "{refusal}");
    assert!(refusal.contains("server.log; call the fire brigade") && refusal.lines().count() == 1, "{refusal}");
    assert_eq!(tell(&open(place.path()).0, "count"), "1");
}

/// A server that listens before it handles its stop signal would be waited for until the guard kills it.
#[test]
fn a_server_that_listens_is_ready_only_when_it_greets() {
    let place = place();
    let began = Instant::now();
    let instance = open_with(place.path(), &Tiny { slow: 700, ..Tiny::default() }).0.unwrap();
    assert!(began.elapsed() > Duration::from_millis(700));
    drop(instance);
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}

/// The duration of the stop of a server that prints `said` instead of stopping in order, and the notes. `meanwhile`
/// gets the instance before.
fn stopped_deaf(said: &'static str, meanwhile: impl FnOnce(Arc<Instance>)) -> (Duration, String) {
    let place = place();
    let (instance, notes) = open_with(place.path(), &Tiny { deaf: Some(said), ..Tiny::default() });
    let instance = Arc::new(instance.unwrap());
    meanwhile(Arc::clone(&instance));
    let began = Instant::now();
    instance.close();
    assert_eq!(working_in(&data(place.path())), [] as [i32; 0]);
    (began.elapsed(), notes.all())
}

#[test]
fn a_crashed_server_is_ended_at_once_instead_of_waited_for() {
    let (took, notes) = stopped_deaf("[PANIC] PANIC: no space", drop);
    assert!(took < Duration::from_secs(8) && notes.contains("crashed (no space)"), "{took:?}: {notes}");
}

#[test]
fn a_server_that_stops_without_progress_is_ended_at_once() {
    let (took, notes) = stopped_deaf("[PANIC]\n[READY]", drop);
    assert!(took > Duration::from_secs(9) && took < Duration::from_secs(30), "{took:?}: {notes}");
    assert!(notes.contains("still stopping") && notes.contains("stops making progress"), "{notes}");
}

#[test]
fn a_wait_for_a_server_is_cut_short_from_another_thread() {
    let cut = |instance: Arc<Instance>| {
        // No wait is under way, so this call has no effect.
        instance.cut_wait_short();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_secs(4));
            instance.cut_wait_short();
        });
    };
    let (took, notes) = stopped_deaf("", cut);
    assert!(took > Duration::from_secs(4) && took < Duration::from_secs(9), "{took:?}: {notes}");
    let place = place();
    let (instance, _) = open_with(place.path(), &Tiny { slow: 6_000, ..Tiny::default() });
    let instance = Arc::new(instance.unwrap());
    let restarting = Arc::clone(&instance);
    let restarted = std::thread::spawn(move || restarting.carry(100));
    std::thread::sleep(Duration::from_secs(2));
    instance.cut_wait_short();
    let error = restarted.join().unwrap().unwrap_err();
    assert_eq!(error.kind, ErrorKind::Interrupted, "{error}");
}

#[test]
fn a_stopped_guard_is_not_waited_for() {
    let stop_guards = |instance: Arc<Instance>| {
        for pid in guards(&instance.data()) {
            kill_process(Pid::from_raw(pid).unwrap(), Signal::STOP).unwrap();
        }
    };
    let (took, notes) = stopped_deaf("", stop_guards);
    assert!(took < Duration::from_secs(40), "{took:?}: {notes}");
    // Its server ends, but it does not.
    let place = place();
    let (instance, _) = open(place.path());
    let guard = guards(&instance.data())[0];
    kill_process(Pid::from_raw(guard).unwrap(), Signal::STOP).unwrap();
    let began = Instant::now();
    instance.close();
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
}

#[test]
fn half_a_data_folder_is_never_used() {
    let place = place();
    let refusal = refusal(place.path(), &Tiny { barren: true, ..Tiny::default() });
    assert!(refusal.contains("/bin/sh: no room"), "{refusal}");
    let folder = place.path().join("tiny");
    assert!(!has_data(&folder, &KIND).unwrap());
    // An unfinished folder of a killed mindful.
    fs::create_dir(folder.join("data.new.1.1")).unwrap();
    let (instance, _) = open(place.path());
    assert!(has_data(&folder, &KIND).unwrap() && !folder.join("data.new.1.1").exists());
    assert_eq!(tell(&instance, "count"), "1");
}

#[test]
fn destruction_removes_only_our_files() {
    let place = place();
    let (instance, _) = open(place.path());
    let folder = instance.folder().to_owned();
    let owned = |others: &[&str], inventory: &[OwnedObject]| {
        instance.owned(others.iter().map(|name| (*name).to_owned()).collect(), inventory).unwrap()
    };
    let bare = owned(&[], &[]);
    assert!(bare.bytes > Some(0) && bare.kept_because.is_none() && folder.join("motto").exists());
    let stays = OwnedObject { name: "table x".to_owned(), bytes: None, kept_because: Some("not ours".to_owned()) };
    let kept = owned(&[], &[bare, stays]).kept_because;
    assert_eq!(kept.as_deref(), Some("it also holds table x, not mindful's"));
    fs::write(folder.join("letter.txt"), "dear").unwrap();
    assert_eq!(owned(&[], &[]).kept_because.as_deref(), Some("it also holds letter.txt, not mindful's"));
    let kept = owned(&["schema b", "schema b", "schema a"], &[]).kept_because;
    assert_eq!(kept.as_deref(), Some("it also holds letter.txt and 2 more, not mindful's"));
    instance.destroy().unwrap();
    assert_eq!((working_in(&data(place.path())), names(&folder)), (vec![], vec![PathBuf::from("letter.txt")]));
    drop(instance);
    fs::remove_file(folder.join("letter.txt")).unwrap();
    open(place.path()).0.destroy().unwrap();
    assert!(!folder.exists());
}

#[test]
fn a_path_too_long_for_a_socket_is_no_obstacle() {
    let place = place();
    let deep = place.path().join("long-".repeat(20));
    fs::create_dir(&deep).unwrap();
    let (instance, _) = open(&deep);
    assert_eq!(tell(&instance, "count"), "1");
    let socket = instance.socket_folder().to_owned();
    assert!(!socket.starts_with(place.path()));
    kill(pid(&instance));
    drop(instance);
    assert!(!socket.exists(), "a socket of a killed server goes too");
}

#[test]
fn a_temporary_folder_too_long_for_a_socket_is_refused() {
    let place = place();
    let deep = place.path().join("long-".repeat(20));
    fs::create_dir(&deep).unwrap();
    let mut owner = Command::new(std::env::current_exe().unwrap());
    owner.args(["--exact", "life::owner"]).env(FOLDER, &deep).env("TMPDIR", &deep).stdin(Stdio::null());
    let output = String::from_utf8_lossy(&owner.output().unwrap().stdout).into_owned();
    assert!(
        output.contains("/socket is too long for the path of a socket") && output.contains("by TMPDIR"),
        "{output}"
    );
}

#[test]
fn as_root_the_server_runs_as_its_own_user() {
    if rustix::process::geteuid().as_raw() != 0 {
        return mindful_conformance::not_run("only root starts a server as somebody else");
    }
    let place = place();
    let (instance, _) = open(place.path());
    let own = Account::choose(None).unwrap();
    let owner = |path: &Path| (fs::metadata(path).unwrap().uid(), fs::metadata(path).unwrap().mode() & 0o7777);
    for path in [instance.data(), instance.socket_folder().to_owned()] {
        assert_eq!(owner(&path), (own.uid, 0o700), "{}", path.display());
    }
    assert_eq!(owner(Path::new(&format!("/proc/{}", instance.pid()))).0, own.uid);
    assert_eq!(owner(instance.folder()), (0, 0o710));
}

#[test]
fn a_folder_below_another_users_is_refused_by_root() {
    if !rustix::process::geteuid().is_root() {
        return mindful_conformance::not_run("only root gives folders away");
    }
    let top = place();
    let theirs = top.path().join("theirs");
    fs::create_dir(&theirs).unwrap();
    let refused = |owner: u32, mode: u32| {
        std::os::unix::fs::chown(&theirs, Some(owner), None).unwrap();
        fs::set_permissions(&theirs, Permissions::from_mode(mode)).unwrap();
        let refusal = open_in(theirs.join("tiny"), None, Tiny::default()).0.err().expect("it is refused");
        assert_eq!(names(&theirs), [] as [PathBuf; 0]);
        refusal.to_string()
    };
    let refusal = refused(65_534, 0o755);
    assert!(refusal.contains("theirs belongs to user number 65534") && refusal.contains("/var/lib"), "{refusal}");
    assert!(refused(0, 0o777).contains("theirs may be written by others"));
}
