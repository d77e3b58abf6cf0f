//! Logging in by password, and faults of an open session.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use mindful_conformance::assert_says;
use mindful_core::ErrorKind;
use mindful_postgres::connect::{Environment, Server};

use crate::connect::cluster::{PASSWORD, cluster};
use crate::connect::impostor;
use crate::connect::{ask, connect, connect_in, encode, parse, refusal};

fn write_passfile(path: &Path, text: &str, mode: u32) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
}

#[tokio::test]
async fn a_refused_login_names_its_reason_and_the_next_step() {
    let cluster = cluster();
    cluster.role("crowded", "x").await;
    cluster.admin().await.batch_execute("ALTER ROLE crowded CONNECTION LIMIT 0").await.unwrap();
    let by = |login: &str| format!("postgres://{login}@127.0.0.1:{}/postgres", cluster.port);
    for (url, parts) in [
        (by("postgres:secret"), ["password authentication failed for user \"postgres\" [28P01]", "PGPASSWORD"]),
        (by("postgres"), ["asks for a password", "~/.pgpass"]),
        (format!("{}?dbname=no_such_db", cluster.url()), ["\"no_such_db\" does not exist", "createdb"]),
        (by("stranger:x"), ["pg_hba.conf rejects connection", "admit this role"]),
        (by("crowded:x"), ["too many connections for role", "fewer --sessions"]),
        (format!("{}?target_session_attrs=read-only", cluster.url()), ["not read only", "target_session_attrs"]),
    ] {
        let line = refusal(&url).await;
        assert_says(&line, &parts);
        assert!(line.contains(&cluster.port.to_string()) && !line.contains("secret"), "{line}");
    }
}

#[tokio::test]
async fn hostile_names_and_passwords_reach_the_server_as_they_are() {
    let cluster = cluster();
    let (role, dbname) = ("we\"ird '%@:/? é\n", "d\"b'%@:/? ü\t");
    let password = "p'\"\\%40@:/?#&=\n\t … ß";
    cluster.role(role, password).await;
    let create = format!("CREATE DATABASE \"{}\"", dbname.replace('"', "\"\""));
    cluster.admin().await.batch_execute(&create).await.unwrap();
    let authority = format!("{}:{}@127.0.0.1:{}", encode(role), encode(password), cluster.port);
    let url = format!("postgres://{authority}/{}", encode(dbname));
    let connection = connect(&url).await.unwrap();
    assert_eq!(ask(&connection, "SELECT current_user::text").await, role);
    assert_eq!(ask(&connection, "SELECT current_database()::text").await, dbname);
    let shown = format!("{:?} {connection:?}", parse(&url));
    assert!(!shown.contains("40@:/?#&="), "{shown}");
}

#[tokio::test]
async fn the_environment_and_the_password_file_complete_a_bare_url() {
    let cluster = cluster();
    let (role, password) = ("from:file\\", "a:b\\c é*");
    cluster.role(role, password).await;
    let home = tempfile::tempdir().unwrap();
    let passfile = home.path().join(".pgpass");
    let lines = format!(
        "# a comment\n127.0.0.1:1:*:*:wrong port\n*:{}:postgres:from\\:file\\\\:a\\:b\\\\c é*\n*:*:*:*:too late\n",
        cluster.port
    );
    write_passfile(&passfile, &lines, 0o600);
    let environment = Environment::default()
        .with("PGHOST", "127.0.0.1")
        .with("PGPORT", cluster.port.to_string())
        .with("PGUSER", role)
        .with("PGDATABASE", "postgres")
        .with("PGAPPNAME", "named by PGAPPNAME")
        .with("PGOPTIONS", "-c work_mem=7MB")
        .with_home(home.path());
    let connection = connect_in("postgres://", &environment).await.unwrap();
    assert_eq!(ask(&connection, "SELECT current_user::text").await, role);
    assert_eq!(ask(&connection, "SHOW application_name").await, "named by PGAPPNAME");
    assert_eq!(ask(&connection, "SHOW work_mem").await, "7MB");
}

#[test]
fn a_password_file_that_others_may_read_is_named() {
    let home = tempfile::tempdir().unwrap();
    write_passfile(&home.path().join(".pgpass"), "*:*:*:*:pw\n", 0o644);
    let url = format!("postgres://me@127.0.0.1:{}/x?sslmode=disable", impostor::saying(b"R\0\0\0\x08\0\0\0\x03"));
    let server = Server::parse_in(&url, &Environment::default().with_home(home.path())).unwrap();
    assert!(server.notes()[0].contains("chmod 600"), "{:?}", server.notes());
    let error = tokio::runtime::Runtime::new().unwrap().block_on(server.connect(0)).unwrap_err();
    assert!(error.what.contains("asks for a password") && error.next.contains("chmod 600"), "{error}");
}

#[tokio::test]
async fn an_authentication_method_that_is_not_allowed_is_refused() {
    let cluster = cluster();
    let url = cluster.url();
    for (methods, refused) in [("scram-sha-256", None), ("!password,!md5", None), ("md5,none", Some("`scram-sha-256`"))]
    {
        let connected = connect(&format!("{url}?require_auth={methods}")).await;
        let line = connected.err().map(|error| error.to_string());
        assert_eq!(line.is_some(), refused.is_some(), "{methods}: {line:?}");
        let names = line.is_none_or(|line| line.contains("require_auth") && line.contains(refused.unwrap()));
        assert!(names, "{methods}");
    }
    // The password is not sent if the server requests it in clear text.
    let port = impostor::saying(b"R\0\0\0\x08\0\0\0\x03");
    let line =
        refusal(&format!("postgres://me:s3cret@127.0.0.1:{port}/x?sslmode=disable&require_auth=!password")).await;
    assert!(line.contains("`password`"), "{line}");
}

#[test]
fn a_password_that_could_go_in_clear_text_is_warned_of() {
    let notes = |query: &str, host: &str| {
        let url = format!("postgres://me:pw@{host}/x{query}");
        parse(&url).notes().join(" ")
    };
    for weak in ["?sslmode=disable", "?sslmode=allow", "?sslmode=prefer"] {
        assert!(notes(weak, "db.test").contains("clear text"), "{weak}");
        assert_eq!(notes(weak, "127.0.0.1"), "", "{weak}");
        for safe in ["require_auth=scram-sha-256", "require_auth=!password"] {
            assert_eq!(notes(&format!("{weak}&{safe}"), "db.test"), "", "{weak} {safe}");
        }
    }
    assert_eq!(notes("?sslmode=require", "db.test"), "");
}

#[tokio::test]
async fn a_service_names_a_server_and_the_url_beats_it() {
    let cluster = cluster();
    let home = tempfile::tempdir().unwrap();
    let services = format!(
        "[other]\nhost=nowhere.invalid\n\n[bench]\n# mine\nhost=127.0.0.1\nport={}\nuser=postgres\npassword={PASSWORD}\n\
         dbname=no_such_db\napplication_name=served\n[third]\nport=1\n",
        cluster.port
    );
    fs::write(home.path().join(".pg_service.conf"), services).unwrap();
    let environment = Environment::default().with_home(home.path()).with("PGHOST", "nowhere.invalid");
    let connection = connect_in("postgres:///postgres?service=bench", &environment).await.unwrap();
    assert_eq!(ask(&connection, "SHOW application_name").await, "served");
    let error = connect_in("postgres://?service=none", &environment).await.unwrap_err();
    assert!(error.to_string().contains("service `none` does not exist"), "{error}");
}

/// The server of these hosts, and the statement that shows which of them took a session: a socket has no address.
fn of_hosts(hosts: &str, query: &str) -> Server {
    parse(&format!("postgres://postgres:{PASSWORD}@{hosts}/postgres{query}"))
}
const FROM: &str = "SELECT host(inet_client_addr())";

#[tokio::test]
async fn hosts_of_a_url_are_alternatives_in_their_order() {
    let cluster = cluster();
    let (folder, port) = (encode(&cluster.folder().display().to_string()), cluster.port);
    let both = of_hosts(&format!("127.0.0.1:{port},{folder}:{port}"), "");
    assert_eq!((both.endpoints(), ask(&both.connect(0).await.unwrap(), FROM).await), (1, "127.0.0.1".to_owned()));
    let second = of_hosts(&format!("127.0.0.1:1,{folder}:{port}"), "");
    assert_eq!(ask(&second.connect(0).await.unwrap(), FROM).await, "", "the first does not answer");
    let none = of_hosts("127.0.0.1:1,127.0.0.2:1", "").connect(0).await.unwrap_err().to_string();
    assert!(none.contains("no host can be used") && none.contains("127.0.0.2:1"), "{none}");
    let wrong = parse(&both.redacted().replace("postgres@", "postgres:wrong@"));
    let refused = wrong.connect(0).await.unwrap_err().to_string();
    assert!(!refused.contains("no host"), "a refused password ends the search: {refused}");
    for (wanted, is_met) in [("primary", true), ("read-write", true), ("prefer-standby", true), ("standby", false)] {
        let query = format!("?target_session_attrs={wanted}");
        let met = of_hosts(&format!("127.0.0.1:1,127.0.0.1:{port}"), &query).connect(0).await;
        assert_eq!(met.is_ok(), is_met, "{wanted}");
    }
}

#[tokio::test]
async fn a_balanced_host_is_an_endpoint_with_the_others_after_it() {
    let cluster = cluster();
    let (folder, port) = (encode(&cluster.folder().display().to_string()), cluster.port);
    let balanced = |first| of_hosts(&format!("127.0.0.1:{first},{folder}:{port}"), "?load_balance_hosts=random");
    let server = balanced(port);
    assert_eq!(server.endpoints(), 2);
    assert!(server.redacted().ends_with("?load_balance_hosts=random"), "{}", server.redacted());
    assert_eq!(ask(&server.connect(0).await.unwrap(), FROM).await, "127.0.0.1");
    assert_eq!(ask(&server.connect(1).await.unwrap(), FROM).await, "");
    assert!(server.connect(2).await.unwrap_err().to_string().contains("names 2"));
    assert_eq!(ask(&balanced(1).connect(0).await.unwrap(), FROM).await, "", "the next one takes the session");
}

#[tokio::test]
async fn sessions_are_called_mindful_unless_named() {
    let cluster = cluster();
    for url in [cluster.url(), cluster.socket_url()] {
        assert_eq!(ask(&connect(&url).await.unwrap(), "SHOW application_name").await, "mindful");
    }
    let named = format!("{}&application_name=one", cluster.socket_url());
    assert_eq!(ask(&connect(&named).await.unwrap(), "SHOW application_name").await, "one");
}

#[tokio::test]
async fn a_terminated_idle_session_reports_its_cause() {
    let cluster = cluster();
    let session = connect(&cluster.url()).await.unwrap();
    let pid = ask(&session, "SELECT pg_backend_pid()::text").await;
    let admin = cluster.admin().await;
    admin.batch_execute(&format!("SELECT pg_terminate_backend({pid}, 10000)")).await.unwrap();
    while !session.is_closed() {
        tokio::task::yield_now().await;
    }
    let error = session.explain(&session.simple_query("SELECT 1").await.unwrap_err());
    assert_eq!(error.kind, ErrorKind::Run);
    assert!(error.what.contains("terminating connection due to administrator command [57P01]"), "{error}");
    assert!(error.next.contains("administrator"), "{error}");
}

#[tokio::test]
async fn a_statement_is_cancelled_over_socket_and_tls_alike() {
    let cluster = cluster();
    for url in [cluster.url(), cluster.socket_url(), format!("{}?sslmode=require", cluster.url())] {
        let session = connect(&url).await.unwrap();
        let canceller = session.canceller();
        let sleep = session.batch_execute("SELECT pg_sleep(60)");
        let cancel = async {
            let admin = cluster.admin().await;
            let asleep = "SELECT count(*)::text FROM pg_stat_activity WHERE wait_event = 'PgSleep'";
            while ask(&admin, asleep).await == "0" {
                tokio::task::yield_now().await;
            }
            canceller.cancel().await.unwrap();
        };
        let (slept, ()) = tokio::join!(sleep, cancel);
        let error = session.explain(&slept.unwrap_err());
        assert!(error.what.contains("[57014]") && error.next.contains("cancelled"), "{error}");
    }
}

#[tokio::test]
async fn a_severed_session_stops_waiting_for_its_server() {
    let cluster = cluster();
    let session = connect(&cluster.url()).await.unwrap();
    let canceller = session.canceller();
    let (slept, ()) = tokio::join!(session.batch_execute("SELECT pg_sleep(600)"), async { canceller.sever() });
    let error = session.explain(&slept.unwrap_err());
    assert!(error.what.ends_with("the session was ended here"), "{error}");
}

#[tokio::test]
async fn an_error_of_the_server_names_the_next_step() {
    let cluster = cluster();
    cluster.role("poor", "x").await;
    cluster.admin().await.batch_execute("CREATE TABLE public.\"o\"\"dd\" (i int)").await.unwrap();
    let session = connect(&format!("postgres://poor:x@127.0.0.1:{}/postgres", cluster.port)).await.unwrap();
    let explain = async |sql| session.explain(&session.batch_execute(sql).await.unwrap_err()).to_string();
    assert_says(explain("SELECT * FROM public.\"o\"\"dd\"").await, &["UPDATE, DELETE ON TABLE \"o\"\"dd\""]);
    assert_says(explain("CREATE SCHEMA mine").await, &["ON DATABASE \"postgres\""]);
    assert_says(explain("SELECT pg_ls_waldir()").await, &["GRANT pg_monitor"]);
    let full = "DO $$ BEGIN RAISE 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$";
    assert_says(explain(full).await, &["free space"]);
    let line = explain("BEGIN READ ONLY; CREATE TABLE t ()").await;
    assert!(line.contains("[25006]") && line.contains("primary"), "{line}");
}
