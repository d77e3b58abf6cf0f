//! MariaDB or MySQL: one protocol and one storage engine, two lines of servers.

use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flavor {
    MariaDb,
    /// MySQL, and servers derived from it.
    MySql,
}

impl Flavor {
    pub const fn name(self) -> &'static str {
        match self {
            Self::MariaDb => "MariaDB",
            Self::MySql => "MySQL",
        }
    }

    /// The first version with `JSON_TABLE` and the settings mindful needs.
    pub(crate) const fn oldest(self) -> (u32, u32) {
        match self {
            Self::MariaDb => (10, 6),
            Self::MySql => (8, 0),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Version {
    pub flavor: Flavor,
    pub major: u32,
    pub minor: u32,
    pub patch: u32,
}

impl Version {
    /// The flavor in `text`, a server's version (`11.4.5-MariaDB-log`, `8.0.31`).
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let flavor = if text.contains("MariaDB") { Flavor::MariaDb } else { Flavor::MySql };
        // MariaDB has this prefix for old replicas.
        let text = if flavor == Flavor::MariaDb { text.strip_prefix("5.5.5-").unwrap_or(text) } else { text };
        let mut numbers = text.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
        let (major, minor) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
        Some(Self { flavor, major, minor, patch: numbers.next().and_then(Result::ok).unwrap_or(0) })
    }

    pub(crate) fn is_from(&self, major: u32, minor: u32) -> bool {
        (self.major, self.minor) >= (major, minor)
    }

    pub(crate) fn is_supported(&self) -> bool {
        let (major, minor) = self.flavor.oldest();
        self.is_from(major, minor)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}.{}.{}", self.flavor.name(), self.major, self.minor, self.patch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_texts_of_servers_are_understood() {
        for (text, version) in [
            ("11.4.5-MariaDB", "MariaDB 11.4.5"),
            ("5.5.5-10.11.19-MariaDB-0+deb12u1", "MariaDB 10.11.19"),
            ("8.0.31", "MySQL 8.0.31"),
            ("8.4.3-1-log", "MySQL 8.4.3"),
        ] {
            assert_eq!(Version::parse(text).unwrap().to_string(), version);
        }
        assert_eq!(Version::parse("of no sense"), None);
    }
}
