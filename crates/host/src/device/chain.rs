//! The chain of block devices below a file system.

/// Kernel names of block devices, level by level; the one directly below the file system is first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Chain {
    /// The levels, each with a device or more.
    pub levels: Vec<Vec<String>>,
    /// Which of them keeps its blocks in memory, and how.
    pub memory: Option<String>,
}

impl Chain {
    /// `dm-0 < sda2 sdb2 < sda sdb` reads as "dm-0 on sda2 and sdb2 on sda and sdb".
    pub fn text(&self) -> String {
        self.levels.iter().map(|level| level.join(" ")).collect::<Vec<_>>().join(" < ")
    }

    pub fn devices(&self) -> Vec<&str> {
        let mut all: Vec<&str> = Vec::new();
        for name in self.levels.iter().flatten() {
            if !all.contains(&name.as_str()) {
                all.push(name);
            }
        }
        all
    }
}
