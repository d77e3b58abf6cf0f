//! The real driver: against a server of another maker that speaks Oracle's protocol, and against sockets that do not.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use mindful_conformance::keys::Authority;
use mindful_conformance::{assert_says, dataset_plan, slice_of};
use mindful_core::Result;
use mindful_core::contract::event::{Events, Silent};
use mindful_core::contract::slice::{Placement, SliceOrder};
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::contract::target::Target;
use mindful_core::dataset::DatasetPlan;
use mindful_core::workload::{LoopSite, OpKind, Workload};
use mindful_oracle::ENGINE;

use crate::fake::wire::Server;
use crate::fake::{Database, PASSWORD};
use crate::support::password_file;

/// Opens `url`; the password is in a file in `folder`.
fn open(folder: &Path, url: &str, password: &str, within: &str, others: &[(&str, &str)]) -> Result<Box<dyn Target>> {
    let file = password_file(folder, password);
    let usual = [("password_file", &*file), ("connect_timeout", within), ("wait_sampling", "20ms")];
    mindful_conformance::open_with(&ENGINE, url, &[&usual, others].concat(), &(Arc::new(Silent) as Arc<dyn Events>))
}

fn refused(url: &str, within: &str) -> String {
    let began = Instant::now();
    let folder = tempfile::tempdir().unwrap();
    let error = open(folder.path(), url, PASSWORD, within, &[]).err().unwrap_or_else(|| panic!("{url} was taken"));
    assert!(began.elapsed() < Duration::from_mins(1), "{url}: {:?}", began.elapsed());
    mindful_conformance::dataset::assert_one_line(&error);
    error.to_string()
}

fn works(target: &dyn Target) {
    let plan = DatasetPlan { scan_blocks: 8, ..dataset_plan(2, 150) };
    let stop = StopFlag::default();
    let dataset = target.load(&plan, &Silent, &stop).unwrap();
    assert_eq!((dataset.schemas, dataset.blocks_per_schema), (2, 150));
    let proof = target.verify(&stop).unwrap();
    assert_eq!(proof.failure(), None);
    target.store_proof(&proof).unwrap();
    assert_eq!(target.stored_proof().unwrap().map(|proof| proof.schemas.len()), Some(2));
    assert!(target.describe().unwrap().notice.unwrap().contains("Oracle Database"));
    let mut samplers = target.samplers().unwrap();
    for looping in [LoopSite::Server, LoopSite::Client] {
        let half = mindful_conformance::slices::percent(30);
        let workload =
            Workload { loop_site: looping, update_pct: half, scan_pct: half, ..Workload::reads_only(2, 150, 4) };
        assert!(target.prepare(&workload, 1).unwrap().iter().all(|path| path.pure));
        let placement = Placement { session: 0, sessions: 1, schema: 1, endpoint: 0 };
        let mut session = target.session(&workload, placement).unwrap();
        // More operations than one call accepts with the loop in the server.
        let ops = if looping == LoopSite::Server { 3_000 } else { 60 };
        let report = session.run_slice(&SliceOrder { max_ops: Some(ops), ..slice_of(target, 60_000_000) }).unwrap();
        assert_eq!(report.total_ops(), ops, "{looping:?}");
        assert_eq!(report.op(OpKind::Select).blocks, 4 * report.op(OpKind::Select).ops);
        assert_eq!(report.op(OpKind::Scan).blocks, 8 * report.op(OpKind::Scan).ops);
        let counted: u64 = report.ops.iter().map(|op| op.latency.count()).sum();
        assert_eq!(counted, ops, "each operation is in the histogram");
    }
    let read: Vec<_> = samplers.iter_mut().map(|sampler| sampler.read().unwrap()).collect();
    assert!(read[0][0].unwrap() > 3_000.0, "{read:?}");
    drop(samplers);
    target.cleanup().unwrap();
    assert_eq!(target.dataset().unwrap(), None);
}

/// As a server of release 12, 19, 21 and 26.
#[test]
fn all_goes_through_the_real_driver_as_each_release() {
    let start = |version| {
        let database = Database::create(&format!("wire_{version}"));
        Server::start(&database, version).map(|server| (database, server))
    };
    let Some(servers) = [8, 12, 16, 24].into_iter().map(start).collect::<Option<Vec<_>>>() else { return };
    let works_on = |(database, server): (Arc<Database>, Server)| {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("oracle://bench@127.0.0.1:{}/made_up", server.port);
        works(&*open(folder.path(), &url, PASSWORD, "1m", &[]).unwrap());
        assert!(database.state().tables.is_empty(), "something was left");
        let error = open(folder.path(), &url, "another", "1m", &[]).err().unwrap().to_string();
        assert!(error.contains("ORA-01017") && error.contains("11G verifier") && !error.contains("another"), "{error}");
    };
    thread::scope(|scope| servers.into_iter().for_each(|server| drop(scope.spawn(move || works_on(server)))));
}

#[test]
fn a_server_is_reached_by_alias_sid_descriptor_and_pool() {
    let database = Database::create("reached");
    let Some(server) = Server::start(&database, 24) else { return };
    let (folder, port) = (tempfile::tempdir().unwrap(), server.port);
    let descriptor = |data: &str| {
        format!("(DESCRIPTION=(ADDRESS=(PROTOCOL=TCP)(HOST=127.0.0.1)(PORT={port}))(CONNECT_DATA=({data})))")
    };
    let aliases = format!("here = {}\nrac1 = {}\n", descriptor("SERVICE_NAME=made_up"), descriptor("SID=made_up"));
    std::fs::write(folder.path().join("tnsnames.ora"), aliases).unwrap();
    let admin = [("tns_admin", folder.path().to_str().unwrap())];
    for address in [
        "here".to_owned(),
        "rac1..1".to_owned(),
        format!("127.0.0.1:{port}?sid=made_up"),
        descriptor("SERVICE_NAME=made_up"),
        format!("127.0.0.1:{port}/made_up:pooled"),
        format!("127.0.0.1:{port}/one,two"),
    ] {
        let opened = open(folder.path(), &format!("oracle://bench@{address}"), PASSWORD, "1m", &admin);
        let target = opened.unwrap_or_else(|error| panic!("{address}: {error}"));
        assert_eq!(target.dataset().unwrap(), None, "{address}");
    }
}

#[test]
fn a_server_of_tcps_is_reached_with_its_wallet() {
    let database = Database::create("tls");
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let (authority, other) = (Authority::new("own"), Authority::new("other"));
    let pair = authority.sign("localhost", &["localhost"]);
    std::fs::write(at("server.pem"), &pair.certificate).unwrap();
    std::fs::write(at("server.key"), &pair.key).unwrap();
    let Some(server) = Server::start_with(&database, 24, &[&at("server.pem"), &at("server.key")]) else { return };
    let url = format!("oracle://bench@tcps://localhost:{}/made_up", server.port);
    // Next to a key the driver takes certificates as the client's own, and trusts only public authorities.
    let client = authority.sign("client", &["client"]);
    let with_key = [&*client.key, &client.certificate, &authority.certificate].concat();
    for (name, wallet) in [("own", &authority.certificate), ("other", &other.certificate), ("key", &with_key)] {
        std::fs::create_dir(at(name)).unwrap();
        std::fs::write(at(name).join("ewallet.pem"), wallet).unwrap();
    }
    let with = |name: &str| open(folder.path(), &url, PASSWORD, "1m", &[("wallet", at(name).to_str().unwrap())]);
    let target = with("own").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(target.dataset().unwrap(), None);
    for wallet in ["other", "none", "key"] {
        let error = with(wallet).err().unwrap_or_else(|| panic!("{wallet} was taken"));
        mindful_conformance::dataset::assert_one_line(&error);
        assert!(error.to_string().contains("ewallet.pem"), "{wallet}: {error}");
    }
}

/// A socket that does `what` with each connection; returns its port.
fn socket(what: impl Fn(TcpStream) + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let what = Arc::new(what);
    thread::spawn(move || {
        for stream in listener.incoming().map_while(std::result::Result::ok) {
            let what = Arc::clone(&what);
            thread::spawn(move || what(stream));
        }
    });
    port
}

/// The answer of a server that accepts the connection, and demands native encryption.
fn demands_encryption() -> Vec<u8> {
    let mut body = vec![0x01, 0x3f];
    body.extend([0; 12]);
    body.push(0x10);
    body.extend([0; 9]);
    body.extend([0, 0, 0x20, 0]);
    body.extend([0; 9]);
    let length = u16::try_from(body.len() + 8).unwrap().to_be_bytes();
    let mut packet = vec![length[0], length[1], 0, 0, 2, 0, 0, 0];
    packet.append(&mut body);
    packet
}

#[test]
fn sockets_that_are_no_server_end_in_one_line_in_time() {
    let read = |stream: &mut TcpStream| {
        let _ = stream.read(&mut [0; 4_096]);
    };
    let silent = socket(move |mut stream| {
        read(&mut stream);
        thread::sleep(Duration::from_mins(3));
    });
    let reset = socket(drop);
    let slow = socket(move |mut stream| {
        for byte in demands_encryption() {
            thread::sleep(Duration::from_millis(400));
            if stream.write_all(&[byte]).is_err() {
                return;
            }
        }
    });
    let garbage = socket(move |mut stream| {
        read(&mut stream);
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    });
    let encrypted = socket(move |mut stream| {
        read(&mut stream);
        let _ = stream.write_all(&demands_encryption());
        thread::sleep(Duration::from_mins(3));
    });
    let nothing = {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        listener.local_addr().unwrap().port()
    };
    thread::scope(|scope| {
        // The wait for an answer allows for a busy host.
        for (what, port, within, part) in [
            ("silent", silent, "2s", "no answer within 2 s"),
            ("reset", reset, "50s", "check that"),
            ("slow", slow, "2s", "no answer within 2 s"),
            ("garbage", garbage, "50s", "check that"),
            ("encrypted", encrypted, "50s", "native network encryption"),
            ("nothing", nothing, "50s", "listener"),
        ] {
            scope.spawn(move || {
                let error = refused(&format!("oracle://bench@127.0.0.1:{port}/x"), within);
                assert!(error.contains(part), "{what}: {error}");
            });
        }
        // This program contains two TLS libraries; the one to use is already chosen.
        scope.spawn(move || refused(&format!("oracle://bench@tcps://127.0.0.1:{reset}/x"), "50s"));
        scope.spawn(move || {
            assert_says(refused("oracle://bench@NO_SUCH_ALIAS", "50s"), &["--tns-admin"]);
        });
    });
}
