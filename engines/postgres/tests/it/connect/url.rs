//! URLs, variables and files, without any server.

use std::os::unix::fs::chown;
use std::os::unix::net::UnixListener;
use std::path::Path;

use mindful_conformance::{STRANGER, not_run};
use mindful_core::{Engine, ErrorKind};
use mindful_postgres::ENGINE;
use mindful_postgres::connect::{Environment, Server, redact};
use proptest::prelude::*;

use crate::connect::encode;

fn parse(url: &str) -> Server {
    Server::parse_in(url, &Environment::default().with_user("somebody")).unwrap()
}

fn fault(url: &str) -> String {
    let error = Server::parse_in(url, &Environment::default().with_user("somebody")).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Plan, "{error}");
    assert!(!error.next.is_empty(), "{error}");
    error.to_string()
}

fn places(url: &str) -> Vec<String> {
    let server = parse(url);
    (0..server.endpoints()).map(|endpoint| server.place(endpoint)).collect()
}

#[test]
fn urls_have_the_same_meaning_as_for_libpq() {
    let cases: &[(&str, &[&str])] = &[
        ("postgres://h", &["somebody@h:5432/somebody"]),
        ("postgresql://u@h:1/d", &["u@h:1/d"]),
        ("postgres://u:p?w@h/d", &["u@h:5432/d"]),
        ("postgres://u@[::1]:7,[2001:db8::1]/d", &["u@[::1]:7,[2001:db8::1]:5432/d"]),
        ("postgres://u@a,b:2,c/d", &["u@a:5432,b:2,c:5432/d"]),
        ("postgres://u@/d?host=a,b&port=3", &["u@a:3,b:3/d"]),
        ("postgres://u@a,b:2/d?load_balance_hosts=random", &["u@a:5432/d", "u@b:2/d"]),
        ("postgres://u@%2Fsock:6/d", &["u@/sock/.s.PGSQL.6/d"]),
        ("postgres://u@/d?host=/a,/b", &["u@/a/.s.PGSQL.5432,/b/.s.PGSQL.5432/d"]),
        ("postgres://u@name/d?hostaddr=127.0.0.1", &["u@name:5432/d"]),
        ("postgres://u@/d?hostaddr=127.0.0.1", &["u@127.0.0.1:5432/d"]),
        ("postgres://ignored@h/x?user=u&dbname=d", &["u@h:5432/d"]),
        ("postgres://%75:x@%68/%64", &["u@h:5432/d"]),
        ("postgres://h?ssl=true&connect_timeout=0&krbsrvname=x&gssencmode=prefer", &["somebody@h:5432/somebody"]),
    ];
    for (url, expected) in cases {
        assert_eq!(places(url), *expected, "{url}");
    }
}

#[test]
fn a_bare_url_is_completed_and_a_full_one_is_not() {
    let environment =
        Environment::default().with("PGHOST", "a,b").with("PGPORT", "1,2").with("PGDATABASE", "d").with("PGUSER", "u");
    let server = Server::parse_in("postgres://", &environment).unwrap();
    assert_eq!((server.endpoints(), server.place(0)), (1, "u@a:1,b:2/d".into()));
    let server = Server::parse_in("postgres://x@h:9/y", &environment).unwrap();
    assert_eq!((server.endpoints(), server.place(0)), (1, "x@h:9/y".into()));
}

#[test]
fn a_bare_url_without_surroundings_goes_to_the_socket() {
    assert!(parse("postgres://").host_is_local(0));
    assert!(places("postgres://")[0].ends_with(".s.PGSQL.5432/somebody"), "{:?}", places("postgres://"));
}

#[test]
fn a_strangers_socket_is_used_only_if_it_is_named() {
    let port = 20_000 + std::process::id() % 10_000;
    let socket = Path::new("/tmp").join(format!(".s.PGSQL.{port}"));
    let _listening = UnixListener::bind(&socket).unwrap();
    let to = |url: &str| {
        let environment = Environment::default().with("PGPASSWORD", "secret").with("PGPORT", port.to_string());
        let server = Server::parse_in(url, &environment).unwrap();
        (server.place(0), server.notes().join("\n"))
    };
    let own = to("postgres://me@/db");
    let given_away = chown(&socket, Some(STRANGER), None).is_ok();
    let (strange, named) = (to("postgres://me@/db"), to("postgres://me@%2Ftmp/db"));
    std::fs::remove_file(&socket).unwrap();
    let of_tmp = (format!("me@{}/db", socket.display()), String::new());
    assert_eq!((&own, &named), (&of_tmp, &of_tmp));
    if !given_away {
        return not_run("it needs root to give a socket away");
    }
    let (place, note) = strange;
    assert_eq!(place, format!("me@/var/run/postgresql/.s.PGSQL.{port}/db"));
    assert!(note.contains(socket.to_str().unwrap()) && note.contains("name it to use it"), "{note}");
}

#[test]
fn sockets_and_loopback_are_local_and_nothing_else() {
    let hosts = "postgres://localhost,127.8.9.1,[::1],%2Ftmp,10.0.0.1,example.org?sslmode=disable";
    assert!(!parse(hosts).host_is_local(0), "one of the alternatives is not");
    let server = parse(&format!("{hosts}&load_balance_hosts=random"));
    let local: Vec<_> = (0..server.endpoints()).map(|endpoint| server.host_is_local(endpoint)).collect();
    assert_eq!(local, [true, true, true, true, false, false]);
}

#[test]
fn unknown_and_unsupported_parameters_have_a_next_step() {
    let cases = [
        ("postgres://h?sslmodus=require", "did you mean `sslmode`?"),
        ("postgres://h?pasword=hunter2", "did you mean `password`?"),
        ("postgres://h?sslmode=none", "choose disable, allow"),
        ("postgres://h?gssencmode=require", "GSSAPI"),
        ("postgres://h?sslcrl=/x", "revocation"),
        ("postgres://h?require_auth=ldap", "give some of none, password"),
        ("postgres://h?target_session_attrs=master", "choose any, read-write"),
        ("postgres://h?load_balance_hosts=yes", "choose disable, random"),
        ("postgres://h?sslmode=verify-ca", "sslrootcert=FILE"),
        ("postgres://h?sslmode=require&sslrootcert=system", "verify-full"),
        ("postgres://h?sslmode=require&sslrootcert=/no/such", "cannot read"),
        ("postgres://localhost?sslnegotiation=direct", "sslmode=require"),
        ("postgres://h?host=a,b&hostaddr=127.0.0.1", "an address for each host"),
        ("postgres://a,b,c?port=1,2", "a port for each host"),
        ("postgres://h?connect_timeout=soon", "seconds"),
        ("postgres://h:0", "1 to 65535"),
        ("postgres://::1/d", "brackets"),
        ("postgres://h/%zz", "percent-encoding"),
        ("postgres://h/%00", "zero byte"),
        ("mysql://h", "postgres://"),
    ];
    for (url, part) in cases {
        let line = fault(url);
        assert!(line.contains(part), "{url}: {line}");
    }
    let environment = Environment::default().with_user("u").with("PGSSLMODE", "on");
    assert!(Server::parse_in("postgres://h", &environment).unwrap_err().to_string().starts_with("PGSSLMODE: `on`"));
}

#[test]
fn neither_a_shown_url_nor_an_error_contains_its_password() {
    for (url, shown) in [
        ("u:secret@h:1/d?sslmode=require", "u@h:1/d?sslmode=require"),
        ("u@h/d?password=secret&application_name=x", "u@h/d?application_name=x"),
        ("u@h/d?pasword=secret", "u@h/d?pasword=…"),
        ("u@h/d?%70assword=secret", "u@h/d?%70assword=…"),
        ("u@h/d?sslmode=require;password=secret", "…h/d"),
        ("u@h/d;password=secret", "u@h/d;password=…"),
        ("x@u@h/d;password=secret", "…h/d;password=…"),
        ("host=h password=secret", "host=h password=…"),
        ("u:sec@ret@h/d", "…h/d"),
        ("u:sec@ret@x@h/d", "…h/d"),
        ("u:secret@x@h/d", "…h/d"),
        ("u:sec/ret@h/d", "…h/d"),
        ("u/secret@h/d", "…h/d"),
        ("u:1/secret@h/d", "…h/d"),
        ("u:1/secret?2@h/d?sslmode=x", "…h/d"),
        ("u:1/secret?host=2@h/d", "…h/d"),
        ("u:secret", "…"),
        ("u:secret/d", "…"),
        ("u:secret%@h", "u@h"),
        ("u@h/a\nb", "u@h/a b"),
    ] {
        let url = format!("postgres://{url}");
        assert_eq!(redact(&url), format!("postgres://{shown}"), "{url}");
        let error = Server::parse_in(&url, &Environment::default().with_user("me")).err();
        let line = error.map(|error| error.to_string()).unwrap_or_default();
        assert!(!line.contains("secret") && !line.contains("ret@"), "{url}: {line}");
    }
    assert_eq!(redact("host=h password=secret"), "postgres://…");
    assert_eq!(
        ["embedded", "embedded:"].map(|url| ENGINE.redact(url)),
        ["embedded", "embedded:"],
        "names hold no secret"
    );
}

proptest! {
    #[test]
    fn no_text_makes_the_parser_or_the_redaction_panic(text in "(postgres(ql)?://)?[\\PC@:/?&=%,\\[\\]\n]{0,60}") {
        let _ = Server::parse_in(&text, &Environment::default());
        prop_assert!(!redact(&text).contains('\n'));
    }

    #[test]
    fn a_redacted_url_names_the_same_place(user in ".{1,12}", dbname in ".{1,12}", port in 1..=u16::MAX, ip: bool) {
        prop_assume!(!user.contains('\0') && !dbname.contains('\0'));
        let host = if ip { "[::1]" } else { "%2Frun%2Fa%20b" };
        let server = parse(&format!("postgres://{}:secret@{host}:{port}/{}", encode(&user), encode(&dbname)));
        let place = server.place(0);
        prop_assert!(place.starts_with(&format!("{user}@")) && place.ends_with(&format!("/{dbname}")), "{}", place);
        let again = parse(&server.redacted());
        prop_assert_eq!(again.place(0), server.place(0));
        prop_assert_eq!(again.redacted(), server.redacted());
    }

    #[test]
    fn a_password_shows_nowhere(password in "[!-~é…]{8,20}", raw: bool) {
        let written = if raw { password.clone() } else { encode(&password) };
        let url = format!("postgres://u:{written}@localhost/d?sslmode=disable");
        let tell = |text: String| !text.contains(&password) && !text.contains(&written);
        prop_assert!(tell(redact(&url)), "{}", redact(&url));
        match Server::parse_in(&url, &Environment::default()) {
            Ok(server) => {
                let shown = format!("{server:?}{}{}", server.redacted(), server.place(0));
                prop_assert!(tell(shown.clone()), "{}", shown);
            }
            Err(error) => prop_assert!(tell(error.to_string()), "{}", error),
        }
    }
}
