//! Settings that the owner of a database can set, each as far from its default as possible.

use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::workload::{LoopSite, Workload};

use crate::support::{NOTHING_WAITS, Server, placement, programs, work, workload};

const BLOCKS: u64 = 300;

/// Every setting that a session may set, with a value: the other one of two, the first or last other one of several,
/// the least or most. Settings of identity or of the place of data are the owner's choice, and a read-only database is
/// refused.
const VALUES: &str = "SELECT format('ALTER DATABASE %I SET %s = %L', current_database(), name, value)
    FROM (SELECT name, CASE vartype
            WHEN 'bool' THEN CASE setting WHEN 'on' THEN 'off' ELSE 'on' END
            WHEN 'enum' THEN (SELECT {{end}}(other) FROM unnest(enumvals) AS other WHERE other <> setting)
            WHEN 'string' THEN NULL
            ELSE {{end}}_val END AS value
          FROM pg_settings WHERE context = 'user') AS settable
    WHERE value IS NOT NULL AND name NOT IN ('default_transaction_read_only', 'transaction_read_only')
    UNION ALL VALUES
        ('ALTER DATABASE ' || current_database() || ' SET DateStyle = ''SQL, DMY'''),
        ('ALTER DATABASE ' || current_database() || ' SET TimeZone = ''Asia/Kathmandu'''),
        ('ALTER DATABASE ' || current_database() || ' SET search_path = public'),
        ('ALTER DATABASE ' || current_database() || ' SET session_replication_role = replica'),
        ('ALTER DATABASE ' || current_database() || ' SET plpgsql.extra_errors = ''all'''),
        ('ALTER DATABASE ' || current_database() || ' SET client_encoding = ''LATIN1''')";

/// A run of both loops on a database with these settings.
fn runs(server: &Server, what: &str) {
    let failed = |error: mindful_core::Error| -> ! { panic!("{what}: {error}") };
    let target = server.target(&[]).unwrap_or_else(|error| failed(error));
    let found = target.dataset().unwrap_or_else(|error| failed(error));
    assert!(found.is_some(), "{what}: the dataset is not found");
    for loop_site in [LoopSite::Server, LoopSite::Client] {
        for update_pct in ["0", "50"] {
            let w = Workload { loop_site, ..workload(1, BLOCKS, 4, update_pct) };
            target.prepare(&w, 1).unwrap_or_else(|error| failed(error));
            let mut session = target.session(&w, placement(0, 1, 1)).unwrap_or_else(|error| failed(error));
            work(&*target, &mut *session, 0, 20).unwrap_or_else(|error| failed(error));
        }
    }
    let proof = target.verify(&StopFlag::default()).unwrap_or_else(|error| failed(error));
    assert_eq!(proof.failure(), None, "{what}");
}

#[test]
fn no_setting_of_an_owner_changes_what_mindful_finds() {
    for bin in programs() {
        let server = Server::start(&bin, &NOTHING_WAITS);
        server.loaded(1, BLOCKS);
        for end in ["min", "max"] {
            let set = server.sql(&VALUES.replace("{{end}}", end));
            let taken = set.iter().filter(|sql| server.try_sql(sql).is_ok()).count();
            assert!(taken > 100, "{taken} of {}", set.len());
            runs(&server, end);
            server.sql("ALTER DATABASE postgres RESET ALL");
        }
    }
}
