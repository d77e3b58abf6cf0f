//! Errors in one line: what happened, where, and the next step.

use mindful_core::Error;

use crate::connect::driver::Failure;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doing {
    Connect,
    Prepare,
    Work,
}

pub(crate) fn explain(failure: &Failure, doing: Doing, place: &str) -> Error {
    let connecting = doing == Doing::Connect;
    let (what, next) = match failure {
        Failure::Left => {
            return Error::interrupted(format!(
                "{place} was interrupted: the server still has its statement, and rolls it back or ends it"
            ));
        }
        Failure::Server { code, text } => {
            (text.clone(), of_code(*code).unwrap_or("look the number up at docs.oracle.com/error-help/db"))
        }
        Failure::Listener { code, text } => {
            let unknown = "see `lsnrctl status` on the server for the services of the listener";
            (text.clone(), code.and_then(of_code).unwrap_or(unknown))
        }
        Failure::Silent(within) => (
            format!("no answer within {} s", within.as_secs().max(1)),
            if connecting {
                "check whether a firewall drops packets, or pass --connect-timeout 60s"
            } else {
                "check the wait of the session in V$SESSION; the connection is abandoned"
            },
        ),
        Failure::Unable(words) if connecting => (
            format!("the server requires a feature that the driver lacks ({words}), usually native network encryption"),
            "set SQLNET.ENCRYPTION_SERVER=ACCEPTED in the server's sqlnet.ora, or connect by TCPS \
             (oracle://user@tcps://host:2484/service)",
        ),
        Failure::Unable(words) => (format!("the driver gave up ({words})"), REPORT),
        Failure::Lost(text) => (
            format!("the connection broke ({text})"),
            if connecting {
                "check that an Oracle listener answers at this host and port"
            } else {
                "see the alert log: an instance that went down, a killed session, a network in between"
            },
        ),
        Failure::Address(text) => {
            (text.clone(), "give oracle://user@host:1521/service, or an alias of the tnsnames.ora in --tns-admin")
        }
        Failure::Tls(text) => (text.clone(), WALLET),
        Failure::Garbled(text) => (
            format!("the answer cannot be read ({text})"),
            if connecting { "check that Oracle listens at this host and port" } else { REPORT },
        ),
    };
    let error = if doing == Doing::Work { Error::run(what, next) } else { Error::target(what, next) };
    error.at(place)
}

const REPORT: &str = "`mindful doctor` writes a bundle for a report of this bug";
const WALLET: &str = "pass --wallet DIR with ewallet.pem (cwallet.sso cannot be read), its password by \
    ORACLE_WALLET_PASSWORD; an authority of your own is trusted by a wallet of certificates alone, without a key";

fn of_code(code: u32) -> Option<&'static str> {
    NEXT.iter().find(|(known, _)| known.contains(&code)).map(|(_, next)| *next)
}

/// Numbers that a first contact meets, each with the next step.
const NEXT: &[(&[u32], &str)] = &[
    (&[1], "two rows have one key: `mindful cleanup` and load again"),
    (&[18], "raise the parameter sessions, or use fewer --sessions"),
    (&[20], "raise the parameter processes, or use fewer --sessions"),
    (&[28], "the session was killed: find out why, and run again"),
    (&[54], "another session holds the table: wait until it ends"),
    (&[60], "a deadlock: give each session a schema of its own, or --commit each"),
    (&[942], "grant what `mindful engines oracle --grants` prints, or `mindful load` first"),
    (&[955], "a table of that name exists and is not mindful's: choose another --namespace"),
    (&[1013], "the call was cancelled"),
    (
        &[1017],
        "check account and password; an account with an 11G verifier alone needs its password set again on 12c or later",
    ),
    (&[1031], "grant what `mindful engines oracle --grants` prints"),
    (&[1033], "the instance is starting or stopping: wait, then try again"),
    (&[1034], "the instance is down: start it"),
    (&[1109], "the database is not open: open it (a pluggable one by ALTER PLUGGABLE DATABASE OPEN)"),
    (&[1536], "raise the account's quota on the tablespace, or name another with --tablespace"),
    (&[1555], "undo was too small for the query: raise UNDO_RETENTION or the undo tablespace"),
    (&[1591], "an in-doubt transaction holds rows: resolve it"),
    (&[1652], "temporary space is used up: enlarge the TEMP tablespace"),
    (&[1653, 1654, 1658], "the tablespace is full: enlarge it, or load less"),
    (&[1950], "give the account a quota: ALTER USER name QUOTA UNLIMITED ON tablespace"),
    (&[2391], "the account's profile limits its sessions: raise SESSIONS_PER_USER, or use fewer --sessions"),
    (&[3113, 3114], "the session's process died: see the alert log and its trace file"),
    (&[3135], "the connection failed on its way: check the network, and firewalls that drop idle connections"),
    (&[4031], "the shared pool is too small: raise SHARED_POOL_SIZE or SGA_TARGET"),
    (&[4036], "PGA_AGGREGATE_LIMIT is reached: raise it, or use fewer --sessions"),
    (&[4068], "a package changed under the session: run again"),
    (&[6550], "a package or view is missing or not granted: `mindful engines oracle --grants` prints what is needed"),
    (&[12_154], "the alias is not in tnsnames.ora: give its folder by --tns-admin, or oracle://user@host:1521/service"),
    (&[12_505], "the listener has no such SID: give a service, as `lsnrctl status` lists them"),
    (&[12_514], "the listener has no such service: `lsnrctl status` on the server lists them"),
    (&[12_516, 12_519], "the listener has no free handler: raise the parameter processes, or use fewer --sessions"),
    (&[12_518], "the listener could not pass the connection on: raise the parameter processes"),
    (
        &[12_520],
        "no shared or pooled server is free: start the pool (DBMS_CONNECTION_POOL.START_POOL), or omit :pooled",
    ),
    (&[12_521], "the listener has no such instance: `lsnrctl status` on the server lists them"),
    (&[12_526], "the service is restricted: end restricted mode, or take another service"),
    (&[12_528], "the instance is starting or in NOMOUNT: wait, then try again"),
    (&[12_541], "nothing listens at this host and port: start the listener, or correct the port"),
    (&[12_545], "the host's name does not resolve: correct it"),
    (&[12_560], "the connection failed in the network layer: check host, port and firewalls"),
    (&[12_660], "the server demands native network encryption: allow plain clients, or connect by TCPS"),
    (&[12_954], "Oracle Free holds 12 GB of data: load less"),
    (&[16_000], "the database is open read only: connect to the primary"),
    (&[28_000], "the account is locked: ALTER USER name ACCOUNT UNLOCK"),
    (&[28_001], "the password has expired: set it again"),
    (
        &[28_040],
        "the server does not allow the driver's version of the protocol: see SQLNET.ALLOWED_LOGON_VERSION_SERVER",
    ),
    (&[30_036], "undo space is used up: enlarge the undo tablespace"),
    (&[56_935], "the database is being patched: wait"),
];

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use mindful_core::ErrorKind;

    use super::*;

    #[test]
    fn each_failure_is_one_line_with_a_next_move() {
        let failures = [
            Failure::Server { code: 7, text: "ORA-00007: a\nb".to_owned() },
            Failure::Listener { code: None, text: "refused".to_owned() },
            Failure::Silent(Duration::from_secs(3)),
            Failure::Unable("not yet implemented".to_owned()),
            Failure::Lost("reset".to_owned()),
            Failure::Address("no such alias".to_owned()),
            Failure::Tls("no wallet".to_owned()),
            Failure::Garbled("type 77".to_owned()),
        ];
        let left = explain(&Failure::Left, Doing::Work, "session 3");
        assert!(
            left.kind == ErrorKind::Interrupted && left.to_string().starts_with("session 3 was interrupted"),
            "{left}"
        );
        for failure in failures {
            for doing in [Doing::Connect, Doing::Prepare, Doing::Work] {
                let error = explain(&failure, doing, "connecting to db");
                let line = error.to_string();
                assert!(
                    !error.next.is_empty() && !line.contains('\n') && line.starts_with("connecting to db: "),
                    "{line}"
                );
                assert_eq!(error.kind == ErrorKind::Run, doing == Doing::Work, "{line}");
            }
        }
    }

    #[test]
    fn a_known_error_number_has_its_own_next_step() {
        let text = "made up".to_owned();
        let server = |code| explain(&Failure::Server { code, text: text.clone() }, Doing::Prepare, "here").next;
        assert!(server(1_654).contains("the tablespace is full") && server(7).contains("error-help"));
        let listener = Failure::Listener { code: Some(12_514), text: text.clone() };
        assert!(explain(&listener, Doing::Prepare, "here").next.contains("no such service"));
    }
}
