//! A role that may create in the database sets traps; a superuser's mindful runs none of them.

use crate::support::{NOTHING_WAITS, Server, each_server, load, placement, plan, programs, work, workload};
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::{ErrorKind, Result, Target};

const BLOCKS: u64 = 300;

/// The code of a trap: its victim makes `evil` a superuser.
const SPRING: &str = "CREATE FUNCTION trap.spring() RETURNS boolean LANGUAGE plpgsql AS $$
    BEGIN EXECUTE 'ALTER ROLE evil SUPERUSER'; RETURN true; EXCEPTION WHEN OTHERS THEN RETURN true; END $$;
    CREATE FUNCTION trap.surely() RETURNS boolean IMMUTABLE LANGUAGE sql AS 'SELECT trap.spring()';
    CREATE FUNCTION trap.of(text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS $$
    BEGIN PERFORM trap.spring(); RETURN $1; END $$;
    CREATE FUNCTION trap.of(bigint) RETURNS bigint IMMUTABLE LANGUAGE plpgsql AS $$
    BEGIN PERFORM trap.spring(); RETURN $1; END $$;
    CREATE FUNCTION trap.fires() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN PERFORM trap.spring(); RETURN NEW; END $$;";

const SCHEMA: &str =
    "CREATE SCHEMA mindful; COMMENT ON SCHEMA mindful IS 'mindful: dataset, made and removed by mindful';";

/// The columns of a registry, with a row that points to a foreign table.
const ROW: &str =
    "SELECT 'blocks_1'::text AS name, 'blocks'::text AS kind, 'mindful.blocks_1'::regclass::oid AS object,
    1 AS schema, 300::bigint AS blocks, '7'::text AS seed,
    '{\"mixed\":{\"compress_ratio\":1.0,\"dedupe_ratio\":1.0}}'::text AS content, 1 AS shape, NULL::text AS proof,
    NULL::oid AS proven_file, NULL::bigint AS proven_pages, NULL::bigint AS proven_moved,
    NULL::timestamptz AS proven_reset, NULL::text AS filled_by, NULL::bigint AS filled_allocs, now() AS made_at";

const TABLE: &str =
    "CREATE TABLE mindful.blocks_1 (k bigint NOT NULL, seq bigint, f1 bytea, f2 bytea, f3 bytea, f4 bytea,
    f5 bytea, f6 bytea, f7 bytea, f8 bytea, mark bigint, tail bigint);
    INSERT INTO mindful.blocks_1 SELECT k, k, '', '', '', '', '', '', '', '', 0, k FROM generate_series(1, 300) AS k;";

/// A database that belongs to `evil`, removed with the value.
struct Lair<'a>(&'a Server);

impl<'a> Lair<'a> {
    fn new(server: &'a Server) -> Self {
        server.sql("CREATE ROLE evil LOGIN");
        server.sql("CREATE DATABASE lair OWNER evil");
        let lair = Self(server);
        lair.lay("CREATE SCHEMA trap");
        lair.lay(SPRING);
        lair
    }

    /// Runs `sql` as `evil`.
    fn lay(&self, sql: &str) {
        Server::sql_at(&self.0.url("evil", "lair"), sql).unwrap_or_else(|error| panic!("{sql}: {error:?}"));
    }

    /// Runs `sql` as the superuser without mindful.
    fn superuser(&self, sql: &str) -> Vec<String> {
        Server::sql_at(&self.0.url("bench", "lair"), sql).unwrap()
    }

    fn open(&self, options: &[(&str, &str)]) -> Result<Box<dyn Target>> {
        self.0.target_as("bench", "lair", options)
    }

    fn is_sprung(&self) -> bool {
        self.0.sql("SELECT rolsuper FROM pg_roles WHERE rolname = 'evil'") == ["t"]
    }

    /// Every verb of a superuser, each whether or not the one before was refused; then nothing has been run for `evil`.
    fn withstands(&self, trap: &str) {
        if let Ok(target) = self.open(&[]) {
            every_verb(&*target);
        }
        assert!(!self.is_sprung(), "{trap}: the role made itself a superuser");
    }
}

impl Drop for Lair<'_> {
    fn drop(&mut self) {
        let server = self.0;
        let _ = server.try_sql("DROP DATABASE lair WITH (FORCE)").and_then(|_| server.try_sql("DROP ROLE evil"));
    }
}

fn every_verb(target: &dyn Target) {
    let _ = (
        target.describe(),
        target.host_view(),
        target.dataset(),
        target.checks(&plan(&[("update_pct", "50")])),
        target.inventory(),
    );
    let watched = target.samplers().map(|samplers| samplers.into_iter().map(|mut one| one.read()).collect::<Vec<_>>());
    let _ = (watched, target.data_files(), target.stored_proof());
    let _ = load(target, 1, BLOCKS);
    let _ = target.verify(&StopFlag::default()).and_then(|proof| target.store_proof(&proof));
    for w in [workload(1, BLOCKS, 4, "0"), workload(1, BLOCKS, 4, "50")] {
        if target.prepare(&w, 1).is_ok()
            && let Ok(mut session) = target.session(&w, placement(0, 1, 1))
        {
            let _ = work(target, &mut *session, 0, 20);
        }
    }
    let _ = (load(target, 2, BLOCKS), target.cleanup());
}

/// Registries that run code of their maker.
fn registries() -> [(&'static str, String); 7] {
    [
        ("a view", "{TABLE} CREATE VIEW mindful.registry AS {ROW} WHERE trap.spring();"),
        ("a view that plans call", "{TABLE} CREATE VIEW mindful.registry AS {ROW} WHERE trap.surely();"),
        (
            "a rule and a trigger",
            "{MADE} CREATE RULE r AS ON UPDATE TO mindful.registry DO INSTEAD SELECT trap.spring();
            CREATE TRIGGER t BEFORE INSERT ON mindful.registry FOR EACH ROW EXECUTE FUNCTION trap.fires();",
        ),
        (
            "a policy",
            "{MADE} ALTER TABLE mindful.registry ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
            CREATE POLICY p ON mindful.registry USING (trap.spring());",
        ),
        (
            "defaults, checks and generated columns",
            "{MADE} ALTER TABLE mindful.registry ADD x boolean DEFAULT trap.spring(), ADD CHECK (trap.of(name) <> ''),
            ADD y text GENERATED ALWAYS AS (trap.of(name)) STORED;",
        ),
        (
            "a type of theirs with a cast and an operator",
            "CREATE TYPE trap.word AS (t text);
            CREATE FUNCTION trap.reported(trap.word) RETURNS text LANGUAGE plpgsql AS $$
            BEGIN PERFORM trap.spring(); RETURN ($1).t; END $$;
            CREATE CAST (trap.word AS text) WITH FUNCTION trap.reported(trap.word) AS IMPLICIT;
            CREATE FUNCTION trap.same(trap.word, name) RETURNS boolean LANGUAGE sql AS 'SELECT trap.spring()';
            CREATE OPERATOR trap.= (LEFTARG = trap.word, RIGHTARG = name, FUNCTION = trap.same);
            CREATE TABLE mindful.registry (name trap.word, kind trap.word, object oid, schema int, blocks bigint,
            seed trap.word, content trap.word, shape int);
            INSERT INTO mindful.registry VALUES (ROW('a'), ROW('a'), 0, 1, 1, ROW('a'), ROW('a'), 1);",
        ),
        (
            "a partitioned table with a trap in its child",
            "{TABLE} CREATE TABLE mindful.registry (LIKE pg_catalog.pg_class) PARTITION BY LIST (relname);
            CREATE TABLE trap.part PARTITION OF mindful.registry DEFAULT;
            ALTER TABLE trap.part ADD CHECK (trap.spring());",
        ),
    ]
    .map(|(trap, sql)| {
        let sql = sql.replace("{MADE}", "{TABLE} CREATE TABLE mindful.registry AS {ROW};");
        (trap, sql.replace("{TABLE}", TABLE).replace("{ROW}", ROW))
    })
}

#[test]
fn no_registry_of_others_is_read_whatever_it_is() {
    each_server(|server| {
        for (trap, sql) in registries() {
            let lair = Lair::new(server);
            lair.lay(&format!("{SCHEMA} {sql}"));
            lair.withstands(trap);
            let error = lair.open(&[]).unwrap().dataset().unwrap_err();
            assert!(error.kind == ErrorKind::Target && error.what.contains("belongs to role evil"), "{trap}: {error}");
            // Trusted by name or with a changed owner, it is still not a plain table of ours.
            let trusted = [("trust_owner", "evil")];
            let error = lair.open(&trusted).unwrap().dataset().unwrap_err();
            assert!(error.what.contains("is not as mindful made it"), "{trap}: {error}");
            lair.superuser("ALTER SCHEMA mindful OWNER TO bench");
            lair.withstands(trap);
        }
        let lair = Lair::new(server);
        lair.lay(&format!("{SCHEMA} {}", registries()[0].1));
        lair.superuser("SELECT count(*) FROM mindful.registry");
        assert!(lair.is_sprung(), "the traps are live: without mindful's looks they spring");
    });
}

#[test]
fn no_setting_of_a_database_leads_to_code_of_its_owner() {
    each_server(|server| {
        let lair = Lair::new(server);
        // Functions, operators and tables under the names that mindful uses.
        lair.lay(
            "CREATE FUNCTION trap.quote_ident(name) RETURNS text LANGUAGE sql AS 'SELECT trap.spring()::text';
            CREATE FUNCTION trap.current_setting(text) RETURNS text LANGUAGE sql AS 'SELECT trap.spring()::text';
            CREATE FUNCTION trap.pg_is_in_recovery() RETURNS boolean LANGUAGE sql AS 'SELECT trap.spring()';
            CREATE FUNCTION trap.clock_timestamp() RETURNS timestamptz LANGUAGE sql
                AS 'SELECT pg_catalog.now() FROM trap.spring()';
            CREATE FUNCTION trap.obj_description(oid, name) RETURNS text LANGUAGE sql AS 'SELECT trap.spring()::text';
            CREATE FUNCTION trap.even(name, text) RETURNS boolean LANGUAGE sql AS 'SELECT trap.spring()';
            CREATE FUNCTION trap.whole(bigint, bigint) RETURNS boolean LANGUAGE sql AS 'SELECT trap.spring()';
            CREATE OPERATOR trap.= (LEFTARG = name, RIGHTARG = text, FUNCTION = trap.even);
            CREATE OPERATOR trap.>= (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = trap.whole);
            CREATE VIEW trap.pg_namespace AS SELECT * FROM pg_catalog.pg_namespace WHERE trap.spring();
            CREATE VIEW trap.pg_class AS SELECT * FROM pg_catalog.pg_class WHERE trap.spring();
            CREATE VIEW trap.pg_settings AS SELECT * FROM pg_catalog.pg_settings WHERE trap.spring();
            ALTER DATABASE lair SET search_path = trap, pg_catalog",
        );
        lair.withstands("search_path of the database");
        assert_eq!(lair.superuser("SELECT pg_is_in_recovery()"), ["t"], "the traps are live");
        assert!(lair.is_sprung());
        server.sql("ALTER ROLE evil NOSUPERUSER");
        lair.lay("ALTER DATABASE lair RESET ALL; ALTER DATABASE lair SET role = evil");
        let error = lair.open(&[]).map(drop).unwrap_err();
        assert!(error.what.contains("work as role evil") && error.next.contains("RESET role"), "{error}");
        lair.lay("ALTER DATABASE lair RESET ALL; ALTER DATABASE lair SET session_authorization = evil");
        lair.withstands("session_authorization of the database");
        lair.lay("ALTER DATABASE lair RESET ALL");
        // Actions that the server permits only to superusers.
        for sql in [
            "CREATE EVENT TRIGGER e ON ddl_command_start EXECUTE FUNCTION trap.fires()",
            "ALTER DATABASE lair SET session_preload_libraries = 'x'",
            "ALTER ROLE bench SET search_path = trap",
        ] {
            assert!(Server::sql_at(&server.url("evil", "lair"), sql).is_err(), "{sql}");
        }
        // A user may choose a role.
        let chosen = format!("{}?options=-c%20role%3Devil", server.url("bench", "lair"));
        Server::target_at(&chosen).unwrap();
    });
}

/// Foreign additions to tables of the dataset, and their message.
const HUNG: [(&str, &str); 6] = [
    ("CREATE TRIGGER t BEFORE UPDATE ON mindful.blocks_1 FOR EACH ROW EXECUTE FUNCTION trap.fires()", "trigger t"),
    ("CREATE RULE r AS ON UPDATE TO mindful.blocks_1 DO ALSO SELECT trap.spring()", "rule r"),
    ("CREATE INDEX i ON mindful.blocks_1 (trap.of(k))", "index i"),
    ("CREATE STATISTICS trap.s ON (trap.of(k)) FROM mindful.blocks_1", "statistics s"),
    ("ALTER TABLE mindful.blocks_1 ADD CONSTRAINT c CHECK (trap.of(k) > 0)", "constraint c"),
    ("CREATE TABLE trap.child () INHERITS (mindful.blocks_1)", "inherit"),
];

#[test]
fn a_table_on_which_others_hung_something_is_refused() {
    each_server(|server| {
        for (sql, object) in HUNG {
            let lair = Lair::new(server);
            load(&*lair.open(&[]).unwrap(), 1, BLOCKS).unwrap();
            lair.superuser(sql);
            server.sql("ALTER ROLE evil NOSUPERUSER");
            let target = lair.open(&[]).unwrap();
            let error = target.dataset().unwrap_err();
            assert!(error.what.contains(object) && error.next.contains("cleanup"), "{error}");
            assert!(target.prepare(&workload(1, BLOCKS, 4, "50"), 1).is_err());
            // It has locked the dataset exclusively, and the next one waits for it.
            drop(target);
            lair.withstands(sql);
        }
    });
}

#[test]
fn granted_rights_and_foreign_tables_open_no_way_in() {
    each_server(|server| {
        let lair = Lair::new(server);
        let target = lair.open(&[]).unwrap();
        load(&*target, 1, BLOCKS).unwrap();
        lair.superuser("GRANT ALL ON SCHEMA mindful TO evil; GRANT ALL ON ALL TABLES IN SCHEMA mindful TO evil");
        let error = target.dataset().unwrap_err();
        assert!(error.what.contains("not as mindful made it"), "{error}");
        lair.superuser("REVOKE TRIGGER ON ALL TABLES IN SCHEMA mindful FROM evil");
        assert!(target.dataset().unwrap().is_some(), "data alone is no code");
        // As another version of mindful would have made it.
        lair.superuser("ALTER TABLE mindful.registry RENAME proof TO evidence");
        let error = target.dataset().unwrap_err();
        assert!(error.what.contains("registry is not as mindful made it"), "{error}");
        lair.superuser(
            "ALTER TABLE mindful.registry RENAME evidence TO proof; ALTER TABLE mindful.registry DROP filled_by",
        );
        let error = target.dataset().unwrap_err();
        assert!(error.what.contains("lacks the column filled_by"), "{error}");
        lair.superuser("ALTER TABLE mindful.registry ADD filled_by text");
        // A foreign table next to ours: registered by others, and with the name of one that is not made yet.
        lair.lay(
            "CREATE VIEW mindful.blocks_2 AS SELECT * FROM mindful.blocks_1 WHERE trap.spring();
            CREATE TABLE mindful.blocks_3 (LIKE mindful.blocks_1);
            CREATE INDEX ON mindful.blocks_3 (trap.of(k));
            INSERT INTO mindful.registry SELECT 'blocks_' || n, 'blocks', ('mindful.blocks_' || n)::regclass, n, blocks, seed,
                content, shape FROM mindful.registry, generate_series(2, 3) AS n WHERE schema = 1",
        );
        let error = target.dataset().unwrap_err();
        assert!(error.what.contains("blocks_3") && error.what.contains("belongs to role evil"), "{error}");
        let kept: Vec<_> = target.inventory().unwrap().into_iter().filter(|o| o.kept_because.is_some()).collect();
        assert!(kept.iter().any(|o| o.name.contains("blocks_3")), "{kept:?}");
        lair.withstands("tables next to ours");
    });
}

#[test]
fn a_namespace_of_another_role_is_used_when_it_is_named() {
    each_server(|server| {
        server.sql("CREATE ROLE owner LOGIN");
        server.sql("CREATE DATABASE shared OWNER owner");
        let plain = |user, options: &[_]| server.target_as(user, "shared", options).unwrap();
        load(&*plain("owner", &[]), 1, BLOCKS).unwrap();
        let error = plain("bench", &[]).dataset().unwrap_err();
        assert!(error.kind == ErrorKind::Target && error.next.contains("--trust-owner"), "{error}");
        assert!(plain("bench", &[("trust_owner", "nobody")]).dataset().is_err());
        let trusting = plain("bench", &[("trust_owner", "owner")]);
        assert_eq!(trusting.dataset().unwrap().unwrap().schemas, 1);
        assert_eq!(load(&*trusting, 2, BLOCKS).unwrap().schemas, 2);
        trusting.cleanup().unwrap();
        assert_eq!(plain("owner", &[]).dataset().unwrap(), None);
    });
}

#[test]
fn names_mean_the_servers_own_objects_in_every_session() {
    let server = Server::start(&programs()[0], &NOTHING_WAITS);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    server.sql("ALTER ROLE bench SET search_path = public; ALTER DATABASE postgres SET search_path = public");
    for options in ["", "?options=-c%20search_path%3Dpublic"] {
        let url = format!("{}{options}", server.url("bench", "postgres"));
        runtime.block_on(async {
            let session = mindful_postgres::connect::Server::parse(&url).unwrap().connect(0).await.unwrap();
            let path: String = session.query_one("SHOW search_path", &[]).await.unwrap().get(0);
            assert_eq!(path, "pg_catalog, pg_temp");
            // A pooled session may have temporary objects of its previous client.
            session
                .batch_execute("CREATE TEMP TABLE pg_roles (x int); CREATE TEMP TABLE pg_class (x int)")
                .await
                .unwrap();
            assert!(
                !session.query("SELECT oid FROM pg_class, pg_roles LIMIT 1", &[]).await.is_ok_and(|r| r.is_empty())
            );
        });
    }
}
