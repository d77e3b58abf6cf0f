//! Which users may write a file or a folder, from its metadata.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

const GROUP_WRITES: u32 = 0o020;
const EVERYBODY_WRITES: u32 = 0o002;
const STICKY: u32 = 0o1000;

/// Owner and rights of a file or folder, at the time of the check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rights {
    pub owner: u32,
    pub group: u32,
    mode: u32,
}

impl Rights {
    pub fn from_metadata(facts: &Metadata) -> Self {
        Self { owner: facts.uid(), group: facts.gid(), mode: facts.mode() }
    }

    /// Whether it belongs to user number `me`, or to root.
    pub fn belongs_to(self, me: u32) -> bool {
        [0, me].contains(&self.owner)
    }

    pub fn group_writes(self) -> bool {
        self.mode & GROUP_WRITES != 0
    }

    pub fn everybody_writes(self) -> bool {
        self.mode & EVERYBODY_WRITES != 0
    }

    pub fn others_write(self) -> bool {
        self.group_writes() || self.everybody_writes()
    }

    /// Whether it is a folder, such as `/tmp`, in which users cannot remove or rename files of others.
    pub fn is_sticky(self) -> bool {
        self.mode & STICKY != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_right_is_one_of_the_mode() {
        let with = |mode: u32| Rights { owner: 7, group: 8, mode };
        let all = |rights: Rights| {
            [rights.group_writes(), rights.everybody_writes(), rights.others_write(), rights.is_sticky()]
        };
        assert_eq!(all(with(0o100_755)), [false; 4]);
        assert_eq!(all(with(0o100_664)), [true, false, true, false]);
        assert_eq!(all(with(0o100_646)), [false, true, true, false]);
        assert_eq!(all(with(0o041_777)), [true; 4]);
        assert!(with(0).belongs_to(7) && !with(0).belongs_to(8) && Rights { owner: 0, ..with(0) }.belongs_to(8));
    }
}
