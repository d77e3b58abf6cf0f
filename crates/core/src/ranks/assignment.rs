//! How the sessions of a run and its ranks are spread over several targets.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::contract::error::{Error, Result};
use crate::plan::settings::Settings;
use crate::plan::units::format_counted;

pub const MOST_TARGETS: usize = 1_000;
const MOST_WEIGHT: u32 = 1_000;

/// The targets of a run with their shares of its sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TargetAssignment(Vec<u32>);

impl Default for TargetAssignment {
    fn default() -> Self {
        Self(vec![1])
    }
}

impl TargetAssignment {
    /// Of targets with these weights, all above 0.
    pub(crate) fn new(weights: Vec<u32>) -> Self {
        if weights.is_empty() { Self::default() } else { Self(weights) }
    }

    /// Of the targets in `settings`, by their weights if there are any.
    pub(crate) fn from_settings(settings: &Settings) -> Result<Self> {
        Self::for_targets(settings.get("target").map_or(1, |text| split_urls(text).count()), settings)
    }

    /// The same of so many targets.
    pub fn for_targets(targets: usize, settings: &Settings) -> Result<Self> {
        let Some(weights) = parse_weights(settings)? else { return Ok(Self::new(vec![1; targets])) };
        if weights.len() == targets {
            return Ok(Self::new(weights));
        }
        Err(Error::plan(
            format!(
                "{}: {} for {}",
                settings.describe_place("target_weights"),
                format_counted(weights.len(), "weight"),
                format_counted(targets, "target")
            ),
            "give one for each target, in their order, such as --target-weights 3,1",
        ))
    }

    pub fn targets(&self) -> u32 {
        self.0.len() as u32
    }

    /// The sessions of `target` among so many, by their numbers.
    pub fn target_sessions(&self, target: u32, sessions: u32) -> Range<u32> {
        let weight = |targets: u32| self.0.iter().take(targets as usize).map(|weight| u64::from(*weight)).sum::<u64>();
        let all = weight(self.targets()).max(1);
        let begin = |target: u32| (weight(target) * u64::from(sessions) / all) as u32;
        begin(target)..begin(target + 1)
    }

    /// Fewest sessions with at least one for each of `ranks`.
    pub(crate) fn min_sessions(&self, ranks: u32) -> u32 {
        let enough = |sessions: &u32| {
            (0..self.targets()).all(|target| {
                self.target_sessions(target, *sessions).len() >= even_share(0..ranks, self.targets(), target).len()
            })
        };
        (ranks..=ranks.saturating_mul(MOST_WEIGHT).max(ranks)).find(enough).unwrap_or(ranks)
    }
}

/// Part number `part` of `parts` even ones of `all`.
pub(crate) fn even_share(all: Range<u32>, parts: u32, part: u32) -> Range<u32> {
    let length = u64::from(all.end.saturating_sub(all.start));
    let begin = |part: u32| all.start + (u64::from(part) * length / u64::from(parts.max(1))) as u32;
    begin(part)..begin(part + 1)
}

/// The targets in the text of a setting, one a line.
pub fn split_urls(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|url| !url.is_empty())
}

/// Weights of the targets, if set.
pub(crate) fn parse_weights(settings: &Settings) -> Result<Option<Vec<u32>>> {
    settings.parse("target_weights", list)
}

/// `3,1`
fn list(text: &str) -> Result<Vec<u32>> {
    let weight = |part: &str| part.trim().parse::<u32>().ok().filter(|weight| (1..=MOST_WEIGHT).contains(weight));
    text.split(',').map(weight).collect::<Option<Vec<u32>>>().ok_or_else(|| {
        Error::plan(
            format!("`{}` are not weights", crate::contract::error::one_line(text)),
            format!("give a number from 1 to {MOST_WEIGHT} for each target, with commas"),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_go_to_targets_by_weight() {
        let spread = TargetAssignment::new(vec![3, 1]);
        assert_eq!((spread.target_sessions(0, 8), spread.target_sessions(1, 8)), (0..6, 6..8));
        let three = TargetAssignment::new(vec![1; 3]);
        assert_eq!([0, 1, 2].map(|target| three.target_sessions(target, 10).len()), [3, 3, 4]);
        assert_eq!(
            (TargetAssignment::default().min_sessions(4), spread.min_sessions(2), spread.min_sessions(4)),
            (4, 2, 5)
        );
    }

    #[test]
    fn weights_are_one_for_each_target() {
        let settings = |weights: &str| {
            let mut settings = Settings::default();
            let flag = |name: &str| crate::plan::settings::Origin::Flag(name.to_owned());
            settings.set("target", "null:\nnull:b", flag("--target"));
            settings.set("target_weights", weights, flag("--target-weights"));
            settings
        };
        assert_eq!(TargetAssignment::from_settings(&settings("3, 1")).unwrap(), TargetAssignment::new(vec![3, 1]));
        assert!(
            TargetAssignment::from_settings(&settings("3")).unwrap_err().to_string().contains("1 weight for 2 targets")
        );
        assert!(
            TargetAssignment::from_settings(&settings("3,0"))
                .unwrap_err()
                .to_string()
                .contains("`3,0` are not weights")
        );
    }
}
