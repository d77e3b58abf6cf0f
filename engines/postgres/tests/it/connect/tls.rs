//! TLS by sslmode, against a server with a certificate for `localhost`, signed by the tests' own authority.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;

use mindful_conformance::assert_says;
use mindful_conformance::keys::{Authority, Pair};
use mindful_postgres::connect::Environment;
use tempfile::TempDir;

use crate::connect::cluster::{Cluster, PASSWORD, cluster};
use crate::connect::{ask, connect, connect_in, refusal};

const ENCRYPTED: &str = "SELECT ssl::text FROM pg_stat_ssl WHERE pid = pg_backend_pid()";

struct Bench {
    cluster: Arc<Cluster>,
    folder: TempDir,
}

impl Bench {
    fn new() -> Self {
        Self { cluster: cluster(), folder: tempfile::tempdir().unwrap() }
    }

    fn url(&self, host: &str, parameters: &str) -> String {
        format!("postgres://postgres:{PASSWORD}@{host}:{}/postgres?{parameters}", self.cluster.port)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
        path
    }

    fn right_ca(&self) -> String {
        self.write("right.crt", &self.cluster.authority.certificate).display().to_string()
    }

    fn wrong_ca(&self) -> String {
        self.write("wrong.crt", &Authority::new("somebody else").certificate).display().to_string()
    }

    fn client(&self, Pair { certificate, key }: &Pair) -> String {
        let (certificate, key) = (self.write("client.crt", certificate), self.write("client.key", key));
        format!("sslcert={}&sslkey={}", certificate.display(), key.display())
    }
}

#[tokio::test]
async fn the_mode_decides_whether_a_session_is_encrypted() {
    let bench = Bench::new();
    for (mode, encrypted) in [
        ("", "true"),
        ("sslmode=prefer", "true"),
        ("sslmode=require", "true"),
        ("sslmode=disable", "false"),
        ("sslmode=allow", "false"),
    ] {
        let connection = connect(&bench.url("127.0.0.1", mode)).await.unwrap();
        assert_eq!(ask(&connection, ENCRYPTED).await, encrypted, "{mode}");
    }
    let socket = connect(&format!("{}&sslmode=require", bench.cluster.socket_url())).await.unwrap();
    assert_eq!(ask(&socket, ENCRYPTED).await, "false", "libpq ignores the mode on a socket");
}

#[tokio::test]
async fn each_mode_verifies_as_much_as_it_promises() {
    let bench = Bench::new();
    let by = |mode: &str, ca: &str| format!("sslmode={mode}&sslrootcert={ca}");
    let (right, wrong) = (bench.right_ca(), bench.wrong_ca());
    for (host, parameters) in [
        ("localhost", by("verify-full", &right)),
        ("127.0.0.1", by("verify-ca", &right)),
        ("127.0.0.1", by("require", &right)),
        ("127.0.0.1", "sslmode=require".to_owned()),
    ] {
        assert_eq!(
            ask(&connect(&bench.url(host, &parameters)).await.unwrap(), ENCRYPTED).await,
            "true",
            "{parameters}"
        );
    }
    assert_says(
        refusal(&bench.url("127.0.0.1", &by("verify-full", &right))).await,
        &["is for", "localhost", "sslmode=verify-ca"],
    );
    for mode in ["verify-full", "verify-ca", "require"] {
        let line = refusal(&bench.url("localhost", &by(mode, &wrong))).await;
        assert_says(line, &["not signed by a trusted CA", "sslrootcert=FILE"]);
    }
}

#[tokio::test]
async fn another_host_is_verified_in_full_by_default() {
    let bench = Bench::new();
    // A spelling of 127.0.0.1 that only the resolver understands, and so a host like any other to mindful.
    let line = refusal(&bench.url("127.0x1", "")).await;
    assert_says(
        &line,
        &["not signed by a trusted CA", "sslrootcert=FILE", "sslmode=require", "verify-full by default"],
    );
    assert!(connect(&bench.url("127.0x1", "sslmode=require")).await.is_ok());
    let by_variable = Environment::default().with("PGSSLMODE", "require");
    assert!(connect_in(&bench.url("127.0x1", ""), &by_variable).await.is_ok());
}

#[tokio::test]
async fn the_root_certificate_of_the_home_folder_is_used() {
    let bench = Bench::new();
    fs::create_dir(bench.folder.path().join(".postgresql")).unwrap();
    bench.write(".postgresql/root.crt", &Authority::new("somebody else").certificate);
    let home = Environment::default().with_home(bench.folder.path());
    assert!(connect_in(&bench.url("localhost", "sslmode=require"), &home).await.is_err());
    bench.write(".postgresql/root.crt", &bench.cluster.authority.certificate);
    assert!(connect_in(&bench.url("localhost", "sslmode=verify-full"), &home).await.is_ok());
}

#[tokio::test]
async fn prefer_and_allow_change_over_when_the_server_wants_it() {
    let bench = Bench::new();
    for role in ["only_plain", "only_encrypted"] {
        bench.cluster.role(role, "x").await;
    }
    let url = |role, mode| format!("postgres://{role}:x@127.0.0.1:{}/postgres?sslmode={mode}", bench.cluster.port);
    let plain = connect(&url("only_plain", "prefer")).await.unwrap();
    assert_eq!(ask(&plain, ENCRYPTED).await, "false");
    let encrypted = connect(&url("only_encrypted", "allow")).await.unwrap();
    assert_eq!(ask(&encrypted, ENCRYPTED).await, "true");
    let line = refusal(&url("only_plain", "prefer").replace(":x@", ":y@")).await;
    assert!(line.contains("password authentication failed"), "the way that got further counts: {line}");
    for (role, mode) in [("only_plain", "require"), ("only_encrypted", "disable")] {
        assert_says(refusal(&url(role, mode)).await, &["pg_hba.conf"]);
    }
}

#[tokio::test]
async fn a_client_certificate_logs_in() {
    let bench = Bench::new();
    bench.cluster.role("by_certificate", "unused").await;
    let url = |parameters: &str| {
        format!("postgres://by_certificate@127.0.0.1:{}/postgres?sslmode=require&{parameters}", bench.cluster.port)
    };
    let pair = bench.cluster.authority.sign("by_certificate", &[]);
    let connection = connect(&url(&bench.client(&pair))).await.unwrap();
    assert_eq!(ask(&connection, "SELECT current_user::text").await, "by_certificate");
    assert_says(refusal(&url("")).await, &["certificate"]);
    let stranger = Authority::new("somebody else").sign("by_certificate", &[]);
    assert_says(refusal(&url(&bench.client(&stranger))).await, &["does not accept the client certificate"]);
}

#[tokio::test]
async fn a_client_key_open_to_others_is_refused_before_sending() {
    let bench = Bench::new();
    let parameters = bench.client(&bench.cluster.authority.sign("by_certificate", &[]));
    fs::set_permissions(bench.folder.path().join("client.key"), PermissionsExt::from_mode(0o644)).unwrap();
    let error = connect(&bench.url("127.0.0.1", &parameters)).await.unwrap_err();
    assert!(error.to_string().contains("chmod 600"), "{error}");
}

#[tokio::test]
async fn channel_binding_holds_over_tls_and_is_refused_without() {
    let bench = Bench::new();
    let url = |mode| bench.url("127.0.0.1", &format!("channel_binding=require&sslmode={mode}"));
    assert!(connect(&url("require")).await.is_ok());
    assert_says(refusal(&url("disable")).await, &["channel binding"]);
}

#[tokio::test]
async fn the_oldest_version_of_tls_to_speak_can_be_chosen() {
    let bench = Bench::new();
    let version = "SELECT version FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    let newest = bench.url("127.0.0.1", "sslmode=require&ssl_min_protocol_version=TLSv1.3");
    assert_eq!(ask(&connect(&newest).await.unwrap(), version).await, "TLSv1.3");
    let error = connect(&bench.url("127.0.0.1", "ssl_min_protocol_version=TLSv9")).await.unwrap_err();
    assert!(error.to_string().contains("choose TLSv1,"), "{error}");
}

#[tokio::test]
async fn direct_tls_works_where_known_and_is_named_where_not() {
    let bench = Bench::new();
    let url = bench.url("127.0.0.1", "sslmode=require&sslnegotiation=direct");
    let version: u32 = ask(&bench.cluster.admin().await, "SHOW server_version_num").await.parse().unwrap();
    if version >= 170_000 {
        assert_eq!(ask(&connect(&url).await.unwrap(), ENCRYPTED).await, "true");
    } else {
        assert_says(refusal(&url).await, &["needs PostgreSQL 17"]);
    }
}
