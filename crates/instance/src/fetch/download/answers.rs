//! Tests of answers of sources, and of the messages about them.

use std::io;
use std::net::TcpListener;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use mindful_conformance::http::{self, redirect, serve};
use mindful_core::contract::event::{Event, Silent};
use rustls::pki_types::PrivatePkcs8KeyDer;

use super::super::artefact::Contents;
use super::*;

const QUICK: Patience = Patience {
    answer: Duration::from_millis(300),
    piece: Duration::from_millis(300),
    all: Duration::from_secs(20),
    again: Duration::ZERO,
};

const FEW: Limits = Limits { packed: 1 << 20, unpacked: 1 << 20, entries: 10 };

fn artefact() -> Artefact {
    Artefact {
        what: "Server 1.2".to_owned(),
        coordinates: ["org.some".to_owned(), "server".to_owned(), "1.2".to_owned()],
        // Of `archive`.
        sha256: Some("0eb3e36bfb24dcd9bb1d1bece1531216b59539a8fde17ee80224af0653c92aa3"),
        contents: Contents::Tar(".txz", None),
    }
}

/// A source that answers its connections with these bytes, one after the other, the last again and again.
fn source(answers: Vec<Vec<u8>>) -> String {
    let mut served = 0;
    serve(move |_, stream| {
        let _ = stream.write_all(&answers[served.min(answers.len() - 1)]);
        served += 1;
    })
}

fn answer(status: &str, body: &[u8]) -> Vec<u8> {
    http::answer(&format!("{status}\r\nConnection: close"), body)
}

/// An answer that ends after `body`, before the announced length.
fn short(body: &[u8]) -> Vec<u8> {
    [b"HTTP/1.1 200 OK\r\nContent-Length: 700\r\nConnection: close\r\n\r\n", body].concat()
}

fn fetched_with(base: &str, proxy: Option<&str>, what: &Artefact) -> Result<Vec<u8>> {
    let source = Source::with(base, Vec::new(), proxy.map(str::to_owned), QUICK)?;
    let mut file = tempfile::tempfile().unwrap();
    source.download(what, &FEW, &mut file, &Silent)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).unwrap();
    Ok(bytes)
}

fn refusal(base: &str) -> String {
    fetched_with(base, None, &artefact()).unwrap_err().to_string()
}

fn holds(refusal: &str, parts: &[&str]) {
    for part in parts {
        assert!(refusal.contains(part), "{part}: {refusal}");
    }
    assert_eq!(refusal.lines().count(), 1);
}

#[test]
fn the_address_is_that_of_the_layout_of_maven() {
    assert_eq!(artefact().url("https://host/repo/"), "https://host/repo/org/some/server/1.2/server-1.2.jar");
}

#[test]
fn another_hash_is_refused_and_both_are_reported() {
    let refusal = refusal(&source(vec![answer("200 OK", b"something else")]));
    holds(&refusal, &["has the hash", artefact().sha256.unwrap(), "it was not used", "proxy"]);
}

#[test]
fn an_unpinned_archive_is_compared_with_its_sources_hash() {
    let hash = hex(&Sha512::digest(b"archive"));
    let what = Artefact { sha256: None, ..artefact() };
    let published = answer("200 OK", format!("{hash}  server-1.2.jar\n").as_bytes());
    let good = source(vec![published.clone(), answer("200 OK", b"archive")]);
    assert_eq!(fetched_with(&good, None, &what).unwrap(), b"archive");
    let bad = source(vec![published, answer("200 OK", b"another")]);
    holds(&fetched_with(&bad, None, &what).unwrap_err().to_string(), &["has the hash"]);
}

#[test]
fn a_source_that_fails_for_a_moment_is_asked_again() {
    let what = Artefact { sha256: None, ..artefact() };
    let hash = hex(&Sha512::digest(b"archive"));
    let answers = vec![
        answer("503 Busy", b""),
        answer("200 OK", hash.as_bytes()),
        answer("429 Slowly", b""),
        short(b"arc"),
        answer("200 OK", b"archive"),
    ];
    assert_eq!(fetched_with(&source(answers), None, &what).unwrap(), b"archive");
}

#[test]
fn an_answer_of_the_source_is_reported_with_a_next_step() {
    for (line, parts) in [
        ("404 Not Found", ["does not exist", "another version"]),
        ("403 Forbidden", ["HTTP status 403", "--fetch-url"]),
        ("503 Busy", ["HTTP status 503", "--fetch-url"]),
        ("407 Proxy Authentication Required", ["asks for a login", "HTTPS_PROXY"]),
    ] {
        holds(&refusal(&source(vec![answer(line, b"")])), &parts);
    }
    holds(&refusal(&source(vec![short(b"short")])), &["ended too early", "again"]);
    holds(&refusal(&source(vec![answer("200 OK", &vec![0; 2 << 20])])), &["larger than 1 MiB"]);
}

#[test]
fn a_network_that_is_not_there_is_reported_with_the_next_move() {
    holds(&refusal("http://nowhere.invalid"), &["DNS", "HTTPS_PROXY", "--fetch-url"]);
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    holds(&refusal(&format!("http://{closed}")), &["refused", "network"]);
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    holds(&refusal(&format!("http://{}", silent.local_addr().unwrap())), &["in time", "network"]);
    holds(&refusal("ftp://host"), &["`ftp://host`", "--fetch-url"]);
}

#[test]
fn a_full_disk_is_reported_with_the_next_move() {
    let full = || io::Error::from_raw_os_error(rustix::io::Errno::NOSPC.raw_os_error());
    holds(&reason::of_network("URL", None, &ureq::Error::Io(full())).to_string(), &["no space is left", "--fetch-dir"]);
    holds(&reason::of_place(std::path::Path::new("/shelf"), &full()).to_string(), &["/shelf", "free some space"]);
    assert!(!reason::may_pass(&ureq::Error::Io(full())), "a full disk is asked once");
}

/// A source with TLS that answers each connection with these bytes, and its certificate.
fn source_with_tls(answer: Vec<u8>) -> (String, Certificate<'static>) {
    let own = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let key = PrivatePkcs8KeyDer::from(own.signing_key.serialize_der());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let server = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let server = server.with_no_client_auth().with_single_cert(vec![own.cert.der().clone()], key.into()).unwrap();
    let server = Arc::new(server);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("https://localhost:{}", listener.local_addr().unwrap().port());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let tls = rustls::ServerConnection::new(Arc::clone(&server)).unwrap();
            let mut stream = rustls::StreamOwned::new(tls, stream.unwrap());
            if stream.read(&mut [0; 4096]).is_ok() {
                let _ = stream.write_all(&answer);
                stream.conn.send_close_notify();
                let _ = stream.flush();
            }
        }
    });
    (base, Certificate::from_der(own.cert.der()).to_owned())
}

fn refusal_with_tls(base: &str, trusted: Certificate<'static>) -> String {
    let source = Source::with(base, vec![trusted], None, QUICK).unwrap();
    source.download(&artefact(), &FEW, &mut tempfile::tempfile().unwrap(), &Silent).unwrap_err().to_string()
}

#[test]
fn a_source_without_a_trusted_certificate_is_refused() {
    let (base, _) = source_with_tls(answer("200 OK", b"archive"));
    let (_, other) = source_with_tls(Vec::new());
    holds(&refusal_with_tls(&base, other), &["its certificate is not signed", "ca-certificates", "SSL_CERT_FILE"]);
    let none = Source::with(&base, Vec::new(), None, QUICK).err().unwrap();
    holds(&none.to_string(), &["no CA certificates", "ca-certificates", "SSL_CERT_FILE"]);
}

#[test]
fn the_proxy_is_that_of_the_scheme_unless_the_host_is_excepted() {
    let of = |base: &str, set: &[(&str, &str)]| {
        proxy(base, &|name| set.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()))
    };
    let both = [("HTTPS_PROXY", "http://one"), ("all_proxy", "http://all"), ("HTTP_PROXY", "http://evil")];
    assert_eq!(of("https://host/x", &both).as_deref(), Some("http://one"));
    assert_eq!(of("http://host/x", &both).as_deref(), Some("http://all"));
    assert_eq!(of("https://host/x", &[("https_proxy", "")]), None);
    for (except, free) in [("host", true), (".corp", true), ("*", true), ("other, A.corp", true), ("b.corp", false)] {
        let base = if except == "host" { "https://HOST:8443/x" } else { "https://a.corp/x" };
        let found = of(base, &[("HTTPS_PROXY", "http://one"), ("NO_PROXY", except)]);
        assert_eq!(found.is_none(), free, "{except}");
    }
}

#[test]
fn a_proxy_that_refuses_is_reported_without_its_password() {
    let proxy = source(vec![answer("403 Forbidden", b"")]).replace("http://", "http://me:secret@");
    let refusal = fetched_with("http://nowhere.invalid", Some(&proxy), &artefact()).unwrap_err().to_string();
    holds(&refusal, &["through the proxy", "proxy refuses"]);
    assert!(!refusal.contains("secret"), "{refusal}");
    let refusal = fetched_with("http://host", Some("gopher://me:secret@x"), &artefact()).unwrap_err().to_string();
    holds(&refusal, &["proxy", "http://HOST:PORT"]);
    assert!(!refusal.contains("secret"), "{refusal}");
}

/// Reported progress, in bytes: the amount so far, and the total.
#[derive(Default)]
struct Progress(Mutex<Vec<(u64, u64)>>);

impl Events for Progress {
    fn emit(&self, event: Event) {
        if let Event::Progress { done, of, .. } = event {
            self.0.lock().unwrap().push((done, of));
        }
    }
}

#[test]
fn progress_is_reported_by_bytes_from_the_first_to_the_last() {
    let base = source(vec![answer("200 OK", &vec![7; 300_000])]);
    let progress = Progress::default();
    let source = Source::with(&base, Vec::new(), None, QUICK).unwrap();
    let refusal = source.download(&artefact(), &FEW, &mut tempfile::tempfile().unwrap(), &progress).unwrap_err();
    assert!(refusal.to_string().contains("hash"));
    let events = progress.0.into_inner().unwrap();
    assert!(events[0].0 < 300_000 && events[0].1 == 300_000, "{events:?}");
    assert_eq!(events.last(), Some(&(300_000, 300_000)));
}

#[test]
fn a_mirror_that_redirects_on_its_host_is_followed() {
    let body = b"an archive";
    let what = Artefact { sha256: None, ..artefact() };
    let hash = hex(&Sha512::digest(body));
    for (head, tail) in [
        ("HTTP/1.1 301 Moved Permanently", "Content-Length: 5\r\nConnection: close\r\n\r\nmoved"),
        ("HTTP/1.0 302 Found", "\r\nmoved"),
        ("HTTP/1.1 307 Temporary Redirect", "Transfer-Encoding: chunked\r\n\r\n5\r\nmoved\r\n0\r\n\r\n"),
        ("HTTP/1.1 308 Permanent Redirect", "Content-Length: 0\r\n\r\n"),
    ] {
        // The hash first, then the archive.
        let other = source(vec![answer("200 OK", hash.as_bytes()), answer("200 OK", body)]);
        let mirror = source(vec![format!("{head}\r\nLocation: {other}/x\r\n{tail}").into_bytes()]);
        let fetched = fetched_with(&mirror, None, &what).map_err(|error| error.to_string());
        assert_eq!(fetched, Ok(body.to_vec()), "{head}");
    }
    for once in ["/elsewhere", "elsewhere"] {
        let mirror = source(vec![redirect(once), answer("200 OK", hash.as_bytes()), answer("200 OK", body)]);
        assert_eq!(fetched_with(&mirror, None, &what).map_err(|error| error.to_string()), Ok(body.to_vec()), "{once}");
    }
}

#[test]
fn a_mirror_that_redirects_to_another_host_is_refused() {
    let asked = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = asked.local_addr().unwrap().port();
    for to in
        [format!("http://localhost:{port}/x"), format!("//localhost:{port}"), format!("http://127.0.0.1@[::1]:{port}/")]
    {
        holds(&refusal(&source(vec![redirect(&to)])), &["redirects to", "--fetch-url"]);
    }
    let (base, certificate) = source_with_tls(redirect(&format!("http://localhost:{port}/x")));
    holds(&refusal_with_tls(&base, certificate), &["redirects to an address without TLS"]);
    asked.set_nonblocking(true).unwrap();
    assert!(asked.accept().is_err(), "the other host was asked");
}

#[test]
fn the_hint_for_a_redirect_to_another_host_works() {
    let other = source(vec![answer("200 OK", b"archive")]).replace("127.0.0.1", "localhost");
    let (what, path) = (artefact(), "/repository");
    let to = |base: &str| source(vec![redirect(&what.url(base))]);
    let refused = refusal(&to(&format!("{other}{path}")));
    let (_, hint) = refused.split_once("--fetch-url ").unwrap();
    assert_eq!(fetched_with(hint, None, &artefact()).map_err(|error| error.to_string()), Ok(b"archive".to_vec()));
    // A hint is copied into a shell.
    let refused = refusal(&to(&format!("{other}/$(id)")));
    assert!(refused.contains("--fetch-url") && !refused.contains("$("), "{refused}");
}

#[test]
fn redirects_without_an_end_and_without_a_place_are_refused() {
    let asked = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&asked);
    let base = serve(move |_, stream| {
        count.fetch_add(1, Ordering::SeqCst);
        stream.write_all(&redirect("/again")).unwrap();
    });
    holds(&refusal(&base), &["redirects again and again"]);
    assert_eq!(asked.load(Ordering::SeqCst), 1 + REDIRECTS);
    holds(&refusal(&source(vec![redirect("")])), &["again and again"]);
    holds(&refusal(&source(vec![answer("304 Not Modified", b"")])), &["redirect failed"]);
}
