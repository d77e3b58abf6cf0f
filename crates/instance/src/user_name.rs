//! A name for a server's user that is not in the list of users.
//!
//! `initdb` ends if its user has no name. The list of users belongs to the host and is not changed. A thread with
//! private mounts sees a copy of it with one more line, and so does the program that it starts. Creating the data as
//! another user, such as `nobody`, was rejected: other programs of that user could write to the data meanwhile.

use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use mindful_core::{Error, Result};
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use nix::unistd::User;

use crate::account::Account;
use crate::files::own_file;

const USERS: &str = "/etc/passwd";
/// The socket of a daemon that answers instead of the list, with cached entries.
const CACHE: &str = "/var/run/nscd";

/// Runs `work`, in which programs find a name for the user of `account`. The copy of the list of users is the file
/// `copy`.
///
/// # Errors
/// The user has no name and cannot be given one, and those of `work`.
pub(crate) fn with_name<T: Send>(account: &Account, copy: &Path, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    if User::from_uid(account.uid.into()).is_ok_and(|user| user.is_some()) {
        return work();
    }
    let (uid, gid) = (account.uid, account.gid);
    let nameless = |why: String, next: &str| {
        Err(Error::target(format!("user number {uid} has no name here, which initdb needs{why}"), next))
    };
    if !account.switched {
        let next = format!(
            "start mindful as a user with a name, add the line `bench:x:{uid}:{gid}::/:/bin/sh` to {USERS}, or measure a \
             server of your own by --target URL"
        );
        return nameless(String::new(), &next);
    }
    let outcome = write(copy, uid, gid).and_then(|()| {
        std::thread::scope(|scope| {
            let working = scope.spawn(|| mount_over_list(copy).map(|()| work()));
            working.join().unwrap_or_else(|_| Err(io::Error::other("the work broke off")))
        })
    });
    let _ = fs::remove_file(copy);
    outcome.unwrap_or_else(|error| {
        nameless(
            format!(", and a list of users with its name cannot be mounted: {error}"),
            "make a user called mindful (useradd --system mindful), or name another unprivileged user with --run-as",
        )
    })
}

fn write(copy: &Path, uid: u32, gid: u32) -> io::Result<()> {
    let mut users = fs::read(USERS)?;
    if !users.ends_with(b"\n") {
        users.push(b'\n');
    }
    let mut file = own_file(copy)?;
    file.write_all(&users)?;
    writeln!(file, "mindful:x:{uid}:{gid}::/:/bin/sh")?;
    file.set_permissions(Permissions::from_mode(0o644))
}

/// Gives this thread and its children private mounts with `copy` in place of the list of users.
fn mount_over_list(copy: &Path) -> io::Result<()> {
    let none = None::<&str>;
    unshare(CloneFlags::CLONE_NEWNS)?;
    mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none)?;
    if Path::new(CACHE).exists() {
        mount(Some("none"), CACHE, Some("tmpfs"), MsFlags::empty(), none)?;
    }
    Ok(mount(Some(copy), USERS, none, MsFlags::MS_BIND, none)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_finds_a_name_that_the_list_of_users_lacks() {
        if !rustix::process::geteuid().is_root() {
            return mindful_conformance::not_run("only root becomes another user");
        }
        let top = tempfile::tempdir().unwrap();
        let (users, copy) = (fs::read(USERS).unwrap(), top.path().join("users"));
        let stranger = Account { name: "stranger".to_owned(), uid: 4_000_000, gid: 4_000_000, switched: true };
        let name = with_name(&stranger, &copy, || {
            let output = stranger.command("/usr/bin/id", Path::new("/")).arg("-un").output();
            Ok(String::from_utf8(output.unwrap().stdout).unwrap())
        });
        assert_eq!(name.unwrap(), "mindful\n");
        assert_eq!((fs::read(USERS).unwrap(), copy.exists()), (users, false), "the host keeps its list");
    }

    #[test]
    fn a_user_without_a_name_is_refused_with_the_line_that_names_it() {
        let stranger = Account { name: "stranger".to_owned(), uid: 4_000_000, gid: 4_000_000, switched: false };
        let refused = with_name(&stranger, Path::new("/missing"), || Ok(())).unwrap_err().to_string();
        assert!(refused.contains("`bench:x:4000000:4000000::/:/bin/sh` to /etc/passwd"), "{refused}");
    }
}
