//! Ranks that do not share a host: one reaches the server over a slow network, and its clock is wrong.

use std::fs::Permissions;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use mindful_conformance::not_run;
use serde_json::Value;

use crate::lies::server::UsersServer;
use crate::mindful::Mindful;
use crate::mindful::alone::Quiet;
use crate::ranks::ended;

/// What the network takes in each direction.
const DELAY: Duration = Duration::from_millis(20);

/// A port from which everything goes to the server's socket, late.
fn slow_way_to(socket: PathBuf) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    // It ends with the process of the tests.
    std::thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let Ok(server) = UnixStream::connect(&socket) else { continue };
            let (Ok(to_client), Ok(to_server)) = (client.try_clone(), server.try_clone()) else { continue };
            std::thread::spawn(move || pass_on(client, to_server, &|to: &UnixStream| to.shutdown(Shutdown::Both)));
            std::thread::spawn(move || pass_on(server, to_client, &|to: &TcpStream| to.shutdown(Shutdown::Both)));
        }
    });
    port
}

fn pass_on<T: Write>(mut from: impl Read, mut to: T, close: &dyn Fn(&T) -> std::io::Result<()>) {
    let mut buffer = vec![0; 64 << 10];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        std::thread::sleep(DELAY);
        if to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    let _ = close(&to);
}

#[test]
fn a_rank_far_away_with_a_wrong_clock_has_the_same_window() {
    if !Path::new("/usr/bin/faketime").exists() {
        not_run("it needs faketime (Debian: faketime)");
        return;
    }
    let place = tempfile::Builder::new().permissions(Permissions::from_mode(0o755)).tempdir().unwrap();
    let server = UsersServer::of(&place.path().join("data"), &[]);
    let (folder, port, database) = server.place();
    let slow = slow_way_to(folder.join(format!(".s.PGSQL.{port}")));
    let _beside = Quiet::beside();
    let (mindful, near) = (Mindful::new(), server.url());
    let user = near.strip_prefix("postgresql://").unwrap().split('@').next().unwrap().to_owned();
    let far = format!("postgresql://{user}@127.0.0.1:{slow}/{database}?sslmode=disable");
    let rank = |number: &str, url: &str| {
        let size = ["--schemas", "2", "--scale", "4MiB", "--sessions", "4", "--work-unit", "4"];
        let time = ["--warmup", "1s", "--duration", "3s", "--format", "json", "-q", "--ranks", "2", "--rank", number];
        mindful.command(&[&["run", "--target", url], &size[..], &time[..]].concat())
    };
    let right = rank("0", &near).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let told = rank("1", &far);
    let mut wrong = Command::new("/usr/bin/faketime");
    wrong.args(["-f", "+3s"]).arg(told.get_program()).args(told.get_args()).current_dir(mindful.folder());
    wrong.envs(told.get_envs().filter_map(|(name, value)| Some((name, value?)))).env("NO_FAKE_STAT", "1");
    wrong.env("FAKETIME_DONT_FAKE_MONOTONIC", "1").env("DONT_FAKE_MONOTONIC", "1");
    let wrong = wrong.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (code, report, told) = ended(right);
    assert_eq!(code, Some(0), "{told} {report}");
    let (code, _, told) = ended(wrong);
    assert_eq!(code, Some(0), "{told}");
    let summary: Value = serde_json::from_str(&report).unwrap();
    let step = &summary["steps"][0];
    assert!(step["duration_s"].as_f64().unwrap() > 2.0, "one window for both: {step:#}");
    let far = &step["ranks"][1];
    assert!((-3_200.0..-2_800.0).contains(&far["clock_offset_ms"].as_f64().unwrap()), "{step:#}");
    assert!(far["clock_within_ms"].as_f64().unwrap() >= 20.0, "the network makes its clock less sure: {step:#}");
    let share = far["ops_share"].as_f64().unwrap();
    assert!((0.05..0.95).contains(&share), "its loop runs in the server, however far that is: {step:#}");
    assert_eq!(server.count("SELECT FROM mindful.meeting"), 0, "nothing is left where they met");
}
