//! Starting, restarting and stopping.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::time::Instant;

use mindful_conformance::processes::assert_no_tcp;
use mindful_conformance::{names, network, quick_place};
use mindful_instance::account::Account;
use mindful_instance::fetch::BASE;
use mindful_postgres::private::Purpose;

use crate::private::support::{fresh, mode_and_owner, open, opened, query, servers, sql, started};
use crate::support::at_hand;

#[test]
fn a_second_open_takes_a_fraction_of_the_first() {
    let place = quick_place();
    let timed = || {
        let began = Instant::now();
        drop(opened(&place.path().join("pg"), &[]));
        began.elapsed()
    };
    let first = timed();
    let mut later = [(); 3].map(|()| timed());
    later.sort();
    println!("first {first:?}, then {later:?}");
    assert!(later[1] * 2 < first, "first {first:?}, then {later:?}");
}

#[test]
fn fetched_binaries_are_whole_and_need_no_network_the_next_time() {
    if !network(BASE) {
        return;
    }
    let place = quick_place();
    let shelf = place.path().join("shelf");
    // The remains of a killed fetch.
    fs::create_dir_all(shelf.join("unpacking/18.6/bin")).unwrap();
    fs::write(shelf.join("unpacking/18.6/bin/postgres"), "half").unwrap();
    let shelf_text = shelf.display().to_string();
    let folder = place.path().join("pg");
    // A process that another test starts at that moment may hold a freshly written program open: then it cannot be
    // started, or initdb does not find it.
    let fetched = || open(&folder, &[("fetch_dir", &shelf_text), ("pg_version", "18.6")]);
    let is_held = |(server, _): &(Result<_, mindful_core::Error>, _)| {
        let said = server.as_ref().err().map(ToString::to_string).unwrap_or_default();
        ["Text file busy", "is needed by initdb but was not found"].iter().any(|message| said.contains(message))
    };
    let (server, _) = Some(fetched()).filter(|opened| !is_held(opened)).unwrap_or_else(fetched);
    drop(server.unwrap());
    assert!(fs::metadata(shelf.join("18.6/bin/postgres")).unwrap().len() > 1 << 20);
    assert!(!shelf.join("unpacking").exists());
    let server = started(&folder, &[("fetch_dir", &shelf_text), ("fetch", "off")]);
    assert_eq!(server.version(), "18.6");
}

#[test]
fn each_major_version_takes_its_settings_and_both_phases() {
    let place = quick_place();
    for version in ["16", "17", "18"].into_iter().filter(|version| at_hand(version)) {
        // A value with commas reaches the server whole.
        let set = ("set", "debug_io_direct=wal,data,work_mem=7MB");
        let extra = [("pg_version", version), set, ("page_cache_limit", "1GiB")];
        let (server, notes) = open(&place.path().join(version), &extra);
        let server = server.unwrap();
        assert!(server.version().starts_with(version));
        assert_eq!(sql(&server, "SHOW debug_io_direct"), "wal,data");
        assert_eq!(sql(&server, "SHOW work_mem"), "7MB");
        assert!(notes.tell("out of the way by direct I/O"), "direct reads need no limit: {}", notes.all());
        sql(&server, "CREATE TABLE t AS SELECT 1; CHECKPOINT");
        assert!(server.serve(Purpose::Load).unwrap() && server.serve(Purpose::Run).unwrap());
    }
}

#[test]
fn folder_data_and_socket_are_closed_to_others() {
    let place = quick_place();
    let folder = place.path().join("pg");
    let server = opened(&folder, &[]);
    let (data_mode, data_owner) = mode_and_owner(&server.data());
    let (socket_mode, socket_owner) = mode_and_owner(server.socket_folder());
    assert_eq!((data_mode, socket_mode), (0o700, 0o700));
    assert_eq!(data_owner, socket_owner);
    let me = rustix::process::geteuid().as_raw();
    let (mode, owner) = mode_and_owner(&folder);
    assert_eq!(owner, me);
    if me == 0 {
        assert_ne!(data_owner, 0);
        assert_eq!(mode, 0o710);
    } else {
        assert_eq!((mode, data_owner), (0o700, me));
    }
    let socket = server.socket_folder().join(".s.PGSQL.5432");
    assert!(fs::metadata(&socket).unwrap().file_type().is_socket());
    assert_eq!(mode_and_owner(&socket).0, 0o700);
    assert_eq!(mode_and_owner(&folder.join("server.log")).0, 0o600);
}

#[test]
fn the_server_listens_on_no_tcp_port() {
    let (_place, folder, server) = fresh(&[]);
    assert_eq!(sql(&server, "SHOW listen_addresses"), "");
    assert_no_tcp(&servers(&folder));
}

#[test]
fn settings_are_those_chosen_for_the_phase_and_the_sessions() {
    let (_place, _, server) = fresh(&[("set", "work_mem=7MB,wal_buffers=8MB")]);
    for purpose in [Purpose::Run, Purpose::Load, Purpose::Run] {
        server.serve(purpose).unwrap();
        let chosen = server.chosen();
        assert!(chosen.iter().all(|one| !one.reason.is_empty()));
        for one in &chosen {
            let shown = sql(&server, &format!("SELECT current_setting('{}')", one.name));
            let same = format!("SELECT pg_size_bytes('{shown}') = pg_size_bytes('{}')", one.value);
            let equal = shown == one.value || one.value.ends_with("MB") && sql(&server, &same) == "t";
            assert!(equal, "{} is {shown}, chosen was {}", one.name, one.value);
        }
        let set = if purpose == Purpose::Run { "8MB" } else { "16MB" };
        assert_eq!(sql(&server, "SHOW wal_buffers"), set, "the user's settings are for the measurement");
        assert_eq!(sql(&server, "SHOW fsync"), "on");
        assert_eq!(sql(&server, "SHOW data_checksums"), "on");
    }
    assert_eq!(sql(&server, "SHOW work_mem"), "7MB");
    assert_eq!(sql(&server, "SHOW debug_io_direct"), "data");
    assert!(!server.serve(Purpose::Run).unwrap() && !server.carry(32).unwrap(), "a restart for nothing");
    let before = server.pid();
    assert!(server.carry(1_000).unwrap() && server.pid() != before, "more sessions need a restart");
    assert!(sql(&server, "SHOW max_connections").parse::<u32>().unwrap() > 1_000);
}

#[test]
fn a_cached_run_holds_all_that_was_loaded() {
    let (_place, _, server) = fresh(&[("mode", "lio")]);
    server.serve(Purpose::Load).unwrap();
    sql(&server, "CREATE TABLE t AS SELECT repeat('x', 1000) AS filler FROM generate_series(1, 200000)");
    server.serve(Purpose::Run).unwrap();
    let fits = "SELECT pg_size_bytes(current_setting('shared_buffers')) > pg_database_size('mindful') * 1.1";
    assert_eq!(sql(&server, fits), "t");
}

#[test]
fn a_path_with_odd_characters_is_no_obstacle() {
    let place = quick_place();
    let folder = place.path().join("a, \"b\" $c 'd'");
    let server = started(&folder, &[]);
    assert!(server.socket_folder().starts_with(folder.canonicalize().unwrap()));
    assert_eq!(sql(&server, "SELECT 1"), "1");
}

#[test]
fn destruction_removes_the_folder_and_nothing_else() {
    let place = quick_place();
    fs::write(place.path().join("letter.txt"), "dear").unwrap();
    let [folder, log] = ["pg", "log"].map(|name| place.path().join(name));
    let server = opened(&folder, &[("log_dir", log.to_str().unwrap())]);
    assert!(server.owned(Vec::new(), &[]).unwrap().bytes > Some(1 << 20));
    let of_server = fs::read_link(server.data().join("pg_wal")).unwrap();
    assert_eq!((Some(&of_server), of_server.parent()), (server.log_files().as_ref(), Some(log.as_path())));
    sql(&server, "CREATE TABLE t AS SELECT 42 AS n");
    assert!(names(&of_server).iter().any(|name| name.to_string_lossy().len() == 24), "a segment of the log");
    server.destroy().unwrap();
    assert_eq!(servers(&folder), [] as [i32; 0]);
    drop(server);
    assert_eq!(names(place.path()), [std::path::Path::new("letter.txt")]);
}

#[test]
fn only_the_user_of_mindful_may_connect() {
    let (_place, _, server) = fresh(&[]);
    assert_eq!(sql(&server, "SELECT system_user LIKE 'peer:%'"), "t");
    if rustix::process::geteuid().as_raw() != 0 {
        return mindful_conformance::not_run("only root can ask as somebody else");
    }
    // Even the server's own user, the only one that can reach the socket, is refused.
    let (_, uid) = mode_and_owner(&server.data());
    let theirs = Account { name: "server".to_owned(), uid, gid: uid, switched: true };
    let refused = theirs.act(|| query(&server, "SELECT 1")).unwrap().unwrap_err();
    let message = refused.as_db_error().map_or_else(|| refused.to_string(), ToString::to_string);
    assert!(message.contains("eer authentication failed") || message.contains("look up local user"), "{message}");
}

#[test]
fn as_root_the_server_has_a_user_of_its_own() {
    if rustix::process::geteuid().as_raw() != 0 {
        return mindful_conformance::not_run("only root starts a server as somebody else");
    }
    let place = quick_place();
    let folder = place.path().join("pg");
    let own = Account::choose(None).unwrap();
    // A folder that an earlier mindful made for another user gets the new owner, including its log.
    let log = place.path().join("log");
    drop(opened(&folder, &[("run_as", "nobody"), ("log_dir", log.to_str().unwrap())]));
    assert_ne!(mode_and_owner(&folder.join("pgdata")).1, own.uid);
    for _ in 0..2 {
        let server = started(&folder, &[]);
        sql(&server, "CREATE TABLE IF NOT EXISTS t AS SELECT 42 AS n");
        for file in ["", "PG_VERSION", "base/1/PG_VERSION", "global/pg_control"] {
            assert_eq!(mode_and_owner(&folder.join("pgdata").join(file)).1, own.uid, "{file}");
        }
        assert_eq!((mode_and_owner(&log), mode_and_owner(&log.join("log"))), ((0o710, 0), (0o700, own.uid)));
        // One of them may just have ended.
        let owners =
            servers(&folder).into_iter().filter_map(|pid| Some(fs::metadata(format!("/proc/{pid}")).ok()?.uid()));
        let others: Vec<u32> = owners.filter(|uid| *uid != own.uid).collect();
        assert!(others.is_empty(), "{others:?}");
    }
    let fresh = place.path().join("fresh");
    drop(opened(&fresh, &[]));
    assert_eq!(mode_and_owner(&fresh.join("pgdata/global/pg_control")).1, own.uid);
}
