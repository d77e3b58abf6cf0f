//! Which file system holds a path, from `/proc/self/mountinfo`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::kernel_file::Kernel;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// Major and minor number of the device; the major one is 0 where the file system has no single block device.
    pub device: (u32, u32),
    /// The part of the file system that is mounted: `/` unless a folder of it was bound.
    pub root: PathBuf,
    pub point: PathBuf,
    /// Options of the mount and of the file system, comma separated.
    pub options: String,
    pub fs_type: String,
    /// The source of the file system: a device, a pool, a server's export.
    pub source: String,
}

impl Mount {
    pub(crate) fn is_memory(&self) -> bool {
        ["tmpfs", "ramfs", "devtmpfs", "hugetlbfs"].contains(&self.fs_type.as_str())
    }

    /// Whether the data is stored on another machine, or on the host of this one.
    pub fn is_network(&self) -> bool {
        let kind = self.fs_type.as_str();
        kind.starts_with("nfs") || ["cifs", "smb3", "ceph", "glusterfs", "9p", "afs", "virtiofs"].contains(&kind)
    }

    /// Whether another process serves it, to which the kernel passes each request (FUSE, virtiofs). Reads and writes of
    /// storage are then not counted for the requesting process.
    pub fn is_served_by_a_process(&self) -> bool {
        self.fs_type.starts_with("fuse") || self.fs_type == "virtiofs"
    }

    /// The upper folder of an overlay, from its mount options; `None` for any other file system.
    pub(crate) fn upper_dir(&self) -> Option<PathBuf> {
        let overlay = self.fs_type == "overlay";
        let upper = self.options.split(',').find_map(|option| option.strip_prefix("upperdir="));
        upper.filter(|_| overlay).map(|upper| PathBuf::from(unescape(upper)))
    }
}

/// The folders of `files` after all links are followed. A link that cannot be followed is kept as it is.
pub fn folders_of(files: &[PathBuf]) -> Vec<PathBuf> {
    let folder =
        |file: &PathBuf| std::fs::canonicalize(file).unwrap_or_else(|_| file.clone()).parent().map(Path::to_owned);
    Vec::from_iter(files.iter().filter_map(folder).collect::<BTreeSet<_>>())
}

/// All mounts of the text; a line that cannot be understood is left out.
pub fn parse(text: &str) -> Vec<Mount> {
    text.lines().filter_map(parse_line).collect()
}

fn parse_line(line: &str) -> Option<Mount> {
    let (mount, file_system) = line.split_once(" - ")?;
    let mut mount = mount.split(' ').skip(2);
    let (major, minor) = mount.next()?.split_once(':')?;
    let root = mount.next()?;
    let point = mount.next()?;
    let mount_options = mount.next()?;
    let mut file_system = file_system.split(' ');
    let fs_type = file_system.next()?;
    let source = file_system.next()?;
    let super_options = file_system.next().unwrap_or("");
    Some(Mount {
        device: (major.parse().ok()?, minor.parse().ok()?),
        root: PathBuf::from(unescape(root)),
        point: PathBuf::from(unescape(point)),
        options: merge(mount_options, super_options),
        fs_type: fs_type.to_owned(),
        source: unescape(source),
    })
}

/// Both lists in one, without saying anything twice.
fn merge(mount: &str, file_system: &str) -> String {
    let mut options: Vec<&str> = Vec::new();
    for option in mount.split(',').chain(file_system.split(',')) {
        if !option.is_empty() && !options.contains(&option) {
            options.push(option);
        }
    }
    options.join(",")
}

/// The kernel writes space, tab, newline and backslash as three octal digits.
fn unescape(text: &str) -> String {
    let mut parts = text.split('\\');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let code = part.get(..3).and_then(|digits| u8::from_str_radix(digits, 8).ok()).filter(u8::is_ascii);
        plain.push(code.map_or('\\', char::from));
        plain.push_str(if code.is_some() { &part[3..] } else { part });
    }
    plain
}

/// The mount that holds an absolute path: the deepest mount point above it, the last one where several are stacked.
pub(crate) fn holding<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    mounts.iter().filter(|mount| path.starts_with(&mount.point)).max_by_key(|mount| mount.point.components().count())
}

pub fn read(kernel: &Kernel) -> Vec<Mount> {
    std::fs::read(kernel.proc.join("self/mountinfo"))
        .map(|bytes| parse(&String::from_utf8_lossy(&bytes)))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use mindful_conformance::any_text;

    use super::*;

    const TEXT: &str = "\
22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard
30 25 0:27 / /dev/shm rw,relatime - tmpfs tmpfs rw,size=24684084k
41 27 8:17 / /srv/my\\040data rw,noatime master:3 propagate_from:2 - xfs /dev/sdb1 rw,noatime,attr2
42 27 0:45 /@db /srv rw - btrfs /dev/sdc rw,compress=zstd:3,subvol=/@db
43 27 8:33 / /srv rw - xfs /dev/sdc1 rw
torn line
";

    #[test]
    fn the_deepest_and_last_mount_holds_a_path() {
        let mounts = parse(TEXT);
        let of = |path: &str| holding(&mounts, Path::new(path)).map(|mount| (mount.device, mount.options.as_str()));
        assert_eq!(mounts.len(), 6);
        assert_eq!(of("/var/lib/x"), Some(((254, 0), "rw,relatime,discard")));
        assert_eq!(of("/srv/my data/base"), Some(((8, 17), "rw,noatime,attr2")));
        assert_eq!(of("/srv/my datum"), Some(((8, 33), "rw")), "a name that only begins alike is elsewhere");
        assert_eq!(of("/dev/shm/x").map(|(device, _)| device), Some((0, 27)));
        assert_eq!(holding(&[], Path::new("/")), None);
    }

    #[test]
    fn only_an_overlay_has_an_upper_folder() {
        let of = |line: &str| parse(line)[0].upper_dir();
        let overlay =
            "60 27 0:50 / /m rw,relatime - overlay overlay rw,lowerdir=/l1:/l2,upperdir=/u\\040p\\054r,workdir=/w";
        assert_eq!(of(overlay).as_deref(), Some(Path::new("/u p,r")));
        assert_eq!(of(&overlay.replace("overlay overlay", "xfs /dev/vda")), None);
        assert_eq!(of("60 27 0:50 / /m ro - overlay overlay ro,lowerdir=/l1:/l2"), None, "nothing is written");
    }

    #[test]
    fn only_the_kernels_escapes_are_undone() {
        assert_eq!(unescape(r"a\040b\134\011c"), "a b\\\tc");
        assert_eq!(unescape(r"a\9\0\400"), r"a\9\0\400");
    }

    #[test]
    fn no_text_makes_the_parser_panic() {
        any_text("([0-9]+ [0-9]+ [0-9]+:[0-9]+ / |/\\PC| - |\\\\|[a-z0-7,]|\n){0,40}", |text| {
            for mount in parse(text) {
                assert!(!mount.options.split(',').any(|option| option.is_empty() && mount.options.len() > 1));
            }
        });
    }

    #[test]
    fn unescape_never_panics_and_leaves_plain_text_alone() {
        any_text("\\PC*", |text| assert!(unescape(text) == text || text.contains('\\')));
    }
}
