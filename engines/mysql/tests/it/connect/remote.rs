//! A server elsewhere: a role of one database, by TCP, and no file to read. A wrong layout is refused.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use mindful_conformance::{Fixture, Notes, assert_says, dataset_plan};
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::contract::target::Target;
use mindful_core::workload::Workload;
use mindful_mysql::ENGINE;

use crate::by_hand::{ByHand, free_port};
use crate::connect::tls::{PASSWORD, by};
use crate::support::{Kind, MARIADB, MYSQL, OLDER, each};

/// More than a proof samples, and than a server reserves ahead.
const BLOCKS: u64 = 400;
/// Enough for a proof by rows: those in doubt are measured dozens of times, with counters that are slow on MySQL.
const FEW: u64 = 100;

fn granting(rights: &str) -> String {
    format!(r"GRANT {rights} ON `case\_%`.* TO me@127.0.0.1")
}

/// A server on a port, with a role that may do all in databases called `case_…` and nothing else.
struct Elsewhere {
    server: ByHand,
    port: u16,
}

impl Elsewhere {
    fn start(kind: Kind) -> Self {
        let port = free_port();
        let server = ByHand::on_port(kind, port, &[]);
        server.sql(&[&format!("CREATE USER me@127.0.0.1 IDENTIFIED {}", by(kind)), &granting("ALL")]);
        Self { server, port }
    }

    /// A target in `database` with so many blocks, and its messages.
    fn loaded(&self, database: &str, blocks: u64) -> (Box<dyn Target>, Arc<Notes>) {
        let url = format!("mysql://me:{PASSWORD}@127.0.0.1:{}/{database}?ssl-mode=DISABLED", self.port);
        let mut fixture = Fixture::new(&ENGINE, url);
        fixture.dataset = dataset_plan(1, blocks);
        let notes = Arc::new(Notes::default());
        let target = fixture.open_for(&notes);
        target.load(&fixture.dataset, &*notes, &StopFlag::default()).unwrap();
        (target, notes)
    }

    /// The verdict on the layout in `database` after `harm`, in which `{}` is the table.
    fn after(&self, database: &str, blocks: u64, harm: &[&str]) -> String {
        let (target, notes) = self.loaded(database, blocks);
        let table = format!("{database}.blocks_1");
        let harm: Vec<String> = harm.iter().map(|statement| statement.replace("{}", &table)).collect();
        self.server.sql(&harm.iter().map(String::as_str).collect::<Vec<_>>());
        match target.verify(&StopFlag::default()) {
            Ok(proof) => proof.failure().unwrap_or_else(|| panic!("{harm:?} passes for the layout: {}", notes.all())),
            Err(error) => error.to_string(),
        }
    }
}

/// A fault: its name, the number of blocks, the statements that make it, and its message.
const WRONG: [(&str, u64, &[&str], &str); 6] = [
    ("case_two", FEW, &["UPDATE {} SET pad = LEFT(pad, 4000)", "ALTER TABLE {} FORCE"], "has 100 rows in"),
    // Three rows in two pages, alternating: as many pages begin with ballast as with a row.
    ("case_turns", BLOCKS, &["UPDATE {} SET pad = LEFT(pad, 5905)", "ALTER TABLE {} FORCE"], "has 400 rows in"),
    (
        "case_few",
        FEW,
        &["UPDATE {} SET pad = '' WHERE id % 80 = 0 AND k IS NOT NULL", "ALTER TABLE {} FORCE"],
        "has 100 rows in 9",
    ),
    ("case_bare", FEW, &["DELETE FROM {} WHERE k IS NULL", "ALTER TABLE {} FORCE"], "has 100 rows in"),
    (
        "case_order",
        FEW,
        &["UPDATE {} SET k = k + 10000 WHERE k IS NOT NULL", "UPDATE {} SET k = id DIV 2 + 1 WHERE k IS NOT NULL"],
        "key and block number correlate",
    ),
    (
        "case_moved",
        FEW,
        &["UPDATE {} SET id = 100001 WHERE id = 100"],
        "has visited rows where ballast was written: remove it with `mindful cleanup`",
    ),
];

fn only_the_layout_passes(kind: Kind) -> Elsewhere {
    let elsewhere = Elsewhere::start(kind);
    let (target, notes) = elsewhere.loaded("case_true", BLOCKS);
    for look in [target.verify(&StopFlag::default()), target.verify_all(&StopFlag::default())] {
        assert_eq!(look.unwrap().failure(), None, "{kind:?}: {}", notes.all());
    }
    for part in
        ["rows drawn at random begin a page each; 0.01 of all", "missed once in 10^9", "397 of 397 rows begin a"]
    {
        assert!(notes.tell(part), "{kind:?}: {}", notes.all());
    }
    for (database, blocks, harm, why) in WRONG {
        let said = elsewhere.after(database, blocks, harm);
        assert!(said.contains(why) && !said.contains('\n'), "{kind:?}, {database}: {said}");
    }
    // Pages that are found by a hash are not counted: then the size of the table is used, and reported.
    elsewhere.server.sql(&["SET GLOBAL innodb_adaptive_hash_index = ON"]);
    let (target, notes) = elsewhere.loaded("case_hashed", BLOCKS);
    assert_eq!(target.verify(&StopFlag::default()).unwrap().failure(), None, "{kind:?}");
    assert!(
        notes.tell("only from the size that the server reserved: the adaptive hash index hides"),
        "{kind:?}: {}",
        notes.all()
    );
    let (database, _, harm, _) = WRONG[0];
    let said = elsewhere.after(&format!("{database}_hashed"), BLOCKS, harm);
    assert!(said.contains("has 400 rows in"), "{kind:?}: {said}");
    elsewhere
}

#[test]
fn a_mariadb_elsewhere_has_its_layout_or_is_refused() {
    each([MARIADB, OLDER], |kind| drop(only_the_layout_passes(kind)));
}

#[test]
fn a_mysql_elsewhere_has_its_layout_or_is_refused() {
    let elsewhere = only_the_layout_passes(MYSQL);
    // Without the privilege for functions, reads of several blocks are joined with numbers, which a restart would lose.
    elsewhere.server.sql(&[
        "REVOKE ALL ON `case\\_%`.* FROM me@127.0.0.1",
        &granting("SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, INDEX, ALTER"),
    ]);
    let (target, _) = elsewhere.loaded("case_true", BLOCKS);
    let workload = Workload::reads_only(1, BLOCKS, 8);
    target.prepare(&workload, 1).unwrap();
    elsewhere.server.sql(&["ALTER TABLE case_true.numbers ENGINE = MEMORY"]);
    let error = target.prepare(&workload, 1).unwrap_err();
    assert_says(error, &["`numbers` is not as mindful made it", "a table of MEMORY", "mindful cleanup"]);
}

/// Others work for a second, rest for one, and so on: the same counter includes their requests.
#[test]
fn work_of_others_does_not_refuse_a_layout() {
    let elsewhere = Elsewhere::start(MYSQL);
    let (target, notes) = elsewhere.loaded("case_true", BLOCKS);
    let over = AtomicBool::new(false);
    let verified: Vec<_> = thread::scope(|scope| {
        scope.spawn(|| {
            let scan = "SELECT COUNT(pad) FROM case_true.blocks_1 WHERE pad <> 'y'";
            let second = format!("SELECT COUNT(*) FROM ({}) AS many", [scan; 40].join(" UNION ALL "));
            while !over.load(Ordering::SeqCst) {
                let began = Instant::now();
                while began.elapsed() < Duration::from_secs(1) {
                    elsewhere.server.sql(&[&second]);
                }
                thread::sleep(Duration::from_secs(1));
            }
        });
        let verified = (0..3).map(|_| target.verify(&StopFlag::default())).collect();
        over.store(true, Ordering::SeqCst);
        verified
    });
    for proof in verified {
        assert_eq!(proof.unwrap().failure(), None, "{}", notes.all());
    }
}
