//! The limit of a step, by the rules of docs/findings.md; the first matching rule decides.

use std::fmt::Write as _;

use mindful_core::contract::description::Words;
use mindful_core::contract::wait::WaitClass;
use mindful_core::result::finding::OTHERS_BUSY;

use crate::figures::shares::Shares;
use crate::judgement::claims::MAX_PAGE_CACHE_SHARE;
use crate::judgement::commit_path::CommitPath;
use crate::judgement::headline::{ALL_CACHED, percent};
pub use crate::judgement::limit::Limit;
use crate::judgement::limit::{FLAT_GAIN, LadderStep};

/// Share of the CPUs it may use above which the client limits.
pub(crate) const CLIENT_BUSY: f64 = 0.8;
/// Deviation from Little's law, by the busy sessions, above which the client limits.
pub(crate) const LITTLE_BREACH: f64 = 0.05;
/// Share of the host's CPU above which CPU limits.
pub(crate) const HOST_BUSY: f64 = 0.85;
/// Share of the sessions' time on a CPU or in the run queue, up to which a busy host does not limit.
const LEAST_CPU_SHARE: f64 = 0.1;
/// Share of a CPU's time that the control group of the server may hold it back before that limits.
pub(crate) const HELD_BACK: f64 = 0.05;
/// Share of the window that sessions may stall before stalls are the limit.
pub(crate) const STALLED_SHARE: f64 = 0.05;
/// Share of database time on CPU, or waiting for one, above which CPU limits.
const CPU_SHARE: f64 = 0.6;
/// Share of database time in waits for the log above which redo or commit limits.
const LOG_SHARE: f64 = 0.25;
/// Share of database time in waits for free or clean buffers above which the writers limit.
const WRITER_SHARE: f64 = 0.15;
/// Share of database time in waits for other sessions above which contention limits.
pub(crate) const CONTENTION_SHARE: f64 = 0.15;
/// Share of database time in waits for reads above which the latency of the device limits.
const READ_SHARE: f64 = 0.6;

/// Accepted difference between two measurements of the same share.
const UNSURE: f64 = 0.1;
/// Largest share on CPU by the used CPU: clocks of processes are coarse.
const USED_AT_MOST: f64 = 1.25;
/// Divisor of a share of reads for its minimum at the device: the rest is the path there and back.
const AT_DEVICE_AT_LEAST: f64 = 3.0;

/// The remedy if waits for other sessions are known without samples. They are then waits of writers, because the
/// database admits one at a time.
const ONE_WRITER: &str = "one session writes at a time, whatever the --schemas: fewer --sessions, a lower --update-pct, or \
                          more updates in one transaction";

/// The input of the rules. A rule does not match if its input is `None`, unknown.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Evidence {
    pub words: Words,
    /// mindful's CPU by the CPUs it may use.
    pub client_busy: Option<f64>,
    /// Deviation from Little's law, as a share of the busy sessions.
    pub little_breach: Option<f64>,
    /// Busy share of the host's CPU, of the time that the hypervisor left it.
    pub host_busy: Option<f64>,
    /// Share of the same time used by neither the server nor mindful, without kernel threads and interrupts.
    pub others_busy: Option<f64>,
    /// Time in which the control group of the server did not let it run, as a share of a CPU's.
    pub held_back: Option<f64>,
    /// Share of the window in which at least three quarters of the sessions stood still.
    pub stalled: Option<f64>,
    /// The limits of volume, instance or control group that held the storage, in words.
    pub held: Option<String>,
    /// Where database time went.
    pub shares: Shares,
    pub commits: CommitPath,
    /// The step with at most half of this step's load, and this step.
    pub ladder: Option<(LadderStep, LadderStep)>,
    /// Whether the throughput of its ladder is flat at this step: below it, or above.
    pub flat: bool,
    pub page_cache_share: Option<f64>,
    /// Whether the loop could run in the database, and did not.
    pub server_loop_unused: bool,
    pub reads_alone: bool,
    pub reader: Reader,
    /// CPU that the server used, as a share of the sessions' time.
    pub cpu_used: Option<f64>,
    /// Time in which reads of the server were at the device, as a share of the sessions' time (Little's law): above 1
    /// if it reads ahead.
    pub at_device: Option<f64>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Reader {
    #[default]
    Database,
    /// A session on bare files, one I/O at a time.
    OneAtATime,
    /// A session on bare files, with as many I/Os at a time as the plan sets.
    Several,
}

impl Evidence {
    pub const fn on_files(&self) -> bool {
        !matches!(self.reader, Reader::Database)
    }

    /// Whether sessions spent enough time on a CPU or in the run queue for a busy host to limit them, as far as known.
    fn may_wait_for_cpu(&self) -> bool {
        self.shares.get(WaitClass::Cpu).is_none_or(|share| share > LEAST_CPU_SHARE)
    }

    fn limited(&self, limit: Limit, figures: String, next: &str) -> Verdict {
        Verdict { limit, called: limit.called(&self.words), figures, next: next.to_owned() }
    }

    pub const fn time(&self) -> &'static str {
        if self.on_files() { "I/O time" } else { "database time" }
    }

    /// Each rule that compares a share with a limit, in words: `(rule, share, its error, limit)`.
    pub fn rules(&self) -> [(String, Option<f64>, Option<f64>, f64); 9] {
        let alone = |rule: &str, share, limit| (rule.to_owned(), share, None, limit);
        let of_time = |rule: &str, class, limit| {
            let share = self.shares.get(class);
            (format!("{rule}{}", self.time()), share, share.and_then(|share| self.shares.error(share)), limit)
        };
        let log = format!("{}: waits by ", Limit::Log.called(&self.words));
        [
            alone("the client: its CPU by the CPUs it may use", self.client_busy, CLIENT_BUSY),
            alone("the client: Little's law off by", self.little_breach, LITTLE_BREACH),
            alone("CPU: busy share of the host", self.host_busy, HOST_BUSY),
            of_time("CPU: share of ", WaitClass::Cpu, CPU_SHARE),
            of_time(&log, WaitClass::Log, LOG_SHARE),
            of_time("writers: waits by ", WaitClass::Writer, WRITER_SHARE),
            of_time("contention: waits by ", WaitClass::Contention, CONTENTION_SHARE),
            of_time("device latency: waits by ", WaitClass::Read, READ_SHARE),
            alone("the page cache: share of physical reads", self.page_cache_share, MAX_PAGE_CACHE_SHARE),
        ]
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    pub limit: Limit,
    pub called: String,
    /// The figures it rests on, each with its threshold.
    pub figures: String,
    pub next: String,
}

impl Verdict {
    /// Judges by the first rule that matches.
    pub fn from_evidence(evidence: &Evidence) -> Self {
        let rules = [
            stall,
            reported_cap,
            log_cap,
            others_cpu,
            held_back,
            client,
            cpu,
            log,
            writers,
            contention,
            device_cap,
            device_latency,
            page_cache,
        ];
        let verdict = rules.iter().find_map(|rule| rule(evidence)).unwrap_or_else(|| undecided(evidence));
        contradicted(evidence, &verdict).unwrap_or(verdict)
    }
}

/// The corrected verdict if another measurement contradicts its shares of time; it shows both.
fn contradicted(e: &Evidence, verdict: &Verdict) -> Option<Verdict> {
    let witness = match verdict.limit {
        Limit::Cpu
            if e.host_busy.is_none_or(|busy| busy <= HOST_BUSY) && !e.held_back.is_some_and(|s| s > HELD_BACK) =>
        {
            let share = e.shares.get(WaitClass::Cpu)?;
            let unseen = e.shares.samples.is_some() && e.shares.scheduler.is_none();
            let used = e.cpu_used.filter(|used| unseen && share > used * USED_AT_MOST + UNSURE);
            let at_device = e.at_device.filter(|at_device| share + at_device.min(1.0) > 1.0 + 2.0 * UNSURE);
            let used = used.map(|used| format!("the server used CPU for only {} of it", percent(used)));
            used.or_else(|| at_device.map(|share| format!("reads were at the device for {} of it", percent(share))))?
        }
        Limit::DeviceLatency if e.page_cache_share.is_none_or(|phi| phi <= MAX_PAGE_CACHE_SHARE) => {
            let share = e.shares.get(WaitClass::Read)?;
            let at_device = e.at_device.filter(|at_device| at_device * AT_DEVICE_AT_LEAST < share - UNSURE)?;
            format!("reads were at the device for only {} of it", percent(at_device))
        }
        _ => return None,
    };
    let next = "two measurements contradict each other: sweep --sessions, and see where the rate stops rising";
    Some(e.limited(Limit::Undecided, format!("{}, but {witness}", verdict.figures), next))
}

/// `sentence` with `value` at its `{}` and the threshold, if the value exceeds the threshold.
fn over(sentence: &str, value: Option<f64>, threshold: f64) -> Option<String> {
    let value = value.filter(|value| *value > threshold)?;
    Some(format!("{} (limit {})", sentence.replace("{}", &percent(value)), percent(threshold)))
}

fn either(e: &Evidence, limit: Limit, figures: [Option<String>; 2], next: &str) -> Option<Verdict> {
    let figures: Vec<_> = figures.into_iter().flatten().collect();
    (!figures.is_empty()).then(|| e.limited(limit, figures.join(", "), next))
}

/// `sentence` with the share of the sessions' time in `class`, if the share exceeds `threshold`.
fn share_of_time(e: &Evidence, sentence: &str, class: WaitClass, threshold: f64) -> Option<String> {
    over(&format!("{sentence} {{}} of {}", e.time()), e.shares.get(class), threshold)
}

fn stall(e: &Evidence) -> Option<Verdict> {
    let figures = over("sessions stood still for {} of the window", e.stalled, STALLED_SHARE)?;
    let next = "find what stopped the server, its storage or the host, and measure without it: no other load helps";
    Some(e.limited(Limit::Stall, figures, next))
}

/// A cap that the storage, or the control group before it, reports.
fn reported_cap(e: &Evidence) -> Option<Verdict> {
    let next = "this is its sold or configured limit: a larger volume, instance or limit raises the figure, more sessions \
                do not";
    Some(e.limited(Limit::DeviceCap, e.held.clone()?, next))
}

/// A host that is full only because of others: they caused the waits of server and client for CPU.
fn others_cpu(e: &Evidence) -> Option<Verdict> {
    let (busy, others) = (e.host_busy?, e.others_busy?);
    let theirs = e.may_wait_for_cpu() && busy > HOST_BUSY && busy - others <= HOST_BUSY;
    let figures = over("processes that are not of this run used {} of the host's CPU", Some(others), OTHERS_BUSY)?;
    let next =
        "end the other processes on this host, or measure when it is quiet: the run used only the CPU that they left";
    let full = format!("{figures}, which was {} busy", percent(busy));
    theirs.then(|| e.limited(Limit::OthersCpu, full, next))
}

/// A server that waits for CPU which the host has and its control group does not let it have.
fn held_back(e: &Evidence) -> Option<Verdict> {
    let waits = e.shares.get(WaitClass::Cpu).is_none_or(|share| share > CPU_SHARE);
    let figures = over("the control group of the server held it back for {} of a CPU's time", e.held_back, HELD_BACK)?;
    let next = "the figure is that of the group's limit: raise cpu.max (version 1: cpu.cfs_quota_us), or report the limit \
                with it; other hardware and other sessions do not help";
    waits.then(|| e.limited(Limit::Cpu, figures, next))
}

fn client(e: &Evidence) -> Option<Verdict> {
    let figures = [
        over("mindful used {} of its CPUs", e.client_busy, CLIENT_BUSY),
        over("sessions spent {} of their time outside of operations", e.little_breach, LITTLE_BREACH),
    ];
    let next = if e.server_loop_unused {
        "use --loop server, a larger --work-unit, or a client with more CPUs"
    } else {
        "use a larger --work-unit, or a client with more CPUs"
    };
    either(e, Limit::Client, figures, next)
}

fn cpu(e: &Evidence) -> Option<Verdict> {
    let states = e.shares.scheduler.map_or_else(String::new, |scheduler| {
        format!(": {} on a CPU, {} waiting for one", percent(scheduler.on_cpu), percent(scheduler.queued))
    });
    let of_time = share_of_time(e, "CPU was", WaitClass::Cpu, CPU_SHARE).map(|figures| figures + &states);
    let host_busy = e.host_busy.filter(|_| e.may_wait_for_cpu());
    let figures = [over("the host's CPU was {} busy", host_busy, HOST_BUSY), of_time];
    let host_busy = e.host_busy.is_some_and(|busy| busy > HOST_BUSY);
    let next = if e.on_files() && !host_busy && !e.flat {
        "each session is one thread, on one CPU at a time: more --sessions, or faster CPUs, raise the figure, storage \
         does not"
    } else {
        "more or faster CPUs raise the figure, storage does not; try fewer --sessions"
    };
    either(e, Limit::Cpu, figures, next)
}

/// A cap of the device that holds the log and not the data.
fn log_cap(e: &Evidence) -> Option<Verdict> {
    let next =
        format!("the {} waits for its volume, not for the data's: raise that limit or move the log", e.words.log);
    Some(e.limited(Limit::LogVolume, e.commits.held.clone()?, &next))
}

fn log(e: &Evidence) -> Option<Verdict> {
    let log = &e.words.log;
    let next = if e.reads_alone {
        format!("no update of this plan writes {log}: see the ledger of writes, and what else the server does")
    } else {
        format!(
            "this measures the {log}, not the reads: lower --update-pct, enlarge the {log} and its buffer, or place it \
             on a faster volume"
        )
    };
    let mut figures = share_of_time(e, &format!("waits for the {log} were"), WaitClass::Log, LOG_SHARE)?;
    if let Some(volumes) = &e.commits.volumes {
        let _ = write!(figures, ", {volumes}");
    }
    let part = e.shares.get(WaitClass::Log).and_then(|share| e.commits.limit(share, e.ladder.as_ref(), log));
    Some(match part {
        Some((limit, of_part, next)) => e.limited(limit, format!("{figures}; {of_part}"), &next),
        None => e.limited(Limit::Log, figures, &next),
    })
}

fn writers(e: &Evidence) -> Option<Verdict> {
    let next = "blocks are dirtied faster than they are written: more or stronger writers, a larger cache, a lower \
                --update-pct";
    let figures = share_of_time(e, "waits for free buffers were", WaitClass::Writer, WRITER_SHARE)?;
    Some(e.limited(Limit::Writers, figures, next))
}

fn contention(e: &Evidence) -> Option<Verdict> {
    let next = if e.shares.samples.is_some() {
        "sessions wait for each other: more --schemas, fewer sessions a schema, no hot spot"
    } else {
        ONE_WRITER
    };
    let figures = share_of_time(e, "waits for locks and latches were", WaitClass::Contention, CONTENTION_SHARE)?;
    Some(e.limited(Limit::Contention, figures, next))
}

/// Throughput is flat although twice as much is under way at once, and latency grew with it.
fn device_cap(e: &Evidence) -> Option<Verdict> {
    let (before, here) = e.ladder?;
    let (gain, slower) = (here.per_s / before.per_s - 1.0, here.mean_us / before.mean_us);
    let what = if e.on_files() { "I/Os in flight" } else { "sessions" };
    let figures = format!(
        "{:.0} instead of {:.0} {what} gained {} (flat within {}) and took {slower:.1} times as long",
        here.in_flight,
        before.in_flight,
        percent(gain),
        percent(FLAT_GAIN)
    );
    let next = "this is the limit of the device: look for a cap of IOPS or throughput of the volume or the instance";
    LadderStep::is_flat(&before, &here).then(|| e.limited(Limit::DeviceCap, figures, next))
}

fn device_latency(e: &Evidence) -> Option<Verdict> {
    // An almost unused part does not limit.
    if e.page_cache_share.is_some_and(|phi| phi > ALL_CACHED) {
        return None;
    }
    let next = if e.flat {
        "more --sessions do not raise the figure, as other steps show: a faster device does"
    } else if e.reader == Reader::Several {
        "more --sessions, or a higher --iodepth, raise the figure until the device is full; a faster device \
         raises it at once"
    } else {
        "more --sessions raise the figure until the device is full; a faster device raises it at once"
    };
    let sampled = share_of_time(e, "waits for reads were", WaitClass::Read, READ_SHARE);
    let mut figures = sampled.or_else(|| reads_at_device(e))?;
    if let Some(phi) = e.page_cache_share.filter(|phi| *phi > MAX_PAGE_CACHE_SHARE) {
        let _ = write!(figures, ", though the page cache served {} of them", percent(phi));
    }
    Some(e.limited(Limit::DeviceLatency, figures, next))
}

/// Little's law at the device, where samples show waits for reads and waits of unknown reason that exceed the limit
/// together, as on MariaDB and MySQL, where the kernel does not show the reason of each sleep.
fn reads_at_device(e: &Evidence) -> Option<String> {
    let [reads, other] = [WaitClass::Read, WaitClass::Other].map(|class| e.shares.get(class));
    let (reads, other) = reads.zip(other)?;
    let figures = over("reads were at the device for {} of database time", e.at_device, READ_SHARE)?;
    let samples = format!("samples show {} reads and {} other waits", percent(reads), percent(other));
    (reads + other > READ_SHARE && other < reads).then(|| format!("{figures}; {samples}"))
}

fn page_cache(e: &Evidence) -> Option<Verdict> {
    let next = "bypass the page cache: use direct I/O, or leave less free memory than data";
    let figures = over("the page cache served {} of physical reads", e.page_cache_share, MAX_PAGE_CACHE_SHARE)?;
    Some(e.limited(Limit::PageCache, figures, next))
}

fn undecided(e: &Evidence) -> Verdict {
    let top =
        e.shares.top(3).into_iter().map(|(class, share)| format!("{} {}", class.name_in(&e.words), percent(share)));
    let top: Vec<_> = top.collect();
    let figures = if top.is_empty() {
        format!("where {} went is not known", e.time())
    } else {
        format!("largest of {}: {}", e.time(), top.join(", "))
    };
    let next = if e.reader == Reader::Several {
        "sweep --sessions or --iodepth: the limit is where the rate stops rising"
    } else {
        "sweep --sessions (`mindful sweep --sessions 1..64`): the limit is where the rate stops rising"
    };
    e.limited(Limit::Undecided, figures, next)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(parts: &[(WaitClass, f64)]) -> Evidence {
        Evidence { shares: Shares::new(parts.iter().copied()), ..Evidence::default() }
    }

    fn limit(evidence: &Evidence) -> Limit {
        Verdict::from_evidence(evidence).limit
    }

    #[test]
    fn no_advice_is_about_work_that_the_plan_does_not_have() {
        let next = |evidence: &Evidence| Verdict::from_evidence(evidence).next;
        let log = shares(&[(WaitClass::Log, 0.6)]);
        assert!(next(&log).contains("--update-pct"));
        assert!(!next(&Evidence { reads_alone: true, ..log }).contains("--update-pct"));
        // Without samples, contention is that of writers that are let in one by one.
        let mut contention = shares(&[(WaitClass::Contention, 0.5)]);
        assert!(!next(&contention).contains("more --schemas"));
        contention.shares.samples = Some(1_000.0);
        assert!(next(&contention).contains("more --schemas"));
    }

    #[test]
    fn no_verdict_of_bare_files_names_a_database() {
        for parts in [
            &[(WaitClass::Read, 0.98), (WaitClass::Cpu, 0.1)][..],
            &[(WaitClass::Cpu, 0.7)],
            &[(WaitClass::Read, 0.5)],
            &[],
        ] {
            let verdict = Verdict::from_evidence(&Evidence { reader: Reader::Several, ..shares(parts) });
            assert!(verdict.figures.contains("I/O time"), "{}", verdict.figures);
            assert!(!verdict.figures.contains("database"), "{}", verdict.figures);
        }
        let waits = shares(&[(WaitClass::Read, 0.98)]);
        assert!(!Verdict::from_evidence(&waits).next.contains("--iodepth"), "a database's sessions have none");
        let files = Evidence { reader: Reader::OneAtATime, ..waits };
        assert!(!Verdict::from_evidence(&files).next.contains("--iodepth"), "nor has one that reads block by block");
        let next = Verdict::from_evidence(&Evidence { reader: Reader::Several, ..files }).next;
        assert!(next.contains("--iodepth") && next.contains("--sessions"), "{next}");
    }

    #[test]
    fn the_first_rule_that_matches_wins() {
        let both = shares(&[(WaitClass::Cpu, 0.61), (WaitClass::Log, 0.3)]);
        assert_eq!(limit(&both), Limit::Cpu);
        assert_eq!(limit(&Evidence { client_busy: Some(0.9), host_busy: Some(0.99), ..both }), Limit::Client);
        let full = |host, others_busy| {
            let little_breach = Some(0.2);
            limit(&Evidence { host_busy: Some(host), others_busy, little_breach, ..Evidence::default() })
        };
        assert_eq!(full(1.0, Some(0.55)), Limit::OthersCpu);
        assert_eq!(full(1.0, Some(0.1)), Limit::Client, "full without them too");
        assert_eq!(full(0.6, Some(0.3)), Limit::Client, "they left CPU free");
        assert_eq!(full(1.0, None), Limit::Client);
        // Sessions that hardly use a CPU do not wait for one.
        let waits = |cpu| Evidence {
            host_busy: Some(1.0),
            others_busy: Some(0.9),
            ..shares(&[(WaitClass::Log, 1.0 - cpu), (WaitClass::Cpu, cpu)])
        };
        assert_eq!([limit(&waits(0.03)), limit(&waits(0.5))], [Limit::Log, Limit::OthersCpu]);
    }

    #[test]
    fn each_limit_is_found_by_its_share() {
        for (class, share, limit) in [
            (WaitClass::Cpu, 0.61, Limit::Cpu),
            (WaitClass::Log, 0.26, Limit::Log),
            (WaitClass::Writer, 0.16, Limit::Writers),
            (WaitClass::Contention, 0.16, Limit::Contention),
            (WaitClass::Read, 0.61, Limit::DeviceLatency),
        ] {
            let found = [share, share - 0.02].map(|share| self::limit(&shares(&[(class, share)])));
            assert_eq!(found, [limit, Limit::Undecided], "{class:?}");
        }
    }

    #[test]
    fn a_device_that_gives_no_more_to_twice_the_sessions_is_capped() {
        let step = |in_flight, per_s, mean_us| LadderStep { in_flight, per_s, mean_us };
        let ladder = |before, here| Evidence { ladder: Some((before, here)), ..shares(&[(WaitClass::Read, 0.95)]) };
        let capped = ladder(step(16.0, 64_000.0, 250.0), step(32.0, 64_500.0, 496.0));
        let rising = ladder(step(16.0, 64_000.0, 250.0), step(32.0, 120_000.0, 266.0));
        assert_eq!([limit(&capped), limit(&rising)], [Limit::DeviceCap, Limit::DeviceLatency]);
        let syncs = CommitPath { sessions: 32.0, commits_per_sync: Some(16.0), ..CommitPath::default() };
        let log = Evidence { commits: syncs, shares: Shares::new([(WaitClass::Log, 0.9)]), ..capped };
        assert_eq!(limit(&log), Limit::LogVolume);
    }
}
