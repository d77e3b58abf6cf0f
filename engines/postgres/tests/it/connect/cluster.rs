//! A server with passwords and TLS, on a free loopback port and a socket.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use mindful_conformance::keys::Authority;
use mindful_conformance::quick_folder;
use mindful_postgres::connect::{Connection, Environment};

use crate::support::{self, account, alone, free_port, give, programs};

/// Password of the superuser `postgres`; nothing else in any test looks like it.
pub(super) const PASSWORD: &str = "Zx9-unlikely-Qw7";

const HBA: &str = "\
local   all  bench                      trust
local   all  all                    scram-sha-256
hostssl all  by_certificate   all   cert
hostssl all  only_encrypted   all   scram-sha-256
host    all  only_encrypted   all   reject
hostnossl all only_plain      all   scram-sha-256
host    all  only_plain       all   reject
host    all  stranger         all   reject
host    all  all              all   scram-sha-256
";

/// A running server. Dropping the last holder ends it.
pub(super) struct Cluster {
    server: support::Server,
    pub port: u16,
    pub authority: Authority,
}

/// The server all tests of this process share while any of them runs.
pub(super) fn cluster() -> Arc<Cluster> {
    static SHARED: Mutex<Weak<Cluster>> = Mutex::new(Weak::new());
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    shared.upgrade().unwrap_or_else(|| {
        // On a thread of its own, for it waits in a runtime.
        let started = Arc::new(std::thread::spawn(Cluster::start).join().unwrap());
        *shared = Arc::downgrade(&started);
        started
    })
}

impl Cluster {
    fn start() -> Self {
        let authority = Authority::new("the authority of the tests");
        let pair = authority.sign("server", &["localhost"]);
        let files = [
            ("pg_hba.conf", HBA),
            ("server.crt", &pair.certificate),
            ("server.key", &pair.key),
            ("ca.crt", &authority.certificate),
        ];
        let settings = [
            "listen_addresses=127.0.0.1",
            "fsync=off",
            "ssl=on",
            "ssl_ca_file=ca.crt",
            "ssl_min_protocol_version=TLSv1.2",
        ];
        let (bin, port) = (programs().pop().unwrap(), free_port());
        let server = support::Server::start_prepared(&quick_folder(), &bin, port, &settings, |data| {
            alone(&bin, data, &format!("CREATE ROLE postgres SUPERUSER LOGIN PASSWORD '{PASSWORD}'\n"));
            for (name, text) in files {
                fs::write(data.join(name), text).unwrap();
                fs::set_permissions(data.join(name), PermissionsExt::from_mode(0o600)).unwrap();
                give(&data.join(name), account());
            }
        });
        Self { server, port, authority }
    }

    /// The superuser's URL by TCP.
    pub(super) fn url(&self) -> String {
        format!("postgres://postgres:{PASSWORD}@127.0.0.1:{}/postgres", self.port)
    }

    pub(super) fn socket_url(&self) -> String {
        let folder = self.folder().display();
        format!("postgres://postgres:{PASSWORD}@/postgres?host={folder}&port={}", self.port)
    }

    /// The folder of its socket.
    pub(super) fn folder(&self) -> &Path {
        self.server.socket_folder()
    }

    pub(super) async fn admin(&self) -> Connection {
        super::connect_in(&self.url(), &Environment::default()).await.unwrap()
    }

    /// Makes a role of this name with this password, both any text.
    pub(super) async fn role(&self, name: &str, password: &str) {
        let quoted =
            |text: &str, quote: char| format!("{quote}{}{quote}", text.replace(quote, &format!("{quote}{quote}")));
        let (role, password) = (quoted(name, '"'), quoted(password, '\''));
        self.admin().await.batch_execute(&format!("CREATE ROLE {role} LOGIN PASSWORD {password}")).await.unwrap();
    }
}
