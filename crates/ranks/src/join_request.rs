//! The data with which a rank joins, and its comparison with another rank's.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use mindful_core::contract::clock::Clock;
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::ranks::Rank;
use mindful_core::ranks::rendezvous::{PeerRow, RankRow, Rendezvous};
use mindful_core::{Error, Result};

use crate::rank_state::RankState;

pub struct JoinRequest {
    pub rank: Rank,
    pub rendezvous: Arc<dyn Rendezvous>,
    /// The name under which all ranks of the run meet.
    pub job: String,
    pub host: String,
    /// Version of mindful, the same for all ranks.
    pub version: String,
    /// Digest of the plan, the same for all ranks.
    pub plan: String,
    /// The keys of the plan, each with a mark of its value.
    pub marks: Vec<(String, String)>,
    /// The targets of the run without secrets; empty if there is one.
    pub targets: Vec<String>,
    pub timeout: Duration,
    pub clock: Arc<dyn Clock>,
    pub stop: StopFlag,
}

impl JoinRequest {
    /// The first row of this process. Its token differs from that of any other process, even of the same rank after a
    /// restart.
    pub(crate) fn row(&self) -> RankRow {
        let random = RandomState::new().hash_one((std::process::id(), self.rank.number));
        let state = RankState {
            of: self.rank.count,
            host: self.host.clone(),
            version: self.version.clone(),
            plan: self.plan.clone(),
            marks: self.marks.iter().map(|(_, mark)| mark.as_str()).collect(),
            ..RankState::default()
        };
        RankRow { rank: self.rank.number, token: format!("{}-{random:016x}", self.host), body: state.to_body() }
    }

    /// Refuses a rank that has another version, plan or number of ranks, or that has failed.
    pub(crate) fn refuse_mismatch(&self, seen: &PeerRow) -> Result<()> {
        let rank = seen.row.rank;
        let Some(other) = RankState::parse(&seen.row.body) else { return Err(self.unreadable(rank)) };
        if let Some(failed) = &other.failed {
            return Err(failed.clone().at(format_args!("rank {rank} on {}", other.host)));
        }
        let mismatch = |what: &str, there: &str, here: &str| {
            Error::plan(
                format!("rank {rank} on {} has {what} {there}, rank 0 has {here}", other.host),
                "start all ranks with the same program, flags and variables; `mindful plan` shows them",
            )
        };
        if other.version != self.version {
            return Err(mismatch("mindful", &other.version, &self.version));
        }
        if other.of != self.rank.count || rank >= self.rank.count {
            return Err(mismatch("ranks", &format!("{rank} of {}", other.of), &format!("{} of them", self.rank.count)));
        }
        if other.plan == self.plan {
            return Ok(());
        }
        let keys = self.differing_keys(&other.marks);
        if keys.is_empty() {
            return Err(mismatch("plan", &other.plan, &self.plan));
        }
        Err(Error::plan(
            format!("rank {rank} on {} has another {} than rank 0", other.host, keys.join(", ")),
            "start all ranks with the same flags, variables and plan file; `mindful plan` shows them",
        ))
    }

    /// The keys with marks in `marks` that differ from those of this rank.
    fn differing_keys(&self, marks: &str) -> Vec<&str> {
        let mut left = marks;
        let mut differing = Vec::new();
        for (key, own) in &self.marks {
            let Some((mark, rest)) = left.split_at_checked(own.len()) else { break };
            left = rest;
            if mark != own {
                differing.push(key.as_str());
            }
        }
        differing
    }

    pub(crate) fn held_twice(&self, rank: u32, held: &RankRow) -> Error {
        let host = RankState::parse(&held.body).map_or_else(|| "another host".to_owned(), |state| state.host);
        Error::plan(
            format!("rank {rank} of job {} exists twice: another process with this number runs on {host}", self.job),
            "start each rank once; a second run at a time needs a name of its own: --job NAME",
        )
    }

    pub(crate) fn unreadable(&self, rank: u32) -> Error {
        Error::plan(
            format!("rank {rank} runs another mindful: this one ({}) cannot read its records", self.version),
            "start all ranks with the same program",
        )
    }
}
