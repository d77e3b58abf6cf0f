//! Where to connect and as which user: the URL before option files before variables, as the mysql client has it.

use std::path::PathBuf;
use std::time::Duration;

use mindful_core::plan::settings::parse_choice;
use mindful_core::{Error, Result};
use mindful_instance::listening;

use super::environment::Environment;
use super::option_file;
use super::tls::{Mode, Tls};
use super::url::Parts;

/// Time limit for the answer to a new connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

const DEFAULT_PORT: u16 = 3306;

/// Users with sockets that are accepted without being named, besides root and this user.
const ACCOUNTS: [&str; 2] = ["mysql", "mariadb"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Road {
    Socket(PathBuf),
    Tcp(String, u16),
}

/// All of it. Holds a password, so there is no `Debug`.
#[derive(Clone)]
pub(super) struct Given {
    pub road: Road,
    pub user: String,
    pub password: Option<String>,
    pub database: Option<String>,
    pub tls: Tls,
    pub connect_timeout: Duration,
    pub notes: Vec<String>,
}

impl Given {
    pub(super) fn collect(parts: &Parts, environment: &Environment) -> Result<Self> {
        let said = option_file::read(&environment.option_files(), environment.group_suffix()?.as_deref());
        let of_url =
            |name: &str| parts.parameters.iter().rev().find(|(key, _)| *key == name).map(|(_, text)| text.clone());
        let of_file = |name: &str| said.values.get(name).filter(|text| !text.is_empty()).cloned();
        let given = |name: &str| of_url(name).or_else(|| of_file(name));
        let user =
            parts.user.clone().or_else(|| of_file("user")).or_else(|| environment.process.user().map(str::to_owned));
        let user = user.ok_or_else(|| {
            Error::plan("this process's user has no name", "name the user to connect as: mysql://user@host/database")
        })?;
        let (mode, mut notes) = (mode(&said, of_url("ssl-mode").as_deref())?, said.notes.clone());
        if let Some(file) = environment.login_file() {
            let next = "put the needed settings in ~/.my.cnf, MYSQL_PWD or the URL";
            notes.push(format!("{} is not read, because it is encrypted: {next}", file.display()));
        }
        let path = |name: &str| given(name).map(PathBuf::from);
        let tls = Tls { mode, ca: path("ssl-ca"), certificate: path("ssl-cert"), key: path("ssl-key") };
        notes.extend(tls.remark());
        let road = road(parts, of_url("socket"), &of_file, environment, &mut notes)?;
        let password = parts.password.clone().or_else(|| of_file("password"));
        if let Road::Socket(_) = road {
            notes.extend(on_socket(mode, of_url("ssl-mode").is_some())?);
            notes.extend(ignored_on_socket(parts, &tls));
        }
        Ok(Self {
            road,
            user,
            password: or_variable(password, "MYSQL_PWD", environment)?,
            database: parts.database.clone().or_else(|| of_file("database")),
            tls,
            connect_timeout: given("connect-timeout").map_or(Ok(CONNECT_TIMEOUT), |text| seconds(&text))?,
            notes,
        })
    }
}

fn mode(said: &option_file::Said, of_url: Option<&str>) -> Result<Mode> {
    let read = |text: &str, place: &str| {
        parse_choice(&text.to_ascii_uppercase().replace('-', "_"), &Mode::NAMES).map_err(|error| error.at(place))
    };
    if let Some(text) = of_url {
        return read(text, "ssl-mode in the target URL");
    }
    if let Some(text) = said.values.get("ssl-mode") {
        return read(text, "ssl-mode of an option file");
    }
    // MariaDB's client has these options instead.
    let is = |name: &str, on: bool| {
        said.values.get(name).is_some_and(|text| ["0", "off", "false"].contains(&text.to_lowercase().as_str()) != on)
    };
    Ok(match () {
        () if is("ssl", false) => Mode::Disabled,
        () if is("ssl-verify-server-cert", true) => Mode::VerifyIdentity,
        () if is("ssl", true) => Mode::Required,
        () => Mode::Preferred,
    })
}

/// The effect of `mode` on a socket, on which the client encrypts from REQUIRED on but mindful does not. In the URL it
/// is refused; in an option file, which may be for other servers, it is a note.
fn on_socket(mode: Mode, of_url: bool) -> Result<Option<String>> {
    let found = Mode::NAMES.into_iter().find(|(_, of)| *of == mode);
    let Some((name, Mode::Required | Mode::VerifyCa | Mode::VerifyIdentity)) = found else { return Ok(None) };
    let what = format!("ssl-mode={name}: mindful does not encrypt on a socket, which connects only to this host");
    if of_url {
        return Err(Error::plan(what, "omit it, or name host and port: mysql://user@localhost:3306/database"));
    }
    Ok(Some(what))
}

/// Other settings without effect on a socket. Many option files contain both a port and a socket.
fn ignored_on_socket(parts: &Parts, tls: &Tls) -> Option<String> {
    let ignored: Vec<&str> = [
        ("ssl-ca", tls.ca.is_some()),
        ("ssl-cert", tls.certificate.is_some()),
        ("ssl-key", tls.key.is_some()),
        ("the host of the URL", parts.host.as_deref().is_some_and(|host| host != "localhost")),
        ("the port of the URL", parts.port.is_some()),
    ]
    .into_iter()
    .filter_map(|(name, given)| given.then_some(name))
    .collect();
    let next = "name host and port without a socket for a connection by TCP";
    (!ignored.is_empty()).then(|| format!("{} is not used on a socket: {next}", ignored.join(", ")))
}

/// `localhost` without a port is the socket, as for the client; a port means TCP. Remarks go to `notes`.
fn road(
    parts: &Parts,
    socket: Option<String>,
    of_file: &dyn Fn(&str) -> Option<String>,
    environment: &Environment,
    notes: &mut Vec<String>,
) -> Result<Road> {
    if let Some(path) = socket {
        return Ok(Road::Socket(path.into()));
    }
    let host = or_variable(parts.host.clone().or_else(|| of_file("host")), "MYSQL_HOST", environment)?;
    let of_surroundings = or_variable(of_file("port"), "MYSQL_TCP_PORT", environment)?;
    let of_surroundings = of_surroundings.map(|text| port(&text)).transpose()?;
    if let Some(host) = host.filter(|host| host != "localhost") {
        return Ok(Road::Tcp(host, parts.port.or(of_surroundings).unwrap_or(DEFAULT_PORT)));
    }
    if let Some(port) = parts.port {
        return Ok(Road::Tcp("localhost".to_owned(), port));
    }
    if let Some(named) = or_variable(of_file("socket"), "MYSQL_UNIX_PORT", environment)? {
        return Ok(Road::Socket(named.into()));
    }
    let (found, passed_over) = listening::first_of_server(&environment.sockets, &ACCOUNTS);
    notes.extend(passed_over);
    Ok(Road::Socket(found.or_else(|| environment.sockets.first().cloned()).unwrap_or_default()))
}

fn or_variable(given: Option<String>, name: &str, environment: &Environment) -> Result<Option<String>> {
    given.map_or_else(|| environment.process.text(name), |given| Ok(Some(given)))
}

fn port(text: &str) -> Result<u16> {
    text.trim().parse().map_err(|_| {
        Error::plan(format!("port {text} of an option file or MYSQL_TCP_PORT"), "give a number up to 65535")
    })
}

fn seconds(text: &str) -> Result<Duration> {
    let seconds: Option<u64> = text.trim().parse().ok().filter(|seconds| (1..=86_400).contains(seconds));
    let seconds = seconds
        .ok_or_else(|| Error::plan(format!("connect-timeout `{text}`"), "give whole seconds from 1 to 86400"))?;
    Ok(Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::fs;
    use std::os::unix::ffi::OsStringExt;
    use std::os::unix::fs::{PermissionsExt, chown};
    use std::os::unix::net::UnixListener;

    use mindful_conformance::{STRANGER, not_run};

    use super::super::url;
    use super::*;
    use mindful_sql::connect::environment::Environment as Process;

    fn collect(url: &str, process: &Process, sockets: &[&PathBuf]) -> Result<Given> {
        let sockets = sockets.iter().map(|socket| (*socket).clone()).collect();
        let around = Environment { process: process.clone(), sockets, ..Environment::default() };
        Given::collect(&url::split(url).unwrap(), &around)
    }

    fn given(url: &str, process: &Process) -> Given {
        collect(url, process, &[]).unwrap()
    }

    #[test]
    fn the_url_comes_before_option_files_before_variables() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join(".my.cnf");
        fs::write(&path, "[client]\nhost=filed\nuser=filer\npassword=p\nport=3310\nssl-mode=VERIFY_IDENTITY\n")
            .unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let around = Process::default().with_home(home.path()).with_user("me");
        let around = around.with("MYSQL_PWD", "v").with("MYSQL_HOST", "variable");
        let one = given("mysql:///bench", &around);
        assert_eq!(one.road, Road::Tcp("filed".to_owned(), 3310));
        assert_eq!((one.user.as_str(), one.password.as_deref()), ("filer", Some("p")));
        assert_eq!((one.tls.mode, one.database.as_deref()), (Mode::VerifyIdentity, Some("bench")));
        let two = given("mysql://you:q@urled:1/?ssl-mode=disabled", &around);
        assert_eq!((two.road, two.password.as_deref()), (Road::Tcp("urled".to_owned(), 1), Some("q")));
        assert_eq!(two.tls.mode, Mode::Disabled);
        let bare = Process::default().with_user("me").with("MYSQL_PWD", "v").with("MYSQL_HOST", "variable");
        let three = given("mysql://", &bare);
        assert_eq!((three.user.as_str(), three.password.as_deref()), ("me", Some("v")));
        assert_eq!(three.road, Road::Tcp("variable".to_owned(), DEFAULT_PORT));
    }

    #[test]
    fn localhost_without_a_port_is_a_socket() {
        let around = Process::default().with_user("me").with("MYSQL_UNIX_PORT", "/x/y.sock");
        assert_eq!(given("mysql://localhost/b", &around).road, Road::Socket("/x/y.sock".into()));
        assert_eq!(given("mysql://localhost:3306/b", &around).road, Road::Tcp("localhost".to_owned(), 3306));
        assert_eq!(given("mysql://db/b?socket=%2Fz.sock", &around).road, Road::Socket("/z.sock".into()));
    }

    #[test]
    fn a_socket_of_a_stranger_gets_no_password_unless_it_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let [usual, strange, own] = ["usual", "strange", "own"].map(|name| folder.path().join(name));
        let _listening = [&strange, &own].map(|path| UnixListener::bind(path).unwrap());
        let around = Process::default().with_user("me").with("MYSQL_PWD", "v");
        let at = |url: &str, sockets: &[&PathBuf]| collect(url, &around, sockets).unwrap();
        assert_eq!(at("mysql:///b", &[&usual, &own, &strange]).road, Road::Socket(own));
        if chown(&strange, Some(STRANGER), None).is_err() {
            return not_run("it needs root to give a socket away");
        }
        let passed_over = at("mysql:///b", &[&usual, &strange]);
        assert_eq!(passed_over.road, Road::Socket(usual.clone()));
        let note = passed_over.notes.join("\n");
        assert!(note.contains(strange.to_str().unwrap()) && note.contains("name it to use it"), "{note}");
        let named = at(&format!("mysql:///b?socket={}", strange.display()), &[&usual, &strange]);
        assert_eq!((named.road, named.notes.len()), (Road::Socket(strange), 0));
    }

    #[test]
    fn encryption_on_a_socket_is_refused_or_reported() {
        let around = Process::default().with_user("me");
        for mode in ["REQUIRED", "VERIFY_CA", "VERIFY_IDENTITY"] {
            let url = format!("mysql://localhost/b?ssl-mode={mode}");
            let line = collect(&url, &around, &[]).err().unwrap().to_string();
            assert!(line.contains(mode) && line.contains("socket") && line.contains("host and port"), "{line}");
            let home = tempfile::tempdir().unwrap();
            fs::write(home.path().join(".my.cnf"), format!("[client]\nssl-mode={mode}\n")).unwrap();
            let notes = given("mysql://localhost/b", &around.clone().with_home(home.path())).notes;
            assert!(notes.iter().any(|note| note.contains("does not encrypt on a socket")), "{notes:?}");
        }
        for quiet in ["", "?ssl-mode=PREFERRED", "?ssl-mode=DISABLED"] {
            assert_eq!(given(&format!("mysql://localhost/b{quiet}"), &around).notes, [] as [String; 0], "{quiet}");
        }
    }

    #[test]
    fn options_without_meaning_on_a_socket_are_reported() {
        let around = Process::default().with_user("me");
        let notes_of = |url: &str| given(url, &around).notes.join("\n");
        let notes_of_all = notes_of("mysql://db:3307/b?socket=/x.sock&ssl-ca=/ca.pem&ssl-mode=PREFERRED");
        assert!(
            notes_of_all.contains("ssl-ca, the host of the URL, the port of the URL is not used on a socket"),
            "{notes_of_all}"
        );
        assert_eq!(notes_of("mysql://localhost/b?socket=/x.sock"), "");
    }

    #[test]
    fn surroundings_are_those_of_both_clients() {
        let [home, server] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let text = "[client]\nhost=of-server\nuser=plain\n[client_test]\nuser=suffixed\n";
        fs::write(server.path().join("my.cnf"), text).unwrap();
        fs::write(home.path().join(".my.cnf"), "[client]\nhost=own\n").unwrap();
        let folder = server.path().display().to_string();
        for client in ["MYSQL", "MARIADB"] {
            let around = Process::default().with(&format!("{client}_HOME"), &folder);
            let one = given("mysql:///b", &around);
            assert_eq!((one.road, one.user.as_str()), (Road::Tcp("of-server".to_owned(), DEFAULT_PORT), "plain"));
            let around = around.with_home(home.path()).with(&format!("{client}_GROUP_SUFFIX"), "_test");
            let two = given("mysql:///b", &around);
            assert_eq!((two.road, two.user.as_str()), (Road::Tcp("own".to_owned(), DEFAULT_PORT), "suffixed"));
        }
        fs::write(home.path().join(".mylogin.cnf"), [0; 20]).unwrap();
        let notes = given("mysql://me@db/b", &Process::default().with_home(home.path())).notes;
        assert!(notes.len() == 1 && notes[0].contains(".mylogin.cnf is not read"), "{notes:?}");
    }

    #[test]
    fn a_variable_that_is_no_text_is_named_and_not_shown() {
        let odd = OsString::from_vec(b"s3cret\xff".to_vec());
        for name in ["MYSQL_PWD", "MYSQL_HOST", "MYSQL_TCP_PORT", "MYSQL_UNIX_PORT", "MARIADB_GROUP_SUFFIX"] {
            let around = Process::default().with_user("me").with(name, odd.clone());
            let refused = collect("mysql://", &around, &[]).err().unwrap().to_string();
            assert!(refused.contains(&format!("{name} is not UTF-8")) && !refused.contains("s3cret"), "{refused}");
        }
        let unused = Process::default().with_user("me").with("MYSQL_PWD", odd);
        assert_eq!(given("mysql://me:own@db/b", &unused).password.as_deref(), Some("own"));
    }

    #[test]
    fn modes_are_those_of_both_clients() {
        let around = Process::default().with_user("me");
        for (name, mode) in Mode::NAMES {
            assert_eq!(given(&format!("mysql://db/b?ssl-mode={}", name.to_lowercase()), &around).tls.mode, mode);
        }
        assert_eq!(given("mysql://db/b", &around).tls.mode, Mode::Preferred);
        let said = |name: &str, value: &str| {
            let mut said = option_file::Said::default();
            said.values.insert(name.to_owned(), value.to_owned());
            said
        };
        assert_eq!(mode(&said("ssl", "0"), None).unwrap(), Mode::Disabled);
        assert_eq!(mode(&said("ssl", ""), None).unwrap(), Mode::Required);
        assert_eq!(mode(&said("ssl-verify-server-cert", ""), None).unwrap(), Mode::VerifyIdentity);
        assert!(mode(&said("ssl-mode", "maybe"), None).unwrap_err().to_string().contains("VERIFY_CA"));
    }
}
