//! The listener on a socket that the user did not name. In a folder such as `/tmp` any user may listen while the server
//! is down, and would receive a password.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::unistd::{User, geteuid};

/// The first of `sockets` that belongs to root, to this user or to one of `accounts`, and remarks on earlier ones that
/// belong to others.
pub fn first_of_server(sockets: &[PathBuf], accounts: &[&str]) -> (Option<PathBuf>, Vec<String>) {
    let mut passed_over = Vec::new();
    for socket in sockets.iter().filter(|socket| socket.exists()) {
        match stranger(socket, accounts) {
            None => return (Some(socket.clone()), passed_over),
            Some(owner) => passed_over.push(format!(
                "the socket {} belongs to {owner}, not to root, {} or this user; it is ignored, because it could capture a \
                 password: name it to use it",
                socket.display(),
                accounts.join(", "),
            )),
        }
    }
    (None, passed_over)
}

/// The owner of a socket, or of a link to it, where that user does not run a server.
fn stranger(socket: &Path, accounts: &[&str]) -> Option<String> {
    // A link of a stranger leads elsewhere a moment later.
    let of_both = [fs::symlink_metadata(socket), fs::metadata(socket)];
    of_both.into_iter().find_map(|found| match found {
        Ok(found) => Some(found.uid()).filter(|owner| !is_servers(*owner, accounts)).map(named),
        Err(error) => Some(format!("an unknown process ({error})")),
    })
}

fn is_servers(owner: u32, accounts: &[&str]) -> bool {
    let runs_server = |name: &&str| User::from_name(name).ok().flatten().is_some_and(|user| user.uid.as_raw() == owner);
    owner == 0 || owner == geteuid().as_raw() || accounts.iter().any(runs_server)
}

fn named(owner: u32) -> String {
    let user = User::from_uid(owner.into()).ok().flatten();
    user.map_or_else(|| format!("user {owner}"), |user| format!("user {}", user.name))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{chown, lchown, symlink};
    use std::os::unix::net::UnixListener;
    use std::slice::from_ref;

    use mindful_conformance::{STRANGER, not_run};

    use super::*;

    #[test]
    fn a_socket_or_link_of_a_stranger_is_passed_over_and_named() {
        let folder = tempfile::tempdir().unwrap();
        let [strange, lost, link, own] = ["strange", "lost", "link", "own"].map(|name| folder.path().join(name));
        let all = [lost.clone(), strange.clone(), link.clone(), own.clone()];
        let _listening = [&strange, &own].map(|path| UnixListener::bind(path).unwrap());
        let alone = [lost, own.clone()];
        assert_eq!(
            first_of_server(&alone, &["server"]),
            (Some(own.clone()), Vec::new()),
            "what is not there is no remark"
        );
        if chown(&strange, Some(STRANGER), None).is_err() {
            return not_run("it needs root to give a socket away");
        }
        symlink(&own, &link).unwrap();
        lchown(&link, Some(STRANGER), None).unwrap();
        let (found, passed_over) = first_of_server(&all, &["server"]);
        assert_eq!((found, passed_over.len()), (Some(own), 2), "{passed_over:?}");
        let owner = User::from_uid(STRANGER.into()).unwrap().expect("an account of each system").name;
        for (remark, path) in passed_over.iter().zip([strange.clone(), link]) {
            for words in [path.to_str().unwrap(), &owner, "root, server", "name it to use it"] {
                assert!(remark.contains(words), "{remark}");
            }
        }
        assert_eq!(first_of_server(from_ref(&strange), &["server"]).0, None);
        assert_eq!(
            first_of_server(from_ref(&strange), &["no such account", &owner]).0,
            Some(strange.clone()),
            "an account of servers"
        );
    }
}
