//! A host of its own on this one: a network namespace with a wire to it, which may be cut.

use crate::mindful::message;
use std::net::Ipv4Addr;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::ranks::processes::launched;

/// Removed with the value, including its wire.
pub(super) struct FarHost {
    name: String,
    wire: String,
    near: Ipv4Addr,
}

impl FarHost {
    /// Why it cannot be made, if this process lacks privileges or programs.
    pub(super) fn new() -> Result<Self, String> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = (std::process::id() * 4 + NUMBER.fetch_add(1, Ordering::Relaxed)) % (1 << 14);
        // Networks of four addresses with two hosts, in a range reserved for tests (RFC 2544).
        let base = u32::from(Ipv4Addr::new(198, 18, 0, 0)) + 4 * number;
        let (near, far) = (Ipv4Addr::from(base + 1), Ipv4Addr::from(base + 2));
        let host = Self { name: format!("mindful-{number}"), wire: format!("mindful{number}"), near };
        ip(&["netns", "add", &host.name])?;
        let (name, wire) = (&*host.name, &*host.wire);
        ip(&["link", "add", wire, "type", "veth", "peer", "name", "wire", "netns", name])?;
        ip(&["address", "add", &format!("{near}/30"), "dev", wire])?;
        ip(&["link", "set", wire, "up"])?;
        ip(&["-n", name, "address", "add", &format!("{far}/30"), "dev", "wire"])?;
        ip(&["-n", name, "link", "set", "wire", "up"])?;
        Ok(host)
    }

    pub(super) fn near(&self) -> Ipv4Addr {
        self.near
    }

    /// `rank` as a command of that host.
    pub(super) fn command(&self, rank: &Command) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.name]);
        launched(command, rank)
    }

    /// From now on packets are dropped silently.
    pub(super) fn cut(&self) {
        ip(&["link", "set", &self.wire, "down"]).unwrap();
    }
}

impl Drop for FarHost {
    fn drop(&mut self) {
        let _ = ip(&["link", "del", &self.wire]);
        let _ = ip(&["netns", "del", &self.name]);
    }
}

fn ip(words: &[&str]) -> Result<(), String> {
    let done = Command::new("ip").args(words).output().map_err(|error| format!("ip (Debian: iproute2): {error}"))?;
    let why = || format!("ip {}: {}", words.join(" "), message(&done).trim());
    if done.status.success() { Ok(()) } else { Err(why()) }
}
