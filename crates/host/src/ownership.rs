//! Ownership of a path: which users other than root and the user of this process may replace it.

use std::fs::{self, DirBuilder, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use mindful_core::plan::rights::Rights;

use crate::{Kernel, access_list};

/// The user id that the kernel shows for every user outside of a container's mapping.
const UNKNOWN: u32 = 65_534;
/// The default user and group of the private server if mindful is root. No system assigns this number (it is between
/// the ranges for people and for services made on demand), so no other process has it. It needs no entry in the list of
/// users, and a container of 65,536 users has it too.
pub const OWN: u32 = 60_943;

/// Users and groups that may write without harm to the trust in a file.
#[derive(Debug, Clone)]
pub struct Trusted {
    users: Vec<u32>,
    groups: Vec<u32>,
}

impl Trusted {
    /// Root, the user of this process with that user's own group, and the user who became root by sudo.
    pub fn of_process(kernel: &Kernel) -> Self {
        let mut trusted = Self::of_root_and_user(kernel);
        if rustix::process::geteuid().is_root() {
            let by_sudo = |name: &str| std::env::var(name).ok()?.parse().ok();
            trusted.users.extend::<Option<u32>>(by_sudo("SUDO_UID"));
            trusted.groups.extend::<Option<u32>>(by_sudo("SUDO_GID"));
        }
        trusted
    }

    /// Only root and the user of this process: a program of the user who became root is not run.
    pub(crate) fn of_root_and_user(kernel: &Kernel) -> Self {
        let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        let users = [Some(0), Some(user), unknown_user(kernel)];
        Self { users: users.into_iter().flatten().collect(), groups: vec![0, group] }
    }

    pub(crate) fn is_trusted(&self, user: u32) -> bool {
        self.users.contains(&user)
    }

    /// Why others may change the object at `path` with these facts; `None` if they may not.
    pub fn why_open(&self, path: &Path, facts: &Metadata) -> io::Result<Option<String>> {
        let rights = Rights::from_metadata(facts);
        if !self.is_trusted(rights.owner) {
            return Ok(Some(format!("belongs to user number {}", rights.owner)));
        }
        let group_may = rights.group_writes() && !self.groups.contains(&rights.group);
        if group_may || rights.everybody_writes() {
            return Ok(Some("may be written by others".to_owned()));
        }
        let listed = rights.group_writes() && access_list::is_on(path)?;
        Ok(listed.then(|| "has an access list by which others may write it (setfacl -b removes it)".to_owned()))
    }

    /// The first folder on the way to `path`, that included, which belongs to another user.
    pub fn foreign_folder(&self, path: &Path) -> io::Result<Option<String>> {
        for part in path.ancestors() {
            match fs::symlink_metadata(part) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
                Ok(facts) if self.is_trusted(facts.uid()) => {}
                Ok(facts) => return Ok(Some(format!("{} belongs to user number {}", part.display(), facts.uid()))),
            }
        }
        Ok(None)
    }

    /// The first way for others to replace the object at `path`: a folder on the path to it, or the object itself. A
    /// missing file does not have an owner. The path is absolute and without links.
    pub fn way_in(&self, path: &Path) -> io::Result<Option<String>> {
        // From the top: a user who cannot change the upper folders cannot replace the next one.
        let mut way: Vec<&Path> = path.ancestors().collect();
        way.reverse();
        for part in way {
            let facts = match fs::symlink_metadata(part) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                other => other?,
            };
            if facts.is_symlink() {
                return Ok(Some(format!("{} is a link", part.display())));
            }
            let rights = Rights::from_metadata(&facts);
            let shared = facts.is_dir() && rights.is_sticky() && self.is_trusted(rights.owner);
            if let Some(why) = self.why_open(part, &facts)?.filter(|_| !shared) {
                return Ok(Some(format!("{} {why}", part.display())));
            }
        }
        Ok(None)
    }
}

/// Makes a folder for the time of a command, in the place for temporary files. Only this user may enter it, and no other may
/// put something in its place.
///
/// # Errors
/// The place is not safe or not there, or the folder cannot be made.
pub fn make_temporary_folder() -> io::Result<PathBuf> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let place = std::env::temp_dir().canonicalize()?;
    if let Some(why) = Trusted::of_process(&Kernel::default()).way_in(&place)? {
        return Err(io::Error::other(format!("{why}, so others could exchange what is there")));
    }
    // A name that exists already is skipped.
    for _ in 0..1_000 {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = place.join(format!("mindful-{}-{number}", std::process::id()));
        match DirBuilder::new().mode(0o700).create(&folder) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|()| folder),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// In a user namespace, such as that of a container without root, the user that represents the host's root as an owner
/// of files.
fn unknown_user(kernel: &Kernel) -> Option<u32> {
    let map = fs::read_to_string(kernel.proc.join("self/uid_map")).ok()?;
    let all = map.split_whitespace().eq(["0", "0", "4294967295"]);
    let unknown = || fs::read_to_string(kernel.proc.join("sys/kernel/overflowuid")).ok()?.trim().parse().ok();
    (!all).then(|| unknown().unwrap_or(UNKNOWN))
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    use super::*;

    fn me() -> Trusted {
        Trusted::of_process(&Kernel::default())
    }

    /// `top/a/b` with this mode of `a`.
    fn below(top: &Path, mode: u32) -> PathBuf {
        let folder = top.join("a");
        fs::create_dir_all(folder.join("b")).unwrap();
        fs::set_permissions(&folder, Permissions::from_mode(mode)).unwrap();
        folder.join("b")
    }

    fn top() -> tempfile::TempDir {
        tempfile::tempdir_in(std::env::temp_dir().canonicalize().unwrap()).unwrap()
    }

    #[test]
    fn a_folder_on_the_way_that_others_may_write_is_named() {
        let top = top();
        for (mode, open) in [(0o755, false), (0o775, false), (0o777, true), (0o1777, false), (0o700, false)] {
            let way_in = me().way_in(&below(top.path(), mode)).unwrap();
            let named = format!("{} may be written by others", top.path().join("a").display());
            assert_eq!(way_in, open.then_some(named), "{mode:o}");
        }
        assert_eq!(me().way_in(&top.path().join("a/missing/too")).unwrap(), None);
        let alone = Trusted { groups: Vec::new(), ..me() };
        assert!(alone.way_in(&below(top.path(), 0o775)).unwrap().is_some(), "a group of others");
    }

    #[test]
    fn a_folder_that_an_access_list_lets_others_write_is_named() {
        let top = top();
        let folder = below(top.path(), 0o770);
        assert_eq!(me().way_in(&folder).unwrap(), None);
        let (a, flags) = (top.path().join("a"), rustix::fs::XattrFlags::empty());
        let list = mindful_conformance::access_list(65_533);
        rustix::fs::setxattr(&a, c"system.posix_acl_access", &list, flags).unwrap();
        // Only everybody loses rights by this.
        fs::set_permissions(&a, Permissions::from_mode(0o770)).unwrap();
        assert!(me().way_in(&folder).unwrap().is_some_and(|why| why.contains("access list")));
    }

    #[test]
    fn no_temporary_folder_is_made_where_others_could_exchange_it() {
        // Only a separate process may have another variable.
        let test = "ownership::tests::no_temporary_folder_is_made_where_others_could_exchange_it";
        if std::env::var_os("OTHER_PLACE").is_some() {
            let made = make_temporary_folder();
            assert!(made.is_err_and(|error| error.to_string().contains("others could exchange")));
            return;
        }
        let top = top();
        let mode = |folder: &Path| fs::metadata(folder).unwrap().permissions().mode() & 0o7777;
        let [one, other] = [make_temporary_folder().unwrap(), make_temporary_folder().unwrap()];
        assert!(one != other && mode(&one) == 0o700);
        for folder in [one, other] {
            fs::remove_dir(folder).unwrap();
        }
        below(top.path(), 0o777);
        let mut again = std::process::Command::new(std::env::current_exe().unwrap());
        again.args(["--exact", test]).env("OTHER_PLACE", "1").env("TMPDIR", top.path().join("a"));
        let output = again.output().unwrap();
        assert!(output.status.success() && String::from_utf8_lossy(&output.stdout).contains("1 passed"), "{output:?}");
    }

    #[test]
    fn a_link_on_the_way_is_named() {
        let top = top();
        let folder = below(top.path(), 0o755);
        symlink(&folder, top.path().join("link")).unwrap();
        let way_in = me().way_in(&top.path().join("link/c")).unwrap();
        assert_eq!(way_in, Some(format!("{} is a link", top.path().join("link").display())));
    }

    #[test]
    fn a_folder_of_another_user_is_named_even_if_sticky() {
        if rustix::process::geteuid().as_raw() != 0 {
            return mindful_conformance::not_run("only root gives folders away");
        }
        let top = top();
        let folder = below(top.path(), 0o1777);
        chown(top.path().join("a"), Some(65_533), None).unwrap();
        let way_in = me().way_in(&folder).unwrap();
        assert_eq!(way_in, Some(format!("{} belongs to user number 65533", top.path().join("a").display())));
    }

    #[test]
    fn in_a_user_namespace_the_hosts_root_has_no_number() {
        let proc = tempfile::tempdir().unwrap();
        fs::create_dir_all(proc.path().join("self")).unwrap();
        let kernel = Kernel { proc: proc.path().to_owned(), ..Kernel::default() };
        let with = |map: &str| {
            fs::write(proc.path().join("self/uid_map"), map).unwrap();
            unknown_user(&kernel)
        };
        assert_eq!(with("         0          0 4294967295\n"), None);
        assert_eq!(with("         0       1000          1\n"), Some(UNKNOWN));
        assert_eq!(with("         0       1000          1\n         1     100000      65536\n"), Some(UNKNOWN));
    }
}
