//! Settings that the owner of a database can set, each as far from its default as possible.

use mindful_conformance::refused_settings;
use mindful_core::Result;
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::workload::{LoopSite, Workload};

use crate::support::{NOTHING_WAITS, Server, load, placement, programs, work, workload};

const BLOCKS: u64 = 300;

/// Every setting that a session may set, with its value in a turn: the other one of two, one of several, the least, the
/// most, and the least that is not 0, which often means off; for timeouts a second. Tablespaces are the owner's choice.
const VALUES: &str = "SELECT name || ' = ' || quote_literal(value)
    FROM (SELECT name, CASE vartype
            WHEN 'bool' THEN CASE setting WHEN 'on' THEN 'off' ELSE 'on' END
            WHEN 'enum' THEN enumvals[1 + {{turn}} % cardinality(enumvals)]
            WHEN 'integer' THEN (ARRAY[min_val, max_val,
                CASE WHEN name LIKE '%timeout' THEN '1000' ELSE (min_val::bigint + 1)::text END])[1 + {{turn}} % 3]
            WHEN 'real' THEN (ARRAY[min_val, max_val])[1 + {{turn}} % 2] END AS value
          FROM pg_settings WHERE context = 'user') AS settable
    WHERE value IS NOT NULL AND name NOT IN ('default_transaction_read_only', 'transaction_read_only')
    UNION ALL VALUES ('DateStyle = ''SQL, DMY'''), ('TimeZone = ''Asia/Kathmandu'''), ('search_path = public'),
        ('session_replication_role = replica'), ('plpgsql.extra_errors = ''all'''), ('client_encoding = ''LATIN1'''),
        ('timezone_abbreviations = ''India'''), ('lc_numeric = ''C'''), ('lc_time = ''C'''), ('lc_monetary = ''C'''),
        ('default_text_search_config = ''pg_catalog.simple'''), ('application_name = ''\u{1b}[2J''')";

/// Settings are made from another database, where they are not in force.
fn administer(server: &Server, sql: &str) -> bool {
    Server::sql_at(&server.url("bench", "template1"), sql).is_ok()
}

/// A load, a run of both loops and a proof on a database with these settings.
fn runs(server: &Server, settings: &[String]) -> Result<()> {
    administer(server, "ALTER DATABASE postgres RESET ALL");
    for setting in settings {
        administer(server, &format!("ALTER DATABASE postgres SET {setting}"));
    }
    let target = server.target(&[])?;
    target.cleanup()?;
    load(&*target, 1, BLOCKS)?;
    if settings.iter().any(|setting| setting == "idle_session_timeout = '1000'") {
        std::thread::sleep(std::time::Duration::from_millis(1_200));
    }
    assert!(target.dataset()?.is_some(), "{settings:?}: the dataset is not found");
    for loop_site in [LoopSite::Server, LoopSite::Client] {
        let w = Workload { loop_site, ..workload(1, BLOCKS, 4, "50") };
        target.prepare(&w, 1)?;
        let mut session = target.session(&w, placement(0, 1, 1))?;
        work(&*target, &mut *session, 0, 20)?;
    }
    assert_eq!(target.verify(&StopFlag::default())?.failure(), None, "{settings:?}");
    Ok(())
}

#[test]
fn no_setting_of_an_owner_changes_what_mindful_finds() {
    for bin in programs() {
        let server = Server::start(&bin, &NOTHING_WAITS);
        let turns = server.figure("SELECT max(cardinality(enumvals)) FROM pg_settings WHERE context = 'user'") as u32;
        for turn in 0..turns {
            administer(&server, "ALTER DATABASE postgres RESET ALL");
            let settings = server.sql(&VALUES.replace("{{turn}}", &turn.to_string()));
            assert!(settings.len() > 120, "{}", settings.len());
            assert!(refused_settings(&settings, &|settings| runs(&server, settings)).is_empty());
        }
        let read_only = ["default_transaction_read_only = on".to_owned()];
        assert_eq!(refused_settings(&read_only, &|settings| runs(&server, settings)).len(), 1);
    }
}
