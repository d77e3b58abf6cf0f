//! TLS by ssl-mode, against real servers with a certificate for `localhost`, signed by the tests' own authority.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use mindful_conformance::keys::{Authority, Pair};
use mindful_conformance::quick_place;
use tempfile::TempDir;

use crate::by_hand::{ByHand, free_port};
use crate::relay::Relay;
use crate::support::{Kind, MARIADB, MYSQL, target_at};

/// Nothing else in any test looks like it.
pub(crate) const PASSWORD: &str = "Zx9-unlikely-Qw7";
/// The first statement of every connection.
const WORDS: &str = "STRICT_ALL_TABLES";

/// A server with TLS, and a relay before it that records the traffic.
pub(crate) struct Bench {
    place: TempDir,
    authority: Authority,
    pub server: ByHand,
    pub relay: Relay,
}

impl Bench {
    pub(crate) fn start(kind: Kind) -> Self {
        let (place, authority, port) = (quick_place(), Authority::new("the tests"), free_port());
        let tls = tls_of(place.path(), &authority, &authority.sign("server", &["localhost"]));
        // MySQL's key for passwords that are not encrypted otherwise.
        let key = "--loose-caching-sha2-password-auto-generate-rsa-keys=ON";
        let options: Vec<&str> = tls.iter().map(String::as_str).chain([key]).collect();
        let server = ByHand::on_port(kind, port, &options);
        for (user, needs) in [("me", "NONE"), ("sealed", "SSL"), ("known", "X509")] {
            server.sql(&[&format!("CREATE USER {user}@127.0.0.1 IDENTIFIED {} REQUIRE {needs}", by(kind))]);
        }
        Self { place, authority, server, relay: Relay::to(port) }
    }

    pub(crate) fn url(&self, user: &str, host: &str, parameters: &str) -> String {
        format!("mysql://{user}:{PASSWORD}@{host}:{}/bench?{parameters}", self.relay.port)
    }

    /// Whether the traffic to the server is readable on the way.
    fn in_clear(&self, host: &str, parameters: &str) -> bool {
        self.relay.heard(WORDS);
        let url = self.url("me", host, parameters);
        drop(target_at(&url, &[]).unwrap_or_else(|error| panic!("{parameters}: {error}")));
        self.relay.heard(WORDS)
    }

    /// The one line of a refusal, which names no password.
    fn refusal(&self, user: &str, host: &str, parameters: &str) -> String {
        let refused = target_at(&self.url(user, host, parameters), &[]).err();
        let line = refused.unwrap_or_else(|| panic!("{user}@{host} {parameters} was not refused")).to_string();
        assert!(!line.contains('\n') && !line.contains(PASSWORD), "{line}");
        line
    }

    fn file(&self, name: &str, text: &str) -> String {
        written(self.place.path(), name, text, 0o600).display().to_string()
    }

    fn right_ca(&self) -> String {
        self.file("right.pem", &self.authority.certificate)
    }

    fn wrong_ca(&self) -> String {
        self.file("wrong.pem", &Authority::new("somebody else").certificate)
    }

    fn client(&self, signed: &Pair) -> String {
        let (certificate, key) = (self.file("client.pem", &signed.certificate), self.file("client.key", &signed.key));
        format!("ssl-mode=REQUIRED&ssl-cert={certificate}&ssl-key={key}")
    }
}

fn written(folder: &Path, name: &str, text: &str, mode: u32) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
    path
}

/// The clause of a plugin that proves passwords by a hash, so it may request them in clear text.
pub(crate) fn by(kind: Kind) -> String {
    let plugin = if kind == MYSQL { "WITH mysql_native_password " } else { "" };
    format!("{plugin}BY '{PASSWORD}'")
}

fn tls_of(folder: &Path, authority: &Authority, own: &Pair) -> [String; 4] {
    let file = |name: &str, text: &str| written(folder, name, text, 0o644).display().to_string();
    [
        "--ssl=ON".to_owned(),
        format!("--ssl-ca={}", file("ca.pem", &authority.certificate)),
        format!("--ssl-cert={}", file("server.pem", &own.certificate)),
        format!("--ssl-key={}", file("server.key", &own.key)),
    ]
}

fn tells(line: &str, parts: &[&str]) {
    for part in parts {
        assert!(line.contains(part), "no `{part}` in: {line}");
    }
}

fn each_mode(bench: &Bench) {
    let (right, wrong) = (format!("ssl-ca={}", bench.right_ca()), format!("ssl-ca={}", bench.wrong_ca()));
    assert!(bench.in_clear("127.0.0.1", "ssl-mode=DISABLED"), "the words are not what is said first");
    for encrypted in ["", "ssl-mode=PREFERRED", "ssl-mode=REQUIRED", &format!("ssl-mode=required&{wrong}")] {
        assert!(!bench.in_clear("127.0.0.1", encrypted), "{encrypted}");
    }
    // The certificate is for another name.
    assert!(!bench.in_clear("127.0.0.1", &format!("ssl-mode=VERIFY_CA&{right}")));
    assert!(!bench.in_clear("localhost", &format!("ssl-mode=verify-identity&{right}")));
    for mode in ["VERIFY_CA", "VERIFY_IDENTITY"] {
        for ca in [wrong.as_str(), "connect-timeout=9"] {
            let line = bench.refusal("me", "localhost", &format!("ssl-mode={mode}&{ca}"));
            tells(&line, &["me@localhost:", "not signed by a trusted CA", "ssl-ca=FILE", "ssl-mode=REQUIRED"]);
        }
    }
    let line = bench.refusal("me", "127.0.0.1", &format!("ssl-mode=VERIFY_IDENTITY&{right}"));
    tells(&line, &["is for", "localhost", "not for the host in the URL", "ssl-mode=VERIFY_CA"]);
    let line = bench.refusal("sealed", "127.0.0.1", "ssl-mode=DISABLED");
    tells(&line, &["Access denied", "ssl-mode=REQUIRED"]);
}

fn who_shows_a_certificate(bench: &Bench) {
    let own = bench.client(&bench.authority.sign("known", &[]));
    drop(target_at(&bench.url("known", "127.0.0.1", &own), &[]).unwrap());
    let line = bench.refusal("known", "127.0.0.1", "ssl-mode=REQUIRED");
    tells(&line, &["Access denied"]);
    let strangers = bench.client(&Authority::new("somebody else").sign("known", &[]));
    let line = bench.refusal("known", "127.0.0.1", &strangers);
    tells(&line, &["does not accept the client certificate", "ssl-cert=FILE"]);
}

/// `reload` is the statement that loads another certificate.
fn what_a_server_may_change(bench: &Bench, reload: &str) {
    let right = format!("ssl-ca={}", bench.right_ca());
    bench.server.sql(&["SET GLOBAL require_secure_transport = ON"]);
    let line = bench.refusal("me", "127.0.0.1", "ssl-mode=DISABLED");
    tells(&line, &["only encrypted connections", "ssl-mode=REQUIRED"]);
    bench.server.sql(&["SET GLOBAL require_secure_transport = OFF"]);

    tls_of(bench.place.path(), &bench.authority, &bench.authority.sign_expired("server", &["localhost"]));
    bench.server.sql(&[reload]);
    let line = bench.refusal("me", "localhost", &format!("ssl-mode=VERIFY_IDENTITY&{right}"));
    tells(&line, &["has expired", "renew it on the server", "ssl-mode=REQUIRED"]);
    assert!(!bench.in_clear("localhost", "ssl-mode=REQUIRED"));
}

#[test]
fn tls_to_a_mariadb_is_as_its_client_has_it() {
    let bench = Bench::start(MARIADB);
    each_mode(&bench);
    who_shows_a_certificate(&bench);
    what_a_server_may_change(&bench, "FLUSH SSL");
}

#[test]
fn tls_to_a_mysql_is_as_its_client_has_it() {
    let bench = Bench::start(MYSQL);
    each_mode(&bench);
    who_shows_a_certificate(&bench);
    what_a_server_may_change(&bench, "ALTER INSTANCE RELOAD TLS");
    // MySQL's own way asks for the password in clear text at first, which mindful does not send.
    bench.server.sql(&[&format!("CREATE USER fresh@127.0.0.1 IDENTIFIED BY '{PASSWORD}'")]);
    // A spelling of 127.0.0.1 that only the resolver understands, and so a host like any other to mindful.
    let line = bench.refusal("fresh", "127.0x1", "ssl-mode=DISABLED");
    tells(&line, &["fresh@127.0x1:", "requests the password in clear text", "ssl-mode=REQUIRED"]);
    // On this host it goes by the server's key.
    drop(target_at(&bench.url("fresh", "127.0.0.1", "ssl-mode=DISABLED"), &[]).unwrap());
    // The server knows it from then on, until it is told to forget.
    drop(target_at(&bench.url("fresh", "127.0x1", "ssl-mode=DISABLED"), &[]).unwrap());
    bench.server.sql(&["FLUSH PRIVILEGES"]);
    drop(target_at(&bench.url("fresh", "127.0x1", "ssl-mode=REQUIRED"), &[]).unwrap());
}

#[test]
fn a_mariadb_without_tls_is_refused_where_tls_was_asked_for() {
    let (place, port) = (quick_place(), free_port());
    let server = ByHand::on_port(MARIADB, port, &[]);
    server.sql(&[&format!("CREATE USER me@127.0.0.1 IDENTIFIED BY '{PASSWORD}'")]);
    let bench = Bench { place, authority: Authority::new("nobody"), server, relay: Relay::to(port) };
    for mode in ["", "ssl-mode=PREFERRED", "ssl-mode=DISABLED"] {
        assert!(bench.in_clear("127.0.0.1", mode), "{mode}");
    }
    for mode in ["REQUIRED", "VERIFY_CA", "VERIFY_IDENTITY"] {
        let line = bench.refusal("me", "127.0.0.1", &format!("ssl-mode={mode}"));
        tells(&line, &["me@127.0.0.1:", "does not offer TLS", "ssl_cert", "ssl-mode=DISABLED"]);
    }
}
