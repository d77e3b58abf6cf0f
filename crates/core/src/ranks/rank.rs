//! Which of several identical processes this one is: ranks of one run, started by a launcher that exists already.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::contract::error::{Error, Result};
use crate::plan::settings::Settings;
use crate::plan::units;
use crate::ranks::assignment::{self, TargetAssignment};

pub(crate) const MOST_RANKS: u32 = 10_000;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rank {
    /// Its number, from 0.
    pub number: u32,
    /// Number of ranks: two or more.
    pub count: u32,
    /// Source of these numbers: flags, variables.
    pub source: String,
    /// The launcher's name for all ranks together, under which they meet; `None` without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    /// How ranks and sessions are spread over the targets of the run.
    pub assignment: TargetAssignment,
}

struct Launcher {
    rank: &'static str,
    /// Variable with the number of ranks; a launcher without one needs `--ranks`.
    ranks: Option<&'static str>,
    /// A variable that is also set if the others belong to this very process, not to an enclosing job.
    beside: Option<&'static str>,
    /// Variables that together identify the job.
    job: &'static [&'static str],
}

/// The launchers, the innermost first: Slurm may have started the launcher of this process.
const LAUNCHERS: [Launcher; 4] = [
    Launcher {
        rank: "OMPI_COMM_WORLD_RANK",
        ranks: Some("OMPI_COMM_WORLD_SIZE"),
        beside: None,
        job: &["PMIX_NAMESPACE"],
    },
    Launcher { rank: "PMI_RANK", ranks: Some("PMI_SIZE"), beside: None, job: &["PMI_JOBID"] },
    // A batch script has a number too, but it is not a rank.
    Launcher {
        rank: "SLURM_PROCID",
        ranks: Some("SLURM_NTASKS"),
        beside: Some("SLURM_STEP_ID"),
        job: &["SLURM_JOB_ID", "SLURM_STEP_ID"],
    },
    Launcher { rank: "JOB_COMPLETION_INDEX", ranks: None, beside: None, job: &[] },
];

struct LauncherValues {
    number: u32,
    count: Option<u32>,
    source: String,
    job: Option<String>,
}

impl Launcher {
    fn values(&self, variable: &dyn Fn(&str) -> Option<String>) -> Result<Option<LauncherValues>> {
        let count = |name: &str| {
            let text = variable(name).filter(|text| !text.is_empty());
            text.map(|text| number(&text).map_err(|error| error.at(name))).transpose()
        };
        let (Some(number), true) = (count(self.rank)?, self.beside.is_none_or(|name| variable(name).is_some())) else {
            return Ok(None);
        };
        let of = self.ranks.map(count).transpose()?.flatten();
        let names: Vec<&str> = std::iter::once(self.rank).chain(self.ranks).collect();
        let parts: Option<Vec<String>> = self.job.iter().map(|name| variable(name)).collect();
        let job = parts.filter(|parts| !parts.is_empty()).map(|parts| parts.join("."));
        Ok(Some(LauncherValues { number, count: of, source: names.join(", "), job }))
    }
}

impl Rank {
    /// This process among its ranks, from `settings` and the environment variables of launchers; `None` if it runs
    /// alone.
    pub fn detect(settings: &Settings, variable: &dyn Fn(&str) -> Option<String>) -> Result<Option<Self>> {
        let given = |name| settings.parse(name, number);
        let (rank, ranks, job) = (given("rank")?, given("ranks")?, settings.parse("job", job_name)?);
        // With `--ranks 1` a process is alone, under any launcher.
        if ranks == Some(1) {
            return match rank {
                None | Some(0) => Ok(None),
                Some(rank) => Err(beyond(rank, 1)),
            };
        }
        let reported = launcher_values(variable)?;
        let (Some(number), Some(of)) = (
            rank.or(reported.as_ref().map(|reported| reported.number)),
            ranks.or(reported.as_ref().and_then(|reported| reported.count)),
        ) else {
            return match (rank, ranks, reported) {
                (None, None, None) => Ok(None),
                (_, None, _) => Err(Error::plan(
                    "this is one of several ranks, and their number is not given",
                    "pass --ranks N, the same for all; --ranks 1 for a run of its own",
                )),
                _ => Err(Error::plan(
                    format!(
                        "of {}, the number of this one is not given",
                        units::format_counted(u64::from(ranks.unwrap_or(0)), "rank")
                    ),
                    "pass --rank K, from 0, or use a launcher that sets it",
                )),
            };
        };
        agree(settings, (rank, ranks), reported.as_ref())?;
        if number >= of {
            return Err(beyond(number, of));
        }
        let said = |name| settings.get(name).is_some().then(|| settings.describe_place(name));
        let from: Vec<String> = [said("rank"), said("ranks")]
            .into_iter()
            .flatten()
            .chain(reported.as_ref().map(|reported| reported.source.clone()))
            .collect();
        let job = job.or(reported.and_then(|reported| reported.job));
        let spread = TargetAssignment::from_settings(settings)?;
        Ok((of > 1).then(|| Self { number, count: of, source: from.join(", "), job, assignment: spread }))
    }

    /// The target it works on, from 0.
    pub fn target(&self) -> u32 {
        (0..self.assignment.targets()).find(|target| self.target_ranks(*target).contains(&self.number)).unwrap_or(0)
    }

    /// Whether it is the first rank of its target, which manages the target.
    pub fn leads(&self) -> bool {
        self.target_ranks(self.target()).start == self.number
    }

    /// The ranks of a target: even shares, in a row.
    pub fn target_ranks(&self, target: u32) -> Range<u32> {
        assignment::even_share(0..self.count, self.assignment.targets(), target)
    }

    /// The sessions of its target among so many.
    pub fn own_target_sessions(&self, sessions: u32) -> Range<u32> {
        self.assignment.target_sessions(self.target(), sessions)
    }

    /// The numbers of this rank's sessions: it has an even, contiguous share of the sessions of its target.
    pub fn own_sessions(&self, sessions: u32) -> Range<u32> {
        let ranks = self.target_ranks(self.target());
        assignment::even_share(self.own_target_sessions(sessions), ranks.len() as u32, self.number - ranks.start)
    }

    /// Refuses fewer ranks than targets, and so few `sessions` that a rank would have nothing to do.
    pub fn refuse_idle(&self, sessions: u32) -> Result<()> {
        let targets = self.assignment.targets();
        if self.count < targets {
            return Err(Error::plan(
                format!(
                    "{} for {}",
                    units::format_counted(u64::from(targets), "target"),
                    units::format_counted(u64::from(self.count), "rank")
                ),
                format!("start {targets} ranks or more: each works on one target"),
            ));
        }
        let idle =
            |target: &u32| self.assignment.target_sessions(*target, sessions).len() < self.target_ranks(*target).len();
        let Some(idle) = (0..targets).find(idle) else { return Ok(()) };
        let own = if targets > 1 {
            format!(", {} of them on target {}", self.assignment.target_sessions(idle, sessions).len(), idle + 1)
        } else {
            String::new()
        };
        Err(Error::plan(
            format!(
                "{} for {}{own}",
                units::format_counted(u64::from(sessions), "session"),
                units::format_counted(u64::from(self.count), "rank")
            ),
            format!(
                "pass --sessions {} or more: they are those of all ranks together",
                self.assignment.min_sessions(self.count)
            ),
        ))
    }
}

fn launcher_values(variable: &dyn Fn(&str) -> Option<String>) -> Result<Option<LauncherValues>> {
    let mut all = Vec::new();
    for launcher in &LAUNCHERS {
        all.extend(launcher.values(variable)?);
    }
    // Slurm's own variables describe the processes that it started, such as the daemons of mpirun.
    let inner = all.iter().any(|reported| reported.source.contains("MPI_") || reported.source.starts_with("PMI_"));
    all.retain(|reported| !(inner && reported.source.starts_with("SLURM_")));
    let differs = |a: &LauncherValues, b: &LauncherValues| {
        a.number != b.number || a.count.zip(b.count).is_some_and(|(a, b)| a != b)
    };
    if let [first, rest @ ..] = &*all
        && let Some(other) = rest.iter().find(|other| differs(first, other))
    {
        return Err(Error::plan(
            format!("{} and {} contradict each other", first.source, other.source),
            "unset those of the launcher that did not start this process",
        ));
    }
    Ok(all.into_iter().next())
}

/// Refuses flags that contradict the launcher.
fn agree(
    settings: &Settings,
    (rank, ranks): (Option<u32>, Option<u32>),
    reported: Option<&LauncherValues>,
) -> Result<()> {
    let Some(reported) = reported else { return Ok(()) };
    for (name, given, known) in [("rank", rank, Some(reported.number)), ("ranks", ranks, reported.count)] {
        if let Some((given, known)) = given.zip(known).filter(|(given, known)| given != known) {
            return Err(Error::plan(
                format!(
                    "{} is {given}, but the launcher sets {known} ({})",
                    settings.describe_place(name),
                    reported.source
                ),
                format!("omit --{name}, or unset these variables"),
            ));
        }
    }
    Ok(())
}

fn beyond(rank: u32, of: u32) -> Error {
    Error::plan(format!("rank {rank} of {of}: ranks are counted from 0"), format!("pass --rank 0 to {}", of - 1))
}

fn number(text: &str) -> Result<u32> {
    let count = units::parse_count(text)?;
    u32::try_from(count).ok().filter(|count| *count <= MOST_RANKS).ok_or_else(|| {
        Error::plan(format!("`{text}` is out of range"), format!("a run has at most {MOST_RANKS} ranks"))
    })
}

/// A name under which ranks meet: of letters that no file system and no server has to quote.
fn job_name(text: &str) -> Result<String> {
    let fits = (1..=64).contains(&text.len())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
        && !text.starts_with(['-', '.']);
    fits.then(|| text.to_owned()).ok_or_else(|| {
        Error::plan(
            format!("`{}` cannot name a job", crate::contract::error::one_line(text)),
            "use up to 64 letters, digits and - _ . , and begin with a letter or digit",
        )
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::plan::KEYS;
    use crate::plan::settings::Origin;

    fn find(flags: &[(&str, &str)], environment: &[(&str, &str)]) -> Result<Option<Rank>> {
        let mut settings = Settings::defaults(KEYS);
        for (name, value) in flags {
            settings.set(name, *value, Origin::Flag(format!("--{name}")));
        }
        let variable = |name: &str| environment.iter().find(|(known, _)| *known == name).map(|(_, v)| (*v).to_owned());
        Rank::detect(&settings, &variable)
    }

    fn is(found: Result<Option<Rank>>, number: u32, of: u32) {
        let rank = found.unwrap().unwrap();
        assert_eq!((rank.number, rank.count), (number, of));
    }

    #[test]
    fn each_launcher_is_understood() {
        let slurm = [("SLURM_PROCID", "3"), ("SLURM_NTASKS", "4"), ("SLURM_STEP_ID", "0"), ("SLURM_JOB_ID", "17")];
        is(find(&[], &slurm), 3, 4);
        assert_eq!(find(&[], &slurm).unwrap().unwrap().job.as_deref(), Some("17.0"));
        is(find(&[], &[("OMPI_COMM_WORLD_RANK", "1"), ("OMPI_COMM_WORLD_SIZE", "2")]), 1, 2);
        is(find(&[], &[("PMI_RANK", "0"), ("PMI_SIZE", "8")]), 0, 8);
        is(find(&[("ranks", "4")], &[("JOB_COMPLETION_INDEX", "2")]), 2, 4);
        is(find(&[("rank", "2"), ("ranks", "4")], &[]), 2, 4);
    }

    #[test]
    fn a_process_without_a_launcher_is_alone() {
        assert_eq!(find(&[], &[]).unwrap(), None);
        assert_eq!(find(&[("ranks", "1")], &[("JOB_COMPLETION_INDEX", "2")]).unwrap(), None);
        let one = [("SLURM_PROCID", "0"), ("SLURM_NTASKS", "1"), ("SLURM_STEP_ID", "0")];
        assert_eq!(find(&[], &one).unwrap(), None);
        assert_eq!(find(&[], &[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "4")]).unwrap(), None, "a batch script");
    }

    #[test]
    fn daemons_of_mpirun_that_slurm_started_are_no_ranks() {
        let slurm = [("SLURM_PROCID", "0"), ("SLURM_NTASKS", "2"), ("SLURM_STEP_ID", "0")];
        let mpi = [("OMPI_COMM_WORLD_RANK", "5"), ("OMPI_COMM_WORLD_SIZE", "8")];
        is(find(&[], &[&slurm[..], &mpi[..]].concat()), 5, 8);
    }

    #[test]
    fn contradictions_are_refused_with_both_sides() {
        let mpi = [("OMPI_COMM_WORLD_RANK", "1"), ("OMPI_COMM_WORLD_SIZE", "4")];
        let reported =
            |flags: &[(&str, &str)], environment: &[(&str, &str)]| find(flags, environment).unwrap_err().to_string();
        let error = reported(&[("rank", "2")], &mpi);
        assert!(error.starts_with("--rank is 2, but the launcher sets 1 (OMPI_COMM_WORLD_RANK"), "{error}");
        let error = reported(&[("ranks", "8")], &mpi);
        assert!(error.starts_with("--ranks is 8, but the launcher sets 4"), "{error}");
        let error = reported(&[], &[&mpi[..], &[("JOB_COMPLETION_INDEX", "3")]].concat());
        assert!(error.contains("contradict each other"), "{error}");
        assert!(reported(&[("rank", "4"), ("ranks", "4")], &[]).contains("counted from 0"));
        assert!(reported(&[("rank", "1"), ("ranks", "1")], &[]).contains("counted from 0"));
        assert!(reported(&[("rank", "1")], &[]).contains("their number is not given"));
        assert!(reported(&[], &[("JOB_COMPLETION_INDEX", "0")]).contains("their number is not given"));
        assert!(reported(&[("ranks", "2")], &[]).contains("the number of this one is not given"));
        assert!(reported(&[], &[("PMI_RANK", "x"), ("PMI_SIZE", "2")]).starts_with("PMI_RANK: "));
        assert!(reported(&[("rank", "0"), ("ranks", "2"), ("job", "../x")], &[]).contains("cannot name a job"));
    }

    proptest! {
        #[test]
        fn shares_are_even_and_leave_no_session_out(sessions in 1_u32..100_000, of in 2_u32..1_000) {
            let rank = |number| Rank { number, count: of, source: String::new(), job: None, assignment: TargetAssignment::default() };
            let share = |number| rank(number).own_sessions(sessions);
            let lengths: Vec<u32> = (0..of).map(|number| share(number).len() as u32).collect();
            prop_assert_eq!(lengths.iter().sum::<u32>(), sessions);
            prop_assert!((1..of).all(|number| share(number - 1).end == share(number).start));
            prop_assert!(lengths.iter().max().unwrap() - lengths.iter().min().unwrap() <= 1);
        }

        #[test]
        fn over_targets_no_session_is_missing_or_duplicated(weights in proptest::collection::vec(1_u32..50, 1..6), more in 0_u32..9, sessions in 1_u32..5_000) {
            let (of, spread) = (weights.len() as u32 + more, TargetAssignment::new(weights.clone()));
            let rank = |number| Rank { number, count: of, source: String::new(), job: None, assignment: spread.clone() };
            let shares: Vec<Range<u32>> = (0..of).map(|number| rank(number).own_sessions(sessions)).collect();
            prop_assert_eq!((shares[0].start, shares[of as usize - 1].end), (0, sessions));
            prop_assert!(shares.windows(2).all(|pair| pair[0].end == pair[1].start));
            prop_assert_eq!((0..of).filter(|number| rank(*number).leads()).count(), weights.len());
            let least = spread.min_sessions(of);
            prop_assert!((0..of).all(|number| rank(number).refuse_idle(least).is_ok() && !rank(number).own_sessions(least).is_empty()));
        }
    }
}
