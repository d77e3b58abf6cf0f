//! Names found in texts: URLs, paths, addresses, devices, and words that were learnt.

use std::net::{IpAddr, Ipv4Addr};

use super::names::{NameKind, Names, is_of_word, says_nothing};

/// Folders of the kernel, the same on every host; a device in their names is renamed all the same.
const OF_THE_KERNEL: [&str; 3] = ["/proc", "/sys", "/dev/null"];
const ENDS: &str = "\"'`<>()[]{}|,;";

impl Names {
    pub(super) fn scrubbed(&mut self, text: &str) -> String {
        self.scan(text, false)
    }

    /// The same of a text for people, which mentions processes too.
    pub(super) fn replace_in(&mut self, text: &str) -> String {
        let mut clean = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find(" (pid ") {
            let before = &rest[..at];
            let from =
                [" by ", ": ", ", ", "; "].iter().filter_map(|sign| Some(before.rfind(sign)? + sign.len())).max();
            let (before, name) = before.split_at(from.unwrap_or(0));
            clean.push_str(&self.scan(before, true));
            clean.push_str(&self.of(NameKind::Process, name));
            clean.push_str(" (pid ");
            rest = &rest[at + " (pid ".len()..];
        }
        clean + &self.scan(rest, true)
    }

    /// The value of a fact with a telling key: a path or a device by its own rules, others as a whole.
    pub(super) fn whole(&mut self, kind: NameKind, value: &str) -> String {
        let by_its_own = match kind {
            NameKind::Path | NameKind::Command => value.starts_with('/') && !value.contains(char::is_whitespace),
            NameKind::Device => value.split([',', ' ']).all(|part| part.is_empty() || self.is_known_device(part)),
            _ => false,
        };
        if value.contains("://") || by_its_own {
            return self.scrubbed(value);
        }
        self.learn_all(kind, value);
        self.of(kind, value)
    }

    /// A target: its scheme stays.
    pub(super) fn target(&mut self, target: &str) -> String {
        if target.contains("://") {
            return self.scrubbed(target);
        }
        let Some((scheme, rest)) = target.split_once(':') else { return target.to_owned() };
        let part = |part: &str| if says_nothing(part) { part.to_owned() } else { self.whole(NameKind::Path, part) };
        format!("{scheme}:{}", rest.split(',').map(part).collect::<Vec<_>>().join(","))
    }

    fn scan(&mut self, text: &str, processes: bool) -> String {
        let mut clean = String::with_capacity(text.len());
        let (mut at, mut before) = (0, None);
        while let Some(c) = text[at..].chars().next() {
            let begins = !before.is_some_and(is_of_word);
            let found = if begins { self.found(&text[at..], before, processes) } else { None };
            let (length, instead) = found.unwrap_or_else(|| (c.len_utf8(), c.to_string()));
            clean.push_str(&instead);
            at += length;
            before = text[..at].chars().next_back();
        }
        clean
    }

    /// The length of the name at the begin of `text`, and its replacement.
    fn found(&mut self, text: &str, before: Option<char>, processes: bool) -> Option<(usize, String)> {
        if let Some(url) = self.url(text) {
            return Some(url);
        }
        if let Some((kind, word)) = self.word_at(text, processes) {
            return Some((word.len(), self.of(kind, &word)));
        }
        let apart = before.is_none_or(|c| c.is_whitespace() || ENDS.contains(c) || "=:".contains(c));
        if let Some(path) = if apart { self.path(text) } else { None } {
            return Some(path);
        }
        if let Some(address) = self.address(text) {
            return Some(address);
        }
        let word = &text[..text.find(|c: char| !is_of_word(c) && c != '-').unwrap_or(text.len())];
        self.is_known_device(word).then(|| (word.len(), self.of(NameKind::Device, word)))
    }

    /// A URL: scheme and port stay, the part after a database is removed.
    fn url(&mut self, text: &str) -> Option<(usize, String)> {
        let scheme = &text[..text.find("://").filter(|at| *at > 0)?];
        if !scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+.-".contains(&b)) {
            return None;
        }
        let rest = &text[scheme.len() + 3..];
        let rest = &rest[..rest.find(|c: char| c.is_whitespace() || "\"'`<>|()".contains(c)).unwrap_or(rest.len())];
        let rest = rest.trim_end_matches(['.', ',', ';', ':']);
        let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        let (user, hosts) = authority.rsplit_once('@').map_or((None, authority), |(user, hosts)| (Some(user), hosts));
        let mut clean = format!("{scheme}://");
        if let Some(user) = user.filter(|user| !user.is_empty()) {
            let name = user.split(':').next().unwrap_or(user);
            self.learn(NameKind::User, name);
            clean.extend([&self.of(NameKind::User, name), "@"]);
        }
        let hosts: Vec<String> = hosts.split(',').map(|host| self.host_and_port(host)).collect();
        clean += &hosts.join(",");
        let name = path.split('?').next().unwrap_or_default().trim_start_matches('/');
        if !name.is_empty() {
            let kind = if scheme.starts_with("http") || scheme == "file" { NameKind::Path } else { NameKind::Database };
            self.learn(kind, name);
            clean.extend(["/", &self.of(kind, name)]);
        }
        Some((scheme.len() + 3 + rest.len(), clean))
    }

    fn host_and_port(&mut self, text: &str) -> String {
        let port = |port: &str| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
        let (host, port) =
            text.rsplit_once(':').filter(|(_, end)| port(end)).map_or((text, None), |(h, p)| (h, Some(p)));
        let bare = host.trim_matches(['[', ']']);
        let clean = match bare.parse::<IpAddr>() {
            _ if host.is_empty() || bare == "localhost" => host.to_owned(),
            Ok(address) if address.is_loopback() || address.is_unspecified() => host.to_owned(),
            Ok(_) => self.of(NameKind::Address, bare),
            Err(_) => {
                self.learn(NameKind::Host, bare);
                let clean = self.of(NameKind::Host, bare);
                // Texts may contain only its first label.
                if let Some((first, _)) = bare.split_once('.') {
                    self.learn(NameKind::Host, first);
                    self.alias(NameKind::Host, first, &clean);
                }
                clean
            }
        };
        port.map_or_else(|| clean.clone(), |port| format!("{clean}:{port}"))
    }

    /// An absolute path, or one from the home or the working folder.
    fn path(&mut self, text: &str) -> Option<(usize, String)> {
        let begins = ["/", "~/", "./", "../"].iter().find(|begin| text.starts_with(**begin))?;
        let end = text.find(|c: char| c.is_whitespace() || ENDS.contains(c)).unwrap_or(text.len());
        let path = text[..end].trim_end_matches(['.', ':', '/', '…']);
        if path.len() <= begins.len() {
            return None;
        }
        if OF_THE_KERNEL.iter().any(|own| path.starts_with(own)) {
            return Some((path.len(), self.devices_of(path, "/")));
        }
        if let Some(device) = path.strip_prefix("/dev/") {
            let clean = format!("/dev/{}", self.of(NameKind::Device, device));
            return Some((path.len(), clean));
        }
        Some((path.len(), self.of(NameKind::Path, path)))
    }

    /// An address of IPv4, IPv6 or of a network card; loopback addresses stay.
    fn address(&mut self, text: &str) -> Option<(usize, String)> {
        let end = text.find(|c: char| !(c.is_ascii_hexdigit() || c == '.' || c == ':')).unwrap_or(text.len());
        let word = text[..end].trim_end_matches(['.', ':']);
        if text[word.len()..].starts_with(|c: char| is_of_word(c) || c == '-') {
            return None;
        }
        let four = word.split(':').next().unwrap_or(word);
        let of_card = word.len() == 17 && word.split(':').count() == 6 && word.split(':').all(|part| part.len() == 2);
        let (word, local) = match (four.parse::<Ipv4Addr>(), word.parse::<IpAddr>()) {
            (Ok(address), _) => (four, address.is_loopback() || address.is_unspecified()),
            (_, Ok(address)) => (word, address.is_loopback() || address.is_unspecified()),
            _ if of_card => (word, false),
            _ => return None,
        };
        Some((word.len(), if local { word.to_owned() } else { self.of(NameKind::Address, word) }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scrubbed(text: &str) -> String {
        let mut names = Names::default();
        names.learn(NameKind::Host, "db1");
        names.learn(NameKind::Process, "backup");
        names.replace_in(text)
    }

    #[test]
    fn names_are_removed_everywhere() {
        for (text, clean) in [
            ("stored in /home/ann/runs.", "stored in /path-1."),
            (
                "see postgres://ann@db.acme.example:5432/orders?sslmode=off, twice",
                "see postgres://user-1@host-1:5432/database-1, twice",
            ),
            ("db1: 10.1.2.3:5432 and fe80::1, 02:42:ac:11:00:02", "host-1: address-1:5432 and address-2, address-3"),
            ("echo none > /sys/block/sda/queue/scheduler", "echo none > /sys/block/device-1/queue/scheduler"),
            ("/dev/mapper/vg-orders is sdb", "/dev/device-1 is device-2"),
            ("most by backup job (pid 7), 0.80 cores", "most by process-1 (pid 7), 0.80 cores"),
            ("backup ran", "process-1 ran"),
            ("12,000 reads/s of 8 KiB at 12:00:59, 18.6", "12,000 reads/s of 8 KiB at 12:00:59, 18.6"),
            ("http://127.0.0.1:9100/metrics and localhost", "http://127.0.0.1:9100/path-1 and localhost"),
            ("dir=/u01,logdir='/u02/x y'", "dir=/path-1,logdir='/path-2 y'"),
            ("a/b, and / or", "a/b, and / or"),
        ] {
            assert_eq!(scrubbed(text), clean);
        }
    }

    #[test]
    fn a_name_is_called_the_same_everywhere() {
        let mut names = Names::default();
        assert_eq!(names.target("sqlite:/srv/orders.db"), "sqlite:/path-1");
        assert_eq!(names.scrubbed("/srv/orders.db is large"), "/path-1 is large");
        assert_eq!(names.target("raw:orders.bin,/dev/sdb"), "raw:path-2,/dev/device-1");
        assert_eq!(names.scrubbed("orders.bin on sdb"), "path-2 on device-1");
        assert_eq!(names.target("null:"), "null:");
        assert_eq!(names.target("embedded"), "embedded");
        let clean = names.scrubbed("/srv/x");
        assert_eq!((clean.as_str(), names.scrubbed(&clean)), ("/path-3", clean.clone()));
    }
}
