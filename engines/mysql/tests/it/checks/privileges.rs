//! A missing privilege is named with its GRANT, and its feature works after the GRANT.

use std::collections::BTreeSet;
use std::sync::Arc;

use mindful_conformance::{Fixture, Notes, dataset_plan, quick_place};
use mindful_core::contract::event::Silent;
use mindful_core::contract::metric::Counter;
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::plan::settings::Settings;
use mindful_core::plan::{KEYS, Plan};
use mindful_core::workload::Workload;
use mindful_mysql::ENGINE;
use mindful_mysql::private::Instance;

use crate::shared::url;
use crate::support::{Kind, MARIADB, MYSQL, each, sql, started};

/// Privileges beyond those of a database.
const RELOAD: &str = "GRANT RELOAD ON *.*";
const PROCESS: &str = "GRANT PROCESS ON *.*";
const SCHEMA: &str = "GRANT SELECT ON performance_schema.*";
const RIGHTS: [&str; 3] = [RELOAD, PROCESS, SCHEMA];

/// The messages and features of a role on a loaded dataset.
#[derive(Debug)]
struct Seen {
    lines: Vec<String>,
    counters: BTreeSet<String>,
}

impl Seen {
    fn by(fixture: &Fixture) -> Self {
        let notes = Arc::new(Notes::default());
        let target = fixture.open_for(&notes);
        target.load(&fixture.dataset, &Silent, &StopFlag::default()).unwrap();
        target.prepare(&Workload::reads_only(2, 100, 1), 1).unwrap();
        let mut counters = BTreeSet::new();
        for mut sampler in target.samplers().unwrap() {
            let values = sampler.read().unwrap();
            let named = sampler.metrics().iter().zip(values);
            counters.extend(named.filter_map(|(metric, value)| value.map(|_| metric.name.clone())));
        }
        let plan = Plan::from_settings(&Settings::defaults(KEYS)).unwrap();
        let mut lines = notes.lines();
        lines.extend(target.checks(&plan).unwrap().into_iter().map(|found| format!("{}: {}", found.code, found.text)));
        Self { lines, counters }
    }

    /// Whether a reported line or finding has all `parts`.
    fn says(&self, parts: &[&str]) -> bool {
        self.lines.iter().any(|line| parts.iter().all(|part| line.contains(part)))
    }
}

/// The view of a role of one database with all of [`RIGHTS`] except one, and then with that one as well.
fn lacking(server: &Instance, kind: Kind, lacks: &str) -> [Seen; 2] {
    let user = crate::shared::name();
    let grant = |right: &str| sql(server, &format!("{right} TO {user}@localhost"));
    sql(server, &format!("CREATE USER {user}@localhost"));
    sql(server, &format!("GRANT ALL ON {user}.* TO {user}@localhost"));
    for right in RIGHTS.into_iter().filter(|right| *right != lacks) {
        grant(right);
    }
    let at = url(&server.socket(), &user).replace("root@", &format!("{user}@"));
    let mut fixture = Fixture::new(&ENGINE, at);
    fixture.dataset = dataset_plan(2, 100);
    let without = Seen::by(&fixture);
    grant(lacks);
    let with = Seen::by(&fixture);
    for right in RIGHTS {
        assert_eq!(without.says(&[right]), right == lacks, "{kind:?}, {right}, without {lacks}: {without:?}");
        assert!(!with.says(&[right]), "{kind:?}, {right}, with all: {with:?}");
    }
    [without, with]
}

fn each_missing_right_is_named(kind: Kind) {
    let place = quick_place();
    let server = started(kind, &place.path().join("db"), &[("set", "performance_schema=ON")]);

    let [without, _] = lacking(&server, kind, RELOAD);
    assert!(without.says(&["may not FLUSH TABLES", RELOAD]), "{without:?}");

    let [without, _] = lacking(&server, kind, PROCESS);
    assert!(without.says(&["not-seen", PROCESS]), "{without:?}");
    // MariaDB shows the backlog of purge to all users.
    assert_eq!(without.says(&["the backlog of purge", PROCESS]), kind == MYSQL, "{without:?}");

    let [without, with] = lacking(&server, kind, SCHEMA);
    assert!(without.says(&["read times are missing", SCHEMA]), "{without:?}");
    let read_time = Counter::ReadTimeUs.name();
    assert_eq!([&without, &with].map(|seen| seen.counters.contains(read_time)), [false, true], "{kind:?}");
}

#[test]
fn a_right_that_a_role_lacks_is_named() {
    each([MARIADB, MYSQL], each_missing_right_is_named);
}
