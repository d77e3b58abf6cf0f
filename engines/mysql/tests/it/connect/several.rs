//! Several servers with one name: a request to one does not reach another.

use std::time::{Duration, Instant};

use mindful_conformance::{Fixture, Opened, dataset_plan};
use mindful_core::workload::Workload;
use mindful_core::{Error, ErrorKind};
use mindful_mysql::ENGINE;
use mysql::prelude::Queryable;
use mysql::{Conn, OptsBuilder};

use crate::by_hand::{ByHand, free_port};
use crate::connect::tls::{PASSWORD, by};
use crate::relay::Relay;
use crate::support::{Kind, MARIADB, MYSQL, OLDER, target_at};

/// One of them, with an administrator who may end any statement.
struct One {
    _server: ByHand,
    port: u16,
}

impl One {
    fn start(kind: Kind) -> Self {
        let port = free_port();
        let server = ByHand::on_port(kind, port, &[]);
        server.sql(&[
            &format!("CREATE USER me@127.0.0.1 IDENTIFIED {}", by(kind)),
            "GRANT ALL ON *.* TO me@127.0.0.1",
            "CREATE DATABASE bench",
        ]);
        Self { _server: server, port }
    }

    fn connect(&self) -> Conn {
        let options = OptsBuilder::new().ip_or_hostname(Some("127.0.0.1")).tcp_port(self.port);
        Conn::new(options.user(Some("me")).pass(Some(PASSWORD)).prefer_socket(false)).unwrap()
    }

    /// Connects until the server's connection numbers reach `number`. Returns that connection.
    fn number(&self, number: u32) -> Conn {
        loop {
            let connection = self.connect();
            assert!(connection.connection_id() <= number, "the number is gone: {}", connection.connection_id());
            if connection.connection_id() == number {
                return connection;
            }
        }
    }

    fn waits(&self) -> bool {
        let sql = "SELECT COUNT(*) FROM information_schema.processlist WHERE state LIKE 'Waiting for table%'";
        self.connect().query_first(sql).unwrap() == Some(1)
    }

    fn numbers(&self) -> Vec<u32> {
        let sql =
            "SELECT id FROM information_schema.processlist WHERE user = 'me' AND id <> CONNECTION_ID() ORDER BY id";
        self.connect().query(sql).unwrap()
    }
}

fn until(otherwise: &str, holds: impl Fn() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(20), "{otherwise}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A target at `port` with the smallest dataset.
fn loaded(port: u16) -> Opened {
    let mut fixture = Fixture::new(&ENGINE, url(port));
    fixture.dataset = dataset_plan(1, 64);
    fixture.loaded()
}

fn url(port: u16) -> String {
    format!("mysql://me:{PASSWORD}@127.0.0.1:{port}/bench?ssl-mode=DISABLED")
}

#[test]
fn a_stop_ends_no_connection_of_another_server() {
    let [one, other] = [MARIADB; 2].map(One::start);
    // Numbers of the other stay below those of this one until they are meant to collide.
    one.number(other.connect().connection_id() + 50);
    let relay = Relay::to(one.port);
    let opened = loaded(relay.port);
    let numbers = one.numbers();
    let mut innocent: Vec<Conn> = numbers.iter().map(|number| other.number(*number)).collect();
    assert!(!innocent.is_empty());

    relay.lead_to(other.port);
    opened.target.abort();

    for (connection, number) in innocent.iter_mut().zip(numbers) {
        let answered: Option<u32> = connection.query_first("SELECT CONNECTION_ID()").unwrap();
        assert_eq!(answered, Some(number));
    }
}

#[test]
fn a_stop_ends_the_work_of_its_own_server() {
    for kind in [MARIADB, MYSQL, OLDER] {
        let one = One::start(kind);
        let relay = Relay::to(one.port);
        let opened = loaded(relay.port);
        // While it waits for a table, a server does not notice that its client is gone unless it is configured to.
        let mut holder = one.connect();
        holder.query_drop("LOCK TABLES bench.blocks_1 READ").unwrap();
        let error = std::thread::scope(|scope| {
            let removal = scope.spawn(|| opened.target.cleanup().unwrap_err());
            until("no session waits", || one.waits());
            opened.target.abort();
            removal.join().unwrap()
        });
        assert_eq!(error.kind, ErrorKind::Interrupted, "{kind:?}: {error}");
        until("it is still there", || one.numbers() == [holder.connection_id()]);
    }
}

/// The error of a question that waits for a lock to its limit, at `port` of a relay, after `meanwhile`.
fn limit(one: &One, port: u16, meanwhile: impl FnOnce()) -> Error {
    let target = target_at(&format!("{}&connect-timeout=1", url(port)), &[]).unwrap();
    let mut holder = one.connect();
    holder.query_drop("LOCK TABLES bench.registry WRITE").unwrap();
    std::thread::scope(|scope| {
        let question = scope.spawn(|| target.dataset().unwrap_err());
        until("no session waits", || one.waits());
        meanwhile();
        question.join().unwrap()
    })
}

#[test]
fn a_statement_beyond_its_limit_is_ended_on_its_server() {
    std::thread::scope(|scope| {
        for kind in [MARIADB, MYSQL] {
            scope.spawn(move || {
                let one = One::start(kind);
                drop(loaded(one.port));
                let error = limit(&one, one.port, || ());
                assert!(error.what.contains("no end of a statement"), "{kind:?}: {error}");
                assert!(!error.next.contains("KILL") && !one.waits(), "{kind:?}: {error}");
            });
        }
        scope.spawn(|| {
            let [one, other] = [MARIADB; 2].map(One::start);
            drop(loaded(one.port));
            let relay = Relay::to(one.port);
            let error = limit(&one, relay.port, || relay.lead_to(other.port));
            assert!(error.next.contains("KILL "), "{error}");
        });
    });
}

#[test]
fn a_lock_is_taken_again_on_another_server_of_the_name() {
    let [one, other] = [MARIADB; 2].map(One::start);
    one.number(other.connect().connection_id() + 50);
    let relay = Relay::to(one.port);
    let opened = loaded(relay.port);
    let workload = Workload::reads_only(1, 64, 8);
    opened.target.prepare(&workload, 1).unwrap();
    let control = one.numbers();
    drop(loaded(other.port));
    drop(other.number(control[0] - 1));

    relay.lead_to(other.port);
    relay.cut();
    opened.target.prepare(&workload, 1).unwrap();

    assert_eq!(other.numbers(), control, "not the connection that this is about");
    let refused = target_at(&url(other.port), &[]).unwrap().prepare(&workload, 1).unwrap_err();
    assert!(refused.what.contains("uses namespace `bench`"), "{refused}");
}
