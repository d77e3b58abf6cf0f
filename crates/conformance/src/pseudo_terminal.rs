//! A pseudo-terminal; a test holds and closes its other end.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcgetwinsize, tcsetwinsize};

/// The end of the user, or of the ssh server.
#[derive(Debug)]
pub struct PseudoTerminal {
    master: File,
    slave: Option<File>,
    shown: Vec<u8>,
}

impl PseudoTerminal {
    pub fn open(columns: u16, lines: u16) -> Self {
        let master: OwnedFd = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let path = Path::new(std::ffi::OsStr::from_bytes(name.as_bytes()));
        let no_owner = OFlags::NOCTTY.bits() as i32;
        let slave = OpenOptions::new().read(true).write(true).custom_flags(no_owner).open(path).unwrap();
        let terminal = Self { master: master.into(), slave: Some(slave), shown: Vec::new() };
        terminal.resize(columns, lines);
        terminal
    }

    pub fn resize(&self, columns: u16, lines: u16) {
        let size = Winsize { ws_col: columns, ws_row: lines, ..tcgetwinsize(&self.master).unwrap() };
        tcsetwinsize(&self.master, size).unwrap();
    }

    /// Whether it echoes input, line by line.
    pub fn echoes(&self) -> bool {
        tcgetattr(&self.master).unwrap().local_modes.contains(LocalModes::ECHO | LocalModes::ICANON)
    }

    /// Connects stdin, stdout and stderr of `command` to it. Only its child holds the other end from then on.
    pub fn connect<'a>(&mut self, command: &'a mut Command) -> &'a mut Command {
        let slave = self.slave.take().unwrap();
        let end = || Stdio::from(slave.try_clone().unwrap());
        command.env("TERM", "xterm-256color").stdin(end()).stdout(end()).stderr(end())
    }

    pub fn type_keys(&mut self, keys: &[u8]) {
        self.master.write_all(keys).unwrap();
    }

    /// All output so far, once it contains `word`.
    pub fn wait_for(&mut self, word: &str) -> String {
        let deadline = Instant::now() + Duration::from_mins(1);
        while !self.text().contains(word) {
            assert!(Instant::now() < deadline, "no {word:?} in {:?}", self.text());
            self.read_for(Duration::from_millis(100));
        }
        self.text()
    }

    /// Reads the output for about this long; returns false when the other end is closed.
    pub fn read_for(&mut self, length: Duration) -> bool {
        let (began, mut piece) = (Instant::now(), [0; 4096]);
        let wait = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
        loop {
            let mut ready = [PollFd::new(&self.master, PollFlags::IN)];
            if poll(&mut ready, Some(&wait)).unwrap() > 0 {
                match self.master.read(&mut piece) {
                    Ok(read @ 1..) => self.shown.extend_from_slice(&piece[..read]),
                    _ => return false,
                }
            }
            if began.elapsed() >= length {
                return true;
            }
        }
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.shown).into_owned()
    }
}
