//! Shared memory that servers left when they were killed.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use mindful_host::ownership::OWN;
use mindful_host::system_path::find_program;
use mindful_host::{Kernel, process};

use crate::account::Account;

const POSIX: &str = "/dev/shm";

#[derive(Debug, Clone, PartialEq, Eq)]
struct Segment {
    key: u32,
    id: u32,
    attached: u32,
    uid: u32,
    gid: u32,
}

/// Removes the segments of servers of mindful's own user, and of programs that create their folders. All of these, and
/// no others, are in the group of that user ([`Account::choose`]). Without a process of the user, all of them are
/// unused.
pub(crate) fn clear(account: &Account) {
    if account.uid != OWN || !account.switched {
        return;
    }
    let ours = |uid: u32, gid: u32| uid == OWN || gid == OWN;
    let files: Vec<PathBuf> = fs::read_dir(POSIX).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    let files = files
        .into_iter()
        .filter(|path| fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file() && ours(meta.uid(), meta.gid())));
    let files: Vec<PathBuf> = files.collect();
    let segments: Vec<Segment> = segments().into_iter().filter(|one| ours(one.uid, one.gid)).collect();
    // Checked after the lists were made: an owner of a listed segment lives now, or never again.
    let kernel = Kernel::default();
    let lives = |pid: u32| {
        process::Rights::read(&kernel, pid).is_some_and(|it| it.users.contains(&OWN) || it.groups.contains(&OWN))
    };
    if process::all(&kernel).into_iter().any(lives) {
        return;
    }
    for file in files {
        // Another process may have cleared it meanwhile; that is enough.
        let _ = fs::remove_file(file);
    }
    segments.iter().filter(|one| one.attached == 0).for_each(remove);
}

/// Removes the System V segment `id` that a server of `account` made under `key`, unless a process uses it.
pub fn release(key: u32, id: u32, account: &Account) {
    let theirs = |one: &Segment| one.uid == account.uid || account.uid == OWN && one.gid == OWN;
    let is_it = |one: &&Segment| (one.key, one.id, one.attached) == (key, id, 0) && theirs(one);
    if let Some(segment) = segments().iter().find(is_it) {
        remove(segment);
    }
}

/// Uses the system's own program, because there is no safe call; without it a segment remains.
fn remove(segment: &Segment) {
    let Some(ipcrm) = find_program("ipcrm") else { return };
    let mut ipcrm = Command::new(ipcrm);
    ipcrm.env_clear();
    ipcrm.args(["-m", &segment.id.to_string()]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let _ = ipcrm.status();
}

fn segments() -> Vec<Segment> {
    let text = fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
    text.lines().skip(1).filter_map(parse).collect()
}

/// `key shmid perms size cpid lpid nattch uid gid …`, the key signed.
fn parse(line: &str) -> Option<Segment> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<u32>().ok();
    let key: i32 = fields.first()?.parse().ok()?;
    Some(Segment { key: key.cast_unsigned(), id: number(1)?, attached: number(6)?, uid: number(7)?, gid: number(8)? })
}
