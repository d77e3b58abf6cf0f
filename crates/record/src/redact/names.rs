//! The removed names and their replacements.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use mindful_core::contract::fact::Fact;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NameKind {
    Host,
    /// A user or role.
    User,
    Address,
    Path,
    /// A database, an instance, a service of it.
    Database,
    /// A block device, by any of its names.
    Device,
    /// A process of somebody else.
    Process,
    /// A command of the user's.
    Command,
    Name,
}

/// Parts of the name of a fact or a setting that show that its value is a name, with its kind.
const TELLING: [(NameKind, &str); 8] = [
    (NameKind::Host, "host hostname machine nodename"),
    (NameKind::Address, "addr address addresses listen listener url"),
    (NameKind::User, "user users username owner role"),
    (NameKind::Database, "database databases instance sid dbid service services domain cluster standby namespace"),
    (
        NameKind::Path,
        "dir directory directories path paths file files folder home point source dest destination socket",
    ),
    (NameKind::Device, "device devices serial uuid wwn wwid volume"),
    (NameKind::Command, "conninfo command"),
    (NameKind::Name, "name names"),
];

/// Facts with names that suggest another meaning.
const HARMLESS: [&str; 3] = [Fact::SystemName.name(), "clock.source", "cpu.name"];

/// The kind of name in the fact or setting `key`, if its name shows that it contains one.
pub(super) fn kind_of(key: &str) -> Option<NameKind> {
    if HARMLESS.iter().any(|harmless| key.ends_with(harmless)) {
        return None;
    }
    let lower = key.to_lowercase();
    let mut parts: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).collect();
    // `device.vda.scheduler` is a fact of a device, not its name.
    if parts.contains(&"version") || (parts.len() > 2 && parts.contains(&"device")) {
        parts.retain(|part| ["serial", "uuid", "wwn", "wwid"].contains(part));
    }
    // The last word decides: the path of a device, the name of a host.
    let kind = |part: &&str| TELLING.iter().find(|(_, words)| is_one_of(words, part)).map(|(kind, _)| *kind);
    let mut found = parts.iter().rev().filter_map(kind);
    let last = found.next()?;
    // The name of a host is a host's.
    Some(if last == NameKind::Name { found.next().unwrap_or(last) } else { last })
}

/// Words of commands, lists and paths that do not identify anything.
const COMMON: &str = "any bash bin cat data database db dbname dev disk echo env etc false first for home \
                      host lib local mindful mnt mysql opt oracle pgdata port postgres postgresql root run \
                      runs server sleep srv sudo test the tmp touch true user usr var";

fn is_one_of(words: &str, word: &str) -> bool {
    words.split(' ').any(|one| one == word)
}

/// Whether `value` is a figure, a size, a time or a switch: it contains no name.
pub(super) fn says_nothing(value: &str) -> bool {
    const WORDS: &str = "on off yes no true false none default auto embedded null: * localhost";
    let lower = value.trim().to_lowercase();
    let digits =
        lower.trim_start_matches('-').bytes().take_while(|byte| byte.is_ascii_digit() || b".,".contains(byte)).count();
    let unit = lower.trim_start_matches('-').get(digits..).unwrap_or_default().trim();
    lower.is_empty()
        || is_one_of(WORDS, &lower)
        || (digits > 0
            && lower.matches('.').count() < 2
            && unit.len() <= 5
            && unit.bytes().all(|b| b.is_ascii_alphabetic() || b"%/".contains(&b)))
}

#[derive(Debug, Default)]
pub(super) struct Names {
    given: HashMap<(NameKind, String), String>,
    taken: HashSet<String>,
    count: BTreeMap<NameKind, u32>,
    words: HashMap<String, NameKind>,
    lengths: BTreeSet<usize>,
    devices: HashSet<String>,
}

impl Names {
    /// Learns `value` and the names in it: those of a list, the program of a command, the file of a path. They are then
    /// replaced everywhere.
    pub(super) fn learn_all(&mut self, kind: NameKind, value: &str) {
        self.learn(kind, value);
        for part in value.split(|c: char| c.is_whitespace() || "\"'`()[]{}=,;".contains(c)) {
            let own = part.rsplit('/').next().unwrap_or(part);
            if own.len() > 2 && !own.starts_with('-') && !is_one_of(COMMON, &own.to_lowercase()) {
                self.learn(kind, own);
            }
        }
    }

    /// The replacement of `name`: the same each time.
    pub(super) fn of(&mut self, kind: NameKind, name: &str) -> String {
        // A replacement stays as it is: a record may be redacted again.
        if self.taken.contains(name) {
            return name.to_owned();
        }
        if let Some(given) = self.given.get(&(kind, name.to_owned())) {
            return given.clone();
        }
        let count = self.count.entry(kind).or_default();
        *count += 1;
        let slash = if kind == NameKind::Path && name.starts_with('/') { "/" } else { "" };
        let given = format!("{slash}{kind:?}-{count}").to_lowercase();
        self.given.insert((kind, name.to_owned()), given.clone());
        self.taken.insert(given.clone());
        if [NameKind::Path, NameKind::Command].contains(&kind) {
            self.learn_all(kind, name);
        }
        given
    }

    /// `given` replaces `name` too, unless `name` already has a replacement.
    pub(super) fn alias(&mut self, kind: NameKind, name: &str, given: &str) {
        self.given.entry((kind, name.to_owned())).or_insert_with(|| given.to_owned());
        self.taken.insert(given.to_owned());
    }

    /// Learns `name`, which is then replaced everywhere if it is a whole word.
    pub(super) fn learn(&mut self, kind: NameKind, name: &str) {
        let name = name.trim();
        // A letter or two would be found everywhere; a path is known by its slash.
        let known = self.words.contains_key(name) || self.taken.contains(name);
        if name.len() < 2 || name.starts_with('/') || says_nothing(name) || known {
            return;
        }
        if kind == NameKind::Device && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b)) {
            self.devices.insert(name.to_owned());
        }
        self.words.insert(name.to_owned(), kind);
        self.lengths.insert(name.len());
    }

    /// Learns devices in dotted names, such as `device.vda.scheduler` and `vda.reads_completed`.
    pub(super) fn learn_devices(&mut self, name: &str) {
        let mut parts = name.split('.');
        let first = parts.next().unwrap_or_default();
        let device = if first == "device" || name.starts_with("client.device.") {
            name.trim_start_matches("client.").split('.').nth(1)
        } else {
            Some(first).filter(|first| is_device(first))
        };
        self.devices.extend(device.map(str::to_owned));
    }

    /// `name` with replaced devices among its parts, which are separated by `separator`.
    pub(super) fn devices_of(&mut self, name: &str, separator: &str) -> String {
        let part =
            |part: &str| if self.is_known_device(part) { self.of(NameKind::Device, part) } else { part.to_owned() };
        name.split(separator).map(part).collect::<Vec<_>>().join(separator)
    }

    /// Whether a word is a device of this run, or is called as one.
    pub(super) fn is_known_device(&self, word: &str) -> bool {
        is_device(word) || self.devices.contains(word)
    }

    /// The longest name that `text` begins with and that ends there.
    pub(super) fn word_at(&self, text: &str, processes: bool) -> Option<(NameKind, String)> {
        let begins = self.lengths.iter().rev().filter_map(|length| text.get(..*length));
        let ending = begins.filter(|word| !text[word.len()..].starts_with(is_of_word));
        let kinds = ending.filter_map(|word| self.words.get_key_value(word));
        let mut meant = kinds.filter(|(_, kind)| processes || **kind != NameKind::Process);
        meant.next().map(|(word, kind)| (*kind, word.clone()))
    }
}

pub(super) fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether the kernel calls block devices so.
fn is_device(word: &str) -> bool {
    const LETTERS: [&str; 5] = ["xvd", "dasd", "sd", "vd", "hd"];
    const NUMBERS: [&str; 15] = [
        "nvme", "dm-", "md", "loop", "mmcblk", "zram", "ram", "rbd", "nbd", "bcache", "drbd", "pmem", "sr", "emcpower",
        "ploop",
    ];
    let lettered = |prefix: &str| {
        word.strip_prefix(prefix).is_some_and(|rest| {
            let name = rest.trim_end_matches(|c: char| c.is_ascii_digit());
            (1..=3).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_lowercase())
        })
    };
    let numbered = |prefix: &str| {
        word.strip_prefix(prefix).is_some_and(|rest| {
            rest.starts_with(|c: char| c.is_ascii_digit()) && rest.bytes().all(|b| b.is_ascii_alphanumeric())
        })
    };
    // Hashes and the composition of a disk are not names.
    !["md5", "hdd"].contains(&word) && (LETTERS.into_iter().any(lettered) || NUMBERS.into_iter().any(numbered))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_fact_shows_what_its_value_names() {
        for (key, kind) in [
            ("storage.device", Some(NameKind::Device)),
            ("storage.mount_point", Some(NameKind::Path)),
            ("storage.source", Some(NameKind::Path)),
            ("device.nvme0n1.serial", Some(NameKind::Device)),
            ("device.nvme0n1.model", None),
            ("DB host name", Some(NameKind::Host)),
            ("cluster_name", Some(NameKind::Database)),
            ("synchronous_standby_names", Some(NameKind::Database)),
            ("unix_socket_directories", Some(NameKind::Path)),
            ("client.clock.source", None),
            ("server_version", None),
            ("io_method", None),
        ] {
            assert_eq!(kind_of(key), kind, "{key}");
        }
    }

    #[test]
    fn figures_and_switches_contain_no_name() {
        assert!(["128", "16 MiB", "1.5s", "0.9", "on", "", "-1", "8192kB", "3 %"].into_iter().all(says_nothing));
        assert!(!["db1", "10.0.0.1", "/data", "1.2.3", "prod"].into_iter().any(says_nothing));
    }

    #[test]
    fn devices_are_known_by_their_kernels_names() {
        assert!(["sda", "sdaa1", "nvme0n1p2", "dm-0", "md127", "vdb", "xvdf1", "loop7"].into_iter().all(is_device));
        assert!(!["md5", "hdd", "sd", "ram", "nvme", "mdx", "sdcard"].into_iter().any(is_device));
    }
}
