//! Ranks that do not share a host: one is in a network of its own, reaches the server over a slow wire, and its clock is wrong.

use std::io::{Read, Write};
use std::net::{IpAddr, Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::mindful::users_server::UsersServer;
use crate::mindful::{Mindful, Words, assert_has, figure, wait_until};
use crate::ranks::far_host::FarHost;
use crate::ranks::processes::{launched, outcome, report_of, three_seconds_ahead};
use mindful_conformance::not_run;

/// The delay of the network in each direction.
const DELAY: Duration = Duration::from_millis(20);

/// A port at `address` that forwards everything to the server's socket after `delay`.
fn way_to(socket: PathBuf, address: IpAddr, delay: Duration) -> u16 {
    let listener = TcpListener::bind((address, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    // It ends with the process of the tests.
    std::thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let Ok(server) = UnixStream::connect(&socket) else { continue };
            let (Ok(to_client), Ok(to_server)) = (client.try_clone(), server.try_clone()) else { continue };
            let close_server = |to: &UnixStream| to.shutdown(Shutdown::Both);
            std::thread::spawn(move || pass_on(client, to_server, delay, &close_server));
            let close_client = |to: &TcpStream| to.shutdown(Shutdown::Both);
            std::thread::spawn(move || pass_on(server, to_client, delay, &close_client));
        }
    });
    port
}

fn pass_on<T: Write>(mut from: impl Read, mut to: T, delay: Duration, close: &dyn Fn(&T) -> std::io::Result<()>) {
    let mut buffer = vec![0; 64 << 10];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        std::thread::sleep(delay);
        if to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    let _ = close(&to);
}

/// A server, and how it is reached from its own host and from a far one.
struct Apart {
    mindful: Mindful,
    server: UsersServer,
    near: String,
    far: String,
    host: FarHost,
}

impl Apart {
    /// `None` if this host does not permit another.
    fn new(delay: Duration, parameters: &str) -> Option<Self> {
        let skip = |why| not_run(&format!("it needs a network namespace: {why}"));
        let host = FarHost::new().map_err(skip).ok()?;
        let (mindful, server) = UsersServer::beside_others("");
        let (folder, port, database) = server.place();
        let way = way_to(folder.join(format!(".s.PGSQL.{port}")), host.near().into(), delay);
        let near = server.url();
        let user = near.strip_prefix("postgresql://").unwrap().split('@').next().unwrap();
        let far = format!("postgresql://{user}@{}:{way}/{database}?sslmode=disable{parameters}", host.near());
        Some(Self { near: near.clone(), far, host, server, mindful })
    }

    fn rank(&self, number: &str, url: &str, given: impl Words) -> Command {
        let rank = format!("run --target {url} --format json -q --ranks 2 --rank {number}");
        let mut command = self.mindful.command((rank, given));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

#[test]
fn a_rank_far_away_with_a_wrong_clock_has_the_same_window() {
    let Some(faketime) = three_seconds_ahead() else { return };
    let Some(apart) = Apart::new(DELAY, "") else { return };
    // A schema for each session, and fixed work: the number of updates of each row does not depend on time. Sessions with
    // think time work at the same time even on a busy host.
    let size = "--schemas 2 --scale 2MiB --sessions 2 --work-unit 4 --update-pct 50 --ops 60 --think-time 40ms..40ms";
    let work = (size, "--namespace apart");
    let right = apart.rank("0", &apart.near, work).spawn().unwrap();
    let wrong = apart.host.command(&launched(faketime, &apart.rank("1", &apart.far, work))).spawn().unwrap();
    let summary = report_of(vec![right, wrong], &[0]);
    let step = &summary["steps"][0];
    assert!(figure(step, "duration_s") > 1.5, "one window for both: {step:#}");
    let far = &step["ranks"][1];
    assert!((-3_200.0..-2_800.0).contains(&figure(far, "clock_offset_ms")), "{step:#}");
    assert!(figure(far, "clock_within_ms") >= 20.0, "the network makes its clock less sure: {step:#}");
    // Its loop runs in the server, however far that is.
    assert!((0.3..0.7).contains(&figure(far, "ops_share")), "{step:#}");
    assert_eq!(apart.server.count("SELECT FROM apart.meeting"), 0, "nothing is left where they met");
    // One process with as many sessions visits the same keys.
    apart.mindful.succeed((format!("run -q --namespace alone --target {}", apart.near), size));
    for schema in 1..=2 {
        let of = |namespace: &str| format!("SELECT k, mark FROM {namespace}.blocks_{schema} WHERE mark > 0");
        let updated = apart.server.count(&of("apart"));
        let other = apart.server.count(&format!("{} EXCEPT {}", of("apart"), of("alone")));
        assert!(updated > 50 && other == 0, "{updated} rows of schema {schema} were updated, {other} otherwise");
    }
}

#[test]
fn a_rank_without_a_network_ends_and_so_does_the_other() {
    // The waits of a real network are a minute.
    let soon = "&keepalives_idle=1&keepalives_interval=1&keepalives_count=3&tcp_user_timeout=4000&connect_timeout=2";
    let Some(apart) = Apart::new(Duration::ZERO, soon) else { return };
    let work = "--schemas 2 --scale 16MiB --sessions 2 --warmup 0s --duration 3s";
    let near = apart.rank("0", &apart.near, work).spawn().unwrap();
    let far = apart.host.command(&apart.rank("1", &apart.far, work)).spawn().unwrap();
    for rows in ["pg_class WHERE relname = 'meeting'", "mindful.meeting WHERE body LIKE '%start_us%'"] {
        wait_until("they never start", || apart.server.count(&format!("SELECT FROM {rows}")) > 0);
    }
    std::thread::sleep(Duration::from_secs(1));
    apart.host.cut();
    let cut = Instant::now();
    let (code, report, message) = outcome(near);
    assert_eq!((code, &*report, message.lines().count()), (Some(1), "", 1), "{message}");
    assert_has(message, "rank 1 on … is gone: ");
    let (code, report, message) = outcome(far);
    assert!(code.is_some_and(|code| code != 0) && report.is_empty(), "{code:?} {message}");
    assert_eq!(message.lines().count(), 1, "{message}");
    assert!(cut.elapsed() < Duration::from_secs(45), "{:?}", cut.elapsed());
    println!("cut off, it ends after {:?}: {message}", cut.elapsed());
}
