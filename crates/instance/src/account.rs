//! The user a server runs as: never root, as which database servers refuse to run.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use mindful_core::{Error, Result};
use mindful_host::ownership::OWN;
use mindful_host::system_path::system_path;
use mindful_host::{Kernel, named_path, process};
use nix::unistd::User;
use rustix::thread::{Gid, Uid, set_thread_groups, set_thread_res_gid, set_thread_res_uid};

/// A user that an administrator or a package made for mindful's servers.
const NAMED: &str = "mindful";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    pub name: String,
    pub uid: u32,
    pub gid: u32,
    /// Whether mindful is root and becomes this user to run the server.
    pub switched: bool,
}

impl Account {
    /// The user of the server: mindful's own user unless that is root.
    pub fn choose(run_as: Option<&str>) -> Result<Self> {
        let account = Self::mine();
        if account.uid != 0 {
            return match run_as {
                Some(name) if name != account.name => Err(Error::plan(
                    format!("--run-as {name}, but mindful runs as {}", account.name),
                    "omit --run-as, or start mindful as root",
                )),
                _ => Ok(account),
            };
        }
        Self::beside_root(run_as)?.in_namespace(&Kernel::default())
    }

    fn beside_root(run_as: Option<&str>) -> Result<Self> {
        if let Some(name) = run_as {
            return match Self::find(name) {
                Some(account) if account.uid != 0 => Ok(account),
                Some(_) => Err(Error::plan(
                    format!("--run-as {name}: a database server refuses to run as root"),
                    "name an unprivileged user",
                )),
                None => {
                    Err(Error::plan(format!("--run-as {name}: there is no such user"), "name one of `getent passwd`"))
                }
            };
        }
        if let Some(named) = Self::find(NAMED).filter(|named| named.uid != 0) {
            return Ok(named);
        }
        let taken = if User::from_uid(OWN.into()).is_ok_and(|taken| taken.is_none()) {
            foreign(&Kernel::default()).map(|pid| format!("by process {pid}"))
        } else {
            Some("in the list of users".to_owned())
        };
        match taken {
            None => Ok(Self { name: format!("number {OWN}"), uid: OWN, gid: OWN, switched: true }),
            Some(by) => Err(Error::target(
                format!("user number {OWN}, mindful's own, is taken here {by}"),
                "name an unprivileged user with --run-as, or make one called mindful",
            )),
        }
    }

    /// The same, if root can become this user: in a user namespace there may be no other than root.
    fn in_namespace(self, kernel: &Kernel) -> Result<Self> {
        if is_mapped(kernel, "uid_map", self.uid) && is_mapped(kernel, "gid_map", self.gid) {
            return Ok(self);
        }
        Err(Error::target(
            format!(
                "a database server does not run as root, and this user namespace has no user {} to run it as \
                 (/proc/self/uid_map)",
                self.name
            ),
            "start mindful as a plain user, give the container 65,536 user ids, or use --target with a server of your \
             own (URL) or with files (sqlite:PATH, raw:PATH)",
        ))
    }

    pub fn mine() -> Self {
        let uid = rustix::process::geteuid().as_raw();
        Self {
            name: User::from_uid(uid.into()).ok().flatten().map_or_else(|| uid.to_string(), |user| user.name),
            uid,
            gid: rustix::process::getegid().as_raw(),
            switched: false,
        }
    }

    /// Runs `work` on a separate thread with the rights of this user. The thread keeps that user until it ends. Files
    /// that the user may not open, create or remove are errors.
    pub fn act<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T> {
        if !self.switched {
            return Ok(work());
        }
        let failed = |error: &dyn std::fmt::Display| {
            Error::target(format!("cannot act as user {}: {error}", self.name), "name another user with --run-as")
        };
        let done = std::thread::scope(|scope| {
            let acting = || self.become_this_thread().map(|()| work());
            let acting = std::thread::Builder::new().spawn_scoped(scope, acting);
            acting.map_err(|error| failed(&error))?.join().map_err(|_| failed(&"the work broke off"))
        });
        done?.map_err(|error| failed(&error))
    }

    fn become_this_thread(&self) -> std::io::Result<()> {
        let (uid, gid) = (Uid::from_raw(self.uid), Gid::from_raw(self.gid));
        set_thread_groups(&[])?;
        set_thread_res_gid(gid, gid, gid)?;
        Ok(set_thread_res_uid(uid, uid, uid)?)
    }

    fn find(name: &str) -> Option<Self> {
        let user = User::from_name(name).ok().flatten()?;
        Some(Self { name: user.name, uid: user.uid.as_raw(), gid: user.gid.as_raw(), switched: true })
    }

    /// A command run as this user in `folder`, outside of the terminal's process group. It does not inherit mindful's
    /// environment, which may contain secrets and settings of other servers. Becoming another user drops root's
    /// supplementary groups.
    pub fn command(&self, program: impl AsRef<OsStr>, folder: &Path) -> Command {
        let mut command = Command::new(program);
        command.env_clear().env("LC_ALL", "C").current_dir(folder).stdin(Stdio::null()).process_group(0);
        command.env("PATH", system_path());
        if let Some(value) = std::env::var_os("LD_LIBRARY_PATH") {
            command.env("LD_LIBRARY_PATH", value);
        }
        if self.switched {
            command.uid(self.uid).gid(self.gid);
        }
        command
    }

    /// Checks that this user can enter all folders down to `path`, even if some do not exist yet; returns `path`
    /// without links. Folders that only the owner's other groups or an access list open count as closed.
    pub(crate) fn reach(&self, path: &Path, key: &str) -> Result<PathBuf> {
        let path = named_path::folder(path).map_err(|error| {
            Error::plan(format!("{key} {}: {error}", path.display()), "name the folder itself, without that link")
        })?;
        if self.switched {
            for folder in path.ancestors().skip(1) {
                if fs::metadata(folder).is_ok_and(|meta| !self.may_enter(&meta)) {
                    return Err(Error::plan(
                        format!(
                            "user {} cannot enter {} on the way to {}",
                            self.name,
                            folder.display(),
                            path.display()
                        ),
                        format!("choose a {key} below a folder open to all, such as /var/lib, or another --run-as"),
                    ));
                }
            }
        }
        Ok(path)
    }

    fn may_enter(&self, meta: &fs::Metadata) -> bool {
        let shift = match (meta.uid() == self.uid, meta.gid() == self.gid) {
            (true, _) => 6,
            (_, true) => 3,
            _ => 0,
        };
        meta.permissions().mode() >> shift & 1 == 1
    }
}

/// Whether a range of a user namespace's `map` has this number: its first one inside, its first outside, its length.
fn is_mapped(kernel: &Kernel, map: &str, number: u32) -> bool {
    let Ok(text) = fs::read_to_string(kernel.proc.join("self").join(map)) else { return true };
    text.lines().any(|line| {
        let range: Vec<u64> = line.split_whitespace().filter_map(|number| number.parse().ok()).collect();
        matches!(range[..], [first, _, many] if (first..first + many).contains(&number.into()))
    })
}

/// A process that runs as [`OWN`] but was not started by mindful, which sets that number as user and as the only group.
fn foreign(kernel: &Kernel) -> Option<u32> {
    let strange = |pid: &u32| {
        let rights = process::Rights::read(kernel, *pid);
        rights
            .is_some_and(|it| it.users.contains(&OWN) && (it.groups.iter().any(|g| *g != OWN) || !it.others.is_empty()))
    };
    process::all(kernel).into_iter().find(strange)
}

#[cfg(test)]
mod tests {
    use mindful_conformance::write_files;

    use super::*;

    fn stranger() -> Account {
        Account { name: "stranger".to_owned(), uid: 4_000_000, gid: 4_000_000, switched: true }
    }

    #[test]
    fn a_foreign_process_with_our_user_id_is_found() {
        let proc = tempfile::tempdir().unwrap();
        let kernel = Kernel { proc: proc.path().to_owned(), ..Kernel::default() };
        let put = |pid: u32, uid: u32, gid: u32, others: &str| {
            let [uids, gids] = [uid, gid].map(|id| [id; 4].map(|id| id.to_string()).join("\t"));
            let text = format!("Name:\tx\nState:\tS (sleeping)\nUid:\t{uids}\nGid:\t{gids}\nGroups:\t{others} \n");
            write_files(proc.path(), &[(&format!("{pid}/status"), &text)]);
        };
        put(1, 0, 0, "0 1");
        put(20, OWN, OWN, "");
        assert_eq!(foreign(&kernel), None, "a server of ours");
        put(30, OWN, 100, "");
        assert_eq!(foreign(&kernel), Some(30));
        put(30, OWN, OWN, "100");
        assert_eq!(foreign(&kernel), Some(30));
    }

    #[test]
    fn a_user_missing_in_a_namespace_is_refused_with_a_next_step() {
        let proc = tempfile::tempdir().unwrap();
        let kernel = Kernel { proc: proc.path().to_owned(), ..Kernel::default() };
        let with = |users: &str, groups: &str| {
            write_files(proc.path(), &[("self/uid_map", users), ("self/gid_map", groups)]);
            stranger().in_namespace(&kernel)
        };
        let all = "         0          0 4294967295\n";
        assert_eq!(stranger().in_namespace(&kernel).unwrap(), stranger(), "a kernel without namespaces");
        assert_eq!(with(all, all).unwrap(), stranger());
        assert_eq!(with("0 1000 1\n1 100000 4000000\n", all).unwrap(), stranger());
        for part in ["0 1000 1\n", "0 1000 1\n1 100000 65535\n", ""] {
            for refused in [with(part, all), with(all, part)] {
                let message = refused.unwrap_err().to_string();
                assert!(message.contains("has no user stranger") && message.contains("a plain user"), "{message}");
            }
        }
    }

    #[test]
    fn a_closed_folder_on_the_way_is_named() {
        let top = tempfile::Builder::new().permissions(fs::Permissions::from_mode(0o755)).tempdir().unwrap();
        let closed = top.path().join("closed");
        fs::create_dir_all(closed.join("in")).unwrap();
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
        let message = stranger().reach(&closed.join("in/new/data"), "--data-dir").unwrap_err().to_string();
        assert!(message.contains("user stranger cannot enter"), "{message}");
        assert!(message.contains(&format!("{} on", closed.canonicalize().unwrap().display())), "{message}");
        assert!(!closed.join("in/new").exists());
    }

    #[test]
    fn folders_that_are_not_there_yet_are_no_obstacle() {
        let top = tempfile::Builder::new().permissions(fs::Permissions::from_mode(0o755)).tempdir().unwrap();
        let path = stranger().reach(&top.path().join("a/b/c"), "--data-dir").unwrap();
        assert!(path.ends_with("a/b/c") && !top.path().join("a").exists());
    }
}
