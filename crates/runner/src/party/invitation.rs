//! What a rank is given, and what it asks of the others by it.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use mindful_core::contract::clock::Clock;
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::ranks::rank::Rank;
use mindful_core::ranks::rendezvous::{PeerRow, RankRow, Rendezvous};
use mindful_core::{Error, Result};

use super::member::Member;

/// Who meets, where, and as what.
pub struct Invitation {
    /// Which rank it is.
    pub rank: Rank,
    /// The place.
    pub meeting: Arc<dyn Rendezvous>,
    /// The name under which all ranks of the run meet.
    pub job: String,
    /// Name of the host.
    pub host: String,
    /// Version of mindful, as all must have it.
    pub version: String,
    /// Digest of the plan, which all must share.
    pub plan: String,
    /// Names of its keys, each with a mark of its value.
    pub marks: Vec<(String, String)>,
    /// The targets of the run without secrets; empty where there is one.
    pub targets: Vec<String>,
    /// How long each rank is waited for.
    pub timeout: Duration,
    /// What the process goes by.
    pub clock: Arc<dyn Clock>,
    /// Requested by signals.
    pub stop: StopFlag,
}

impl Invitation {
    /// What tells this process from any other.
    pub fn token(&self) -> String {
        let number = RandomState::new().hash_one((std::process::id(), self.rank.number));
        format!("{}-{number:016x}", self.host)
    }

    /// Refuses a rank that was started with another program, plan or number of ranks.
    pub fn refuse_unlike(&self, seen: &PeerRow) -> Result<()> {
        let rank = seen.row.rank;
        let Some(other) = Member::parse(&seen.row.body) else { return Err(self.unreadable(rank)) };
        if let Some(failed) = &other.failed {
            return Err(failed.error().at(format_args!("rank {rank} on {}", other.host)));
        }
        let unlike = |what: &str, there: &str, here: &str| {
            Error::plan(
                format!("rank {rank} on {} has {what} {there}, rank 0 has {here}", other.host),
                "start all ranks with the same program, flags and variables; `mindful plan` shows them",
            )
        };
        if other.version != self.version {
            return Err(unlike("mindful", &other.version, &self.version));
        }
        if other.of != self.rank.count || rank >= self.rank.count {
            return Err(unlike("ranks", &format!("{rank} of {}", other.of), &format!("{} of them", self.rank.count)));
        }
        if other.plan == self.plan {
            return Ok(());
        }
        let keys = self.unlike_keys(&other.marks);
        if keys.is_empty() {
            return Err(unlike("plan", &other.plan, &self.plan));
        }
        Err(Error::plan(
            format!("rank {rank} on {} has another {} than rank 0", other.host, keys.join(", ")),
            "start all ranks with the same flags, variables and plan file; `mindful plan` shows them",
        ))
    }

    /// The keys whose marks are not those of this rank, as they are given.
    fn unlike_keys(&self, marks: &str) -> Vec<&str> {
        let mut left = marks;
        let mut unlike = Vec::new();
        for (key, own) in &self.marks {
            let Some((mark, rest)) = left.split_at_checked(own.len()) else { break };
            left = rest;
            if mark != own {
                unlike.push(key.as_str());
            }
        }
        unlike
    }

    /// The refusal of a rank whose place another process holds.
    pub fn twice(&self, rank: u32, held: &RankRow) -> Error {
        let host = Member::parse(&held.body).map_or_else(|| "another host".to_owned(), |member| member.host);
        Error::plan(
            format!("rank {rank} of job {} is there twice: another process is it, on {host}", self.job),
            "start each rank once; a second run at a time needs a name of its own: --job NAME",
        )
    }

    /// The refusal of what that rank wrote.
    pub fn unreadable(&self, rank: u32) -> Error {
        Error::plan(
            format!("rank {rank} is of another mindful: it writes what this one ({}) cannot read", self.version),
            "start all ranks with the same program",
        )
    }
}
