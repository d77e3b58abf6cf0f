//! One sample of all sessions, over a separate connection.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use mindful_core::Result;
use mindful_core::contract::event::{Event, Events, emit_note};
use mindful_core::contract::wait::{WaitClass, WaitEvent};
use mindful_core::result::finding::codes;
use mindful_host::{Kernel, kernel_file, process};
use mindful_sql::observe::wait_sampling as sampling;

use super::doing::{ALL, Doing, OTHER_THREAD, OTHERS, SLEEP, Thread, event_of, tell_row_locks};
use crate::connect::Conn;
use crate::connect::link::{Link, Open};
use crate::connect::thread::server_of;
use crate::error::Failure;
use crate::flavor::Flavor;
use crate::observe::status;

/// Longest wait for a thread to get a CPU on a full host.
const FOR_A_CPU: Duration = Duration::from_secs(2);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// Waits of the performance schema.
    Events,
    /// Its threads; the kernel reports their state.
    Threads,
    /// The process list of MariaDB, likewise.
    ProcessList,
}

impl Source {
    const fn sql(self) -> &'static str {
        match self {
            Self::Events => include_str!("../../../sql/waits_events.sql"),
            Self::Threads => include_str!("../../../sql/waits_threads.sql"),
            Self::ProcessList => include_str!("../../../sql/waits_processlist.sql"),
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct View {
    source: Source,
    /// The server's thread that answers, if it is on this host.
    own: Option<u32>,
    /// Whether the kernel shows what a sleeping thread waits for.
    latches: bool,
}

impl View {
    /// Latches have a separate class or are omitted: an unknown event would be missing from all shares.
    fn tells_apart(self, state: Thread) -> Thread {
        if state == Thread::AtLatch && !self.latches { Thread::Sleeps } else { state }
    }
}

enum Hidden {
    Denied,
    /// The server is elsewhere and keeps no waits.
    NotKept,
}

pub(super) struct Monitor {
    link: Arc<Link>,
    connection: Open,
    view: View,
    /// Sessions of other ranks are not distinguished from foreign ones.
    among_ranks: bool,
    kernel: Kernel,
    /// Threads of the last sampled sessions, on this host.
    threads: Vec<u32>,
    by_session: Vec<(u32, WaitClass)>,
}

impl Monitor {
    /// Connects; if nothing can be sampled, returns the remedy.
    pub(super) fn open(link: &Arc<Link>, among_ranks: bool, events: &dyn Events) -> Result<Option<Self>> {
        let mut connection = link.connect()?;
        let (flavor, local, kernel) = (link.version()?.flavor, link.server().is_local(), Kernel::default());
        let looked = |conn: &mut Conn| best(conn, flavor, local, &kernel);
        match link.run_on(&mut connection, "sampling what sessions wait for", looked)? {
            Ok(view) => {
                let (link, threads, by_session) = (Arc::clone(link), Vec::new(), Vec::new());
                return Ok(Some(Self { link, connection, view, among_ranks, kernel, threads, by_session }));
            }
            Err(Hidden::Denied) => events.emit(Event::Finding(codes::COUNTERS_DENIED.finding(
                "the role may not read waits of sessions, so shares of waits are missing: \
                 GRANT SELECT ON performance_schema.* to the role",
                "performance_schema.threads, events_waits_current",
            ))),
            Err(Hidden::NotKept) => emit_note(
                events,
                "the waits of sessions are unknown: the server is not on this host and does not record \
                 waits (performance_schema = ON, and UPDATE performance_schema.setup_consumers SET enabled = 'YES' \
                 WHERE name = 'events_waits_current')",
            ),
        }
        Ok(None)
    }

    /// The classes it can report; other classes are unknown.
    pub(super) fn events(&self) -> Vec<WaitEvent> {
        let is_known = |event: &WaitEvent| match event.class {
            WaitClass::Writer => self.view.source == Source::Events,
            WaitClass::Contention => self.view.source == Source::Events || self.view.latches,
            WaitClass::Server => !self.among_ranks,
            _ => true,
        };
        ALL.into_iter().filter(is_known).collect()
    }
}

impl sampling::Monitor for Monitor {
    fn sample(&mut self) -> Result<Vec<(WaitEvent, f64)>> {
        let numbers = self.link.sessions();
        let sessions: Vec<u32> = numbers.keys().copied().collect();
        if sessions.is_empty() {
            return Ok(Vec::new());
        }
        let (source, ours) = (self.view.source, self.link.connections());
        let mut found = self.link.run_on(&mut self.connection, "sampling what sessions wait for", |conn| {
            query_sessions(conn, source, &sessions, &ours)
        })?;
        let others = found.extract_if(.., |id, _| !sessions.contains(id));
        let others = others.filter(|(_, (_, doing))| event_of(doing) != SLEEP).count();
        let here = self.view.own.is_some();
        self.threads = found.values().map(|(thread, _)| *thread).filter(|thread| here && *thread > 0).collect();
        let seen = |(thread, mut doing): (u32, Doing)| {
            let state = self.view.own.and_then(|_| state_of(&self.kernel, thread));
            doing.thread = state.map(|state| self.view.tells_apart(state));
            event_of(&doing)
        };
        let ids: Vec<u32> = found.keys().copied().collect();
        let mut events: Vec<_> = found.into_values().map(seen).collect();
        if events.contains(&OTHER_THREAD) {
            let name = "Innodb_row_lock_current_waits";
            let counted = self
                .link
                .run_on(&mut self.connection, "counting waits for row locks", |conn| status::read(conn, &[name]))?;
            events = tell_row_locks(events, counted.get(name).copied().unwrap_or(0.0));
        }
        let by_session = ids.iter().zip(&events).filter_map(|(id, event)| Some((*numbers.get(id)?, event.class)));
        self.by_session = by_session.collect();
        Ok(events.into_iter().map(|event| (event, 1.0)).chain([(OTHERS, others as f64)]).collect())
    }

    fn by_session(&self) -> Vec<(u32, WaitClass)> {
        self.by_session.clone()
    }

    fn threads(&self) -> Vec<u32> {
        self.threads.clone()
    }

    fn server_cpu(&self) -> Option<Duration> {
        self.view.own.and_then(|thread| process::cpu(&self.kernel, thread))
    }
}

fn best(conn: &mut Conn, flavor: Flavor, local: bool, kernel: &Kernel) -> Result<Result<View, Hidden>, Failure> {
    let id = conn.connection_id();
    let here = if flavor == Flavor::MariaDb { Source::ProcessList } else { Source::Threads };
    let mut denied = false;
    for source in [Source::Events, here] {
        let found = match source {
            Source::Events => look_at_events(conn, id),
            _ if local => query_sessions(conn, source, &[id], &[id]),
            _ => Ok(Found::new()),
        };
        match found {
            Ok(found) => {
                let thread = found.get(&id).map(|(thread, _)| *thread);
                let own = thread.filter(|thread| local && server_of(kernel, *thread).is_some());
                if own.is_some() || (source == Source::Events && thread.is_some()) {
                    let latches = own.is_some_and(|own| latches_are_visible(kernel, own));
                    return Ok(Ok(View { source, own, latches }));
                }
            }
            Err(failure) if failure.lacks_right() => denied = true,
            // A server that lacks a view or a column of it.
            Err(failure) if failure.code().is_some() => {}
            Err(failure) => return Err(failure),
        }
    }
    Ok(Err(if denied { Hidden::Denied } else { Hidden::NotKept }))
}

type Found = BTreeMap<u32, (u32, Doing)>;

/// No session if the server does not record waits.
fn look_at_events(conn: &mut Conn, id: u32) -> Result<Found, Failure> {
    if waits_are_kept(conn)? { query_sessions(conn, Source::Events, &[id], &[id]) } else { Ok(Found::new()) }
}

fn waits_are_kept(conn: &mut Conn) -> Result<bool, Failure> {
    if conn.query_first::<bool>("SELECT @@GLOBAL.performance_schema = 1")? != Some(true) {
        return Ok(false);
    }
    let kept: Option<Option<bool>> = conn.query_first(include_str!("../../../sql/waits_kept.sql"))?;
    Ok(kept.flatten() == Some(true))
}

/// A row of any source: connection, thread, command, state, wait, activity.
type Row = (u32, Option<u32>, String, String, Option<String>, Option<String>);

/// The activity of `sessions`, and working sessions that are not `ours`.
fn query_sessions(conn: &mut Conn, source: Source, sessions: &[u32], ours: &[u32]) -> Result<Found, Failure> {
    let listed = |ids: &[u32]| ids.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    let sql = source.sql().replace("{{sessions}}", &listed(sessions)).replace("{{ours}}", &listed(ours));
    let rows: Vec<Row> = conn.query(sql)?;
    // Of waits within waits the innermost comes last, and stays.
    let found = rows.into_iter().map(|(id, thread, command, state, event, operation)| {
        let wait = event.map(|event| (event, operation.unwrap_or_default()));
        (id, (thread.unwrap_or(0), Doing { command, state, wait, thread: None }))
    });
    Ok(found.collect())
}

/// The place where a thread sleeps in the kernel; `None` if that is hidden.
fn asleep_in(kernel: &Kernel, thread: u32) -> Option<String> {
    kernel_file::value(process::folder(kernel, thread).join("wchan")).filter(|place| place != "0")
}

/// Whether the kernel shows where threads sleep. The test is a thread that waits for our next query, as soon as it has
/// had the CPU to reach that point.
fn latches_are_visible(kernel: &Kernel, own: u32) -> bool {
    let (until, mut kept_from_us) = (Instant::now() + FOR_A_CPU, 0);
    while kept_from_us < 5 && Instant::now() < until {
        thread::sleep(Duration::from_millis(1));
        if asleep_in(kernel, own).is_some() {
            return true;
        }
        kept_from_us += u32::from(letter_of(kernel, own) != Some('R'));
    }
    false
}

fn letter_of(kernel: &Kernel, thread: u32) -> Option<char> {
    let stat = fs::read_to_string(process::folder(kernel, thread).join("stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

fn state_of(kernel: &Kernel, thread: u32) -> Option<Thread> {
    Some(match letter_of(kernel, thread)? {
        'R' => Thread::Runs,
        'D' => Thread::AtStorage,
        _ => match asleep_in(kernel, thread) {
            Some(place) if place.contains("futex") => Thread::AtLatch,
            Some(place) if place.contains("poll") => Thread::AtClient,
            _ => Thread::Sleeps,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: u32 = 7;

    fn shows(folder: &std::path::Path, letter: char, place: &str) {
        fs::write(folder.join("7/stat"), format!("7 (one_connection) {letter} 1 7 7")).unwrap();
        fs::write(folder.join("7/wchan"), place).unwrap();
    }

    fn at_work() -> (tempfile::TempDir, Kernel) {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("7")).unwrap();
        shows(folder.path(), 'R', "0");
        let kernel = Kernel { proc: folder.path().to_owned(), ..Kernel::default() };
        (folder, kernel)
    }

    #[test]
    fn a_thread_that_waits_long_for_a_cpu_shows_its_last_sleep() {
        let (folder, kernel) = at_work();
        let visible = thread::scope(|scope| {
            let visible = scope.spawn(|| latches_are_visible(&kernel, OWN));
            thread::sleep(Duration::from_millis(200));
            shows(folder.path(), 'S', "futex_do_wait");
            visible.join().unwrap()
        });
        assert!(visible);
        assert_eq!(state_of(&kernel, OWN), Some(Thread::AtLatch));
        shows(folder.path(), 'S', "poll_schedule_timeout.constprop.0");
        assert_eq!(state_of(&kernel, OWN), Some(Thread::AtClient));
        shows(folder.path(), 'S', "0");
        assert!(!latches_are_visible(&kernel, OWN), "without the privilege they are zeros");
    }

    #[test]
    fn where_latches_are_not_known_no_session_is_at_one() {
        let view = |latches| View { source: Source::ProcessList, own: Some(OWN), latches };
        assert_eq!(view(true).tells_apart(Thread::AtLatch), Thread::AtLatch);
        assert_eq!(view(false).tells_apart(Thread::AtLatch), Thread::Sleeps);
        assert_eq!(view(false).tells_apart(Thread::Runs), Thread::Runs);
    }
}
