//! Where a figure comes from: its formula, and the counters behind it.

mod sessions;

use std::fmt::Write as _;

use mindful_analyze::judgement::verdict;
use mindful_analyze::{Analysis, StepAnalysis};
use mindful_core::metric::shared;
use mindful_core::result::OpSummary;
use mindful_core::settings::nearest;
use mindful_core::{Error, Result};

use crate::escape;
use crate::figure::{maybe, number};

/// A figure that can be explained.
struct Figure {
    name: &'static str,
    formula: &'static str,
    /// The counters it is made of.
    sources: &'static [&'static str],
    value: fn(&StepAnalysis) -> Option<f64>,
}

const GROWTH: &str = "growth of the counter from the first border of the window to its last, by the time between";

const ASKED: &str = "as the plan has it";

/// All figures by the names they have in the summary, and the ratios that decide what they may be called.
const FIGURES: &[Figure] = &[
    Figure { name: "sessions", formula: ASKED, sources: &[], value: |s| Some(f64::from(s.summary.sessions)) },
    Figure { name: "schemas", formula: ASKED, sources: &[], value: |s| Some(f64::from(s.summary.schemas)) },
    Figure {
        name: "scale",
        formula: "blocks of each schema that may be visited, as the plan has it",
        sources: &[],
        value: |s| Some(s.summary.scale as f64),
    },
    Figure { name: "work_unit", formula: ASKED, sources: &[], value: |s| Some(s.summary.work_unit as f64) },
    Figure {
        name: "iodepth",
        formula: "operations that a session keeps in flight, as the plan has it; unknown where it is one at a time",
        sources: &[],
        value: |s| s.summary.iodepth.map(f64::from),
    },
    Figure {
        name: "block_bytes",
        formula: "length of a block, as the target tells it or the plan has it",
        sources: &[],
        value: |s| s.summary.block_bytes.map(|bytes| bytes as f64),
    },
    Figure { name: "update_pct", formula: ASKED, sources: &[], value: |s| Some(s.summary.update_pct) },
    Figure {
        name: "count",
        formula: "operations of the window; of a slice that a border of the window cuts, the share inside",
        sources: &[],
        value: |s| op(s).map(|op| op.count as f64),
    },
    Figure {
        name: "operations",
        formula: "operations whose choices were tallied, of all slices after the warm-up",
        sources: &[],
        value: |s| s.summary.choices.as_ref().map(|choices| choices.operations as f64),
    },
    Figure {
        name: "duration_s",
        formula: "min(last border, first stop of a session) - max(first border after the warm-up, last start)",
        sources: &[],
        value: |s| s.summary.duration_s,
    },
    Figure {
        name: "start_skew_ms",
        formula: "latest minus earliest begin of a session's first slice",
        sources: &[],
        value: |s| s.summary.start_skew_ms,
    },
    Figure {
        name: "update_pct_realised",
        formula: "100 x updates / operations of all kinds, in the window",
        sources: &[],
        value: |s| s.summary.update_pct_realised,
    },
    Figure {
        name: "per_s",
        formula: "operations of the window / duration_s; selects, or updates where there are no selects",
        sources: &[],
        value: |s| op(s).map(|op| op.per_s),
    },
    Figure {
        name: "mean_us",
        formula: "exact sum of the latencies of all sessions / operations",
        sources: &[],
        value: |s| op(s)?.mean_us,
    },
    Figure {
        name: "p50_us",
        formula: "latency that half of the operations do not exceed; histograms of all sessions and seconds merged, \
                  unknown with fewer than ten operations beyond it",
        sources: &[],
        value: |s| op(s)?.p50_us,
    },
    Figure {
        name: "p95_us",
        formula: "latency that 95 % of the operations do not exceed; histograms of all sessions and seconds merged, \
                  unknown with fewer than ten operations beyond it",
        sources: &[],
        value: |s| op(s)?.p95_us,
    },
    Figure {
        name: "p99_us",
        formula: "latency that 99 % of the operations do not exceed; histograms of all sessions and seconds merged, \
                  unknown with fewer than ten operations beyond it",
        sources: &[],
        value: |s| op(s)?.p99_us,
    },
    Figure {
        name: "p999_us",
        formula: "latency that 99.9 % of the operations do not exceed; histograms of all sessions and seconds merged, \
                  unknown with fewer than ten operations beyond it",
        sources: &[],
        value: |s| op(s)?.p999_us,
    },
    Figure { name: "max_us", formula: "exact longest latency of the window", sources: &[], value: |s| op(s)?.max_us },
    Figure {
        name: "blocks_visited_per_s",
        formula: "blocks that operations of the window visited, as sessions counted them / duration_s",
        sources: &[],
        value: |s| s.summary.blocks_visited_per_s,
    },
    Figure {
        name: "logical_reads_per_s",
        formula: GROWTH,
        sources: &[shared::LOGICAL_READS],
        value: |s| s.summary.logical_reads_per_s,
    },
    Figure {
        name: "physical_reads_per_s",
        formula: GROWTH,
        sources: &[shared::PHYSICAL_READS],
        value: |s| s.summary.physical_reads_per_s,
    },
    Figure {
        name: "process_reads_per_s",
        formula: "growth of the counter by time, by the length of a block",
        sources: &[shared::PROCESS_READ_BYTES],
        value: |s| s.summary.process_reads_per_s,
    },
    Figure {
        name: "device_reads_per_s",
        formula: GROWTH,
        sources: &[shared::DEVICE_READS],
        value: |s| s.summary.device_reads_per_s,
    },
    Figure {
        name: "page_cache_share",
        formula: "1 - process reads / physical reads",
        sources: &[shared::PROCESS_READ_BYTES, shared::PHYSICAL_READS],
        value: |s| s.summary.page_cache_share,
    },
    Figure {
        name: "foreign_share",
        formula: "1 - bytes read by the server's processes / bytes read by the device",
        sources: &[shared::PROCESS_READ_BYTES, shared::DEVICE_READ_BYTES],
        value: |s| s.gates.foreign_share,
    },
    Figure {
        name: "method_yield",
        formula: "physical reads / blocks visited",
        sources: &[shared::PHYSICAL_READS],
        value: |s| s.gates.method_yield,
    },
    Figure {
        name: "hit_ratio",
        formula: "1 - physical reads / logical reads",
        sources: &[shared::PHYSICAL_READS, shared::LOGICAL_READS],
        value: |s| s.summary.hit_ratio,
    },
    Figure {
        name: "scan_direct_share",
        formula: "blocks visited through the ring of a scan / blocks that scans visited, at most 1",
        sources: &[shared::RING_VISITS],
        value: |s| s.summary.scan_direct_share,
    },
    Figure {
        name: "read_latency_mean_us",
        formula: "time the database waited for reads / physical reads; only where every read fetches one block",
        sources: &[shared::READ_TIME_US, shared::PHYSICAL_READS],
        value: |s| s.summary.read_latency_mean_us,
    },
    Figure {
        name: "one_of",
        formula: "one of so many requests was timed at the device, chosen by its sector; the smallest share of the window",
        sources: &["trace_events", "trace_lost"],
        value: |s| s.summary.device.one_of.map(|one_of| one_of as f64),
    },
    Figure {
        name: "reads_timed",
        formula: "reads of which the kernel told both issue and completion, in the window",
        sources: &["trace_events", "trace_lost"],
        value: |s| s.summary.device.reads_timed.map(|timed| timed as f64),
    },
    Figure {
        name: "read_p50_us",
        formula: "time from issue to completion that half of the timed reads do not exceed",
        sources: &["trace_events", "trace_lost"],
        value: |s| s.summary.device.read_p50_us,
    },
    Figure {
        name: "read_p99_us",
        formula: "time from issue to completion that 99 % of the timed reads do not exceed",
        sources: &["trace_events", "trace_lost"],
        value: |s| s.summary.device.read_p99_us,
    },
    Figure {
        name: "writes_timed",
        formula: "writes of which the kernel told both issue and completion, in the window",
        sources: &["trace_events", "trace_lost"],
        value: |s| s.summary.device.writes_timed.map(|timed| timed as f64),
    },
    Figure {
        name: "write_p50_us",
        formula: "time from issue to completion that half of the timed writes do not exceed",
        sources: &["trace_events", "trace_lost"],
        value: |s| s.summary.device.write_p50_us,
    },
    Figure {
        name: "write_p99_us",
        formula: "time from issue to completion that 99 % of the timed writes do not exceed",
        sources: &["trace_events", "trace_lost"],
        value: |s| s.summary.device.write_p99_us,
    },
    Figure {
        name: "physical_writes_per_s",
        formula: GROWTH,
        sources: &[shared::PHYSICAL_WRITES],
        value: |s| s.summary.physical_writes_per_s,
    },
    Figure {
        name: "log_bytes_per_s",
        formula: GROWTH,
        sources: &[shared::LOG_BYTES],
        value: |s| s.summary.log_bytes_per_s,
    },
    Figure { name: "commits_per_s", formula: GROWTH, sources: &[shared::COMMITS], value: |s| s.summary.commits_per_s },
    Figure {
        name: "db_cores",
        formula: "user and system CPU of the server's processes / time; of its sessions where only these tell",
        sources: &[shared::SERVER_CPU_USER_US, shared::SERVER_CPU_SYSTEM_US],
        value: |s| s.summary.cpu.db_cores,
    },
    Figure {
        name: "host_busy_share",
        formula: "busy CPU time of the host (user, nice, system, irq, softirq) / all CPU time",
        sources: &[shared::HOST_CPU_BUSY_US, shared::HOST_CPU_TOTAL_US],
        value: |s| s.summary.cpu.host_busy_share,
    },
    Figure {
        name: "client_cores",
        formula: "CPU time of mindful / time",
        sources: &[shared::CLIENT_CPU_US],
        value: |s| s.summary.cpu.client_cores,
    },
    Figure {
        name: "db_us_per_physical_read",
        formula: "10^6 x db_cores / physical reads per second",
        sources: &[shared::SERVER_CPU_USER_US, shared::SERVER_CPU_SYSTEM_US, shared::PHYSICAL_READS],
        value: |s| s.summary.cpu.db_us_per_physical_read,
    },
    Figure {
        name: "db_us_per_logical_read",
        formula: "10^6 x db_cores / logical reads per second",
        sources: &[shared::SERVER_CPU_USER_US, shared::SERVER_CPU_SYSTEM_US, shared::LOGICAL_READS],
        value: |s| s.summary.cpu.db_us_per_logical_read,
    },
    Figure {
        name: "db_user_cores",
        formula: "user CPU of the server's processes / time",
        sources: &[shared::SERVER_CPU_USER_US],
        value: |s| s.summary.cpu.db_user_cores,
    },
    Figure {
        name: "db_system_cores",
        formula: "system CPU of the server's processes / time",
        sources: &[shared::SERVER_CPU_SYSTEM_US],
        value: |s| s.summary.cpu.db_system_cores,
    },
    Figure {
        name: "host_kernel_cores",
        formula: "CPU of the whole host in the kernel, interrupts apart / time",
        sources: &["system"],
        value: |s| s.summary.cpu.host_kernel_cores,
    },
    Figure {
        name: "host_interrupt_cores",
        formula: "CPU of the whole host in interrupts and soft interrupts / time",
        sources: &["irq", "softirq"],
        value: |s| s.summary.cpu.host_interrupt_cores,
    },
    Figure {
        name: "steal_share",
        formula: "CPU time that the hypervisor gave to others / all CPU time of the host",
        sources: &[shared::HOST_CPU_STEAL_US, shared::HOST_CPU_TOTAL_US],
        value: |s| s.summary.cpu.steal_share,
    },
    Figure {
        name: "db_us_per_commit",
        formula: "10^6 x db_cores / commits per second: reads and updates between two commits are in it",
        sources: &[shared::SERVER_CPU_USER_US, shared::SERVER_CPU_SYSTEM_US, shared::COMMITS],
        value: |s| s.summary.cpu.db_us_per_commit,
    },
    Figure {
        name: "db_us_per_physical_read_marginal",
        formula: "(db_us_per_logical_read - the same in a cached run) x logical reads / physical reads; unknown when no \
                  cached run of this engine, version and CPU was stored before (--mode lio), when less than 5 % of \
                  logical reads are physical, and with updates",
        sources: &[
            shared::SERVER_CPU_USER_US,
            shared::SERVER_CPU_SYSTEM_US,
            shared::LOGICAL_READS,
            shared::PHYSICAL_READS,
        ],
        value: |s| s.summary.cpu.db_us_per_physical_read_marginal,
    },
    Figure {
        name: "iops_per_core",
        formula: "physical reads per second / db_cores",
        sources: &[shared::SERVER_CPU_USER_US, shared::SERVER_CPU_SYSTEM_US, shared::PHYSICAL_READS],
        value: |s| s.summary.cpu.iops_per_core,
    },
    Figure {
        name: "cores_per_100k_iops",
        formula: "100,000 x db_cores / physical reads per second",
        sources: &[shared::SERVER_CPU_USER_US, shared::SERVER_CPU_SYSTEM_US, shared::PHYSICAL_READS],
        value: |s| s.summary.cpu.cores_per_100k_iops,
    },
    Figure {
        name: "watching_cores",
        formula: "CPU of the threads that read counters, time requests and ask for wait events / time",
        sources: &["observer_cpu", "trace_cpu", "sampling_cpu"],
        value: |s| s.summary.cpu.watching_cores,
    },
    Figure {
        name: "wait_sampling_share",
        formula: "CPU of the server process that answers the sampling of waits / CPU of all the server's processes",
        sources: &["monitor_cpu", shared::SERVER_CPU_USER_US, shared::SERVER_CPU_SYSTEM_US],
        value: |s| s.summary.cpu.wait_sampling_share,
    },
    Figure {
        name: "little",
        formula: "|sessions not thinking - operations per second x mean time| / sessions not thinking; a loop in the database \
                  counts into the time",
        sources: &[],
        value: |s| s.evidence.little_breach,
    },
];

/// The kind of operation whose figures are told.
fn op(step: &StepAnalysis) -> Option<&OpSummary> {
    step.summary.ops.select.as_ref().or(step.summary.ops.update.as_ref())
}

/// Names of the figures that can be explained, `verdict` among them.
pub fn names() -> impl Iterator<Item = &'static str> {
    FIGURES.iter().map(|figure| figure.name).chain(sessions::NAMES).chain(["verdict"])
}

/// Explains the figure `name` for every step; `cpu.db_cores` and the like may be given with their path.
pub fn figure(name: &str, analysis: &Analysis) -> Result<String> {
    let short = name.rsplit('.').next().unwrap_or(name);
    if short == "verdict" {
        return Ok(verdicts(analysis));
    }
    if let Some(choice) = Choice::of(name) {
        return Ok(choice.explained(analysis));
    }
    if sessions::NAMES.contains(&short) {
        return Ok(sessions::explained(analysis));
    }
    let figure = find(short)?;
    let mut text = format!("{}\n  = {}\n", figure.name, figure.formula);
    for (number, step) in (1..).zip(&analysis.steps) {
        let _ = writeln!(text, "step {number}: {}", maybe((figure.value)(step)));
        sources(&mut text, figure, step);
    }
    Ok(text)
}

/// Refuses what is no figure, with the nearest name.
pub fn known(name: &str) -> Result<()> {
    let short = name.rsplit('.').next().unwrap_or(name);
    let listed = short == "verdict" || sessions::NAMES.contains(&short) || Choice::of(name).is_some();
    if listed { Ok(()) } else { find(short).map(drop) }
}

/// A share of the operations by what was chosen for them: `choices.alone_pct.hot_spot`, `joint_pct.update+hot_spot`.
struct Choice<'a> {
    together: bool,
    chosen: &'a str,
}

impl<'a> Choice<'a> {
    fn of(name: &'a str) -> Option<Self> {
        let (path, chosen) = name.rsplit_once('.')?;
        match path.rsplit('.').next()? {
            "alone_pct" => Some(Self { together: false, chosen }),
            "joint_pct" => Some(Self { together: true, chosen }),
            _ => None,
        }
    }

    fn explained(&self, analysis: &Analysis) -> String {
        let (shares, those) = if self.together {
            ("joint_pct", "exactly this set of choices fell together")
        } else {
            ("alone_pct", "this choice fell, whatever fell beside it")
        };
        let chosen = escape(self.chosen);
        let mut text = format!(
            "{shares}.{chosen}\n  = 100 x operations for which {those} / operations tallied after the warm-up\n"
        );
        for (number, step) in (1..).zip(&analysis.steps) {
            let share = step.summary.choices.as_ref().and_then(|choices| {
                if self.together { &choices.joint_pct } else { &choices.alone_pct }.get(self.chosen).copied()
            });
            let _ = writeln!(text, "step {number}: {}", maybe(share));
        }
        text
    }
}

fn find(name: &str) -> Result<&'static Figure> {
    FIGURES.iter().find(|figure| figure.name == name).ok_or_else(|| {
        let next = match nearest(name, names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("choose {}", names().collect::<Vec<_>>().join(", ")),
        };
        Error::plan(format!("no figure is called `{}`", escape(name)), next)
    })
}

fn sources(text: &mut String, figure: &Figure, step: &StepAnalysis) {
    if let (Some(window), true) = (&step.window, figure.sources.is_empty()) {
        let (first, last) = (window.first_border, window.last_border);
        let _ = writeln!(text, "  slices of border {first} to {last}, {:.2} s", window.seconds());
    }
    for name in figure.sources {
        match step.counters.find(name) {
            Some(change) => {
                let grew = maybe(change.delta);
                let (source, unit) = (escape(&change.source), escape(&change.unit));
                let [from, to] = change.readings.map(|raw| raw.map_or_else(|| "unknown".to_owned(), |v| v.to_string()));
                let span = change.seconds;
                let _ = writeln!(text, "  {source}: {name} from {from} to {to} {unit}: {grew} in {span:.2} s");
            }
            None => {
                let _ = writeln!(text, "  {name}: no source tells it");
            }
        }
    }
}

/// The rules of the verdict with their limits, and what they saw.
fn verdicts(analysis: &Analysis) -> String {
    use mindful_analyze::figures::shares::Class;
    let mut text = String::from("verdict\n  = the first rule that matches\n");
    for (step_number, step) in (1..).zip(&analysis.steps) {
        let evidence = &step.evidence;
        let share = |class| evidence.shares.get(class);
        let _ = writeln!(text, "step {step_number}: {}", step.verdict.as_ref().map_or("unknown", |v| v.limit.name()));
        let time = evidence.time();
        let rules = [
            ("the client: its CPU by the CPUs it may use", "", evidence.client_busy, verdict::CLIENT_BUSY),
            ("the client: Little's law off by", "", evidence.little_breach, verdict::LITTLE_BREACH),
            ("CPU: busy share of the host", "", evidence.host_busy, verdict::HOST_BUSY),
            ("CPU: share of ", time, share(Class::Cpu), verdict::CPU_SHARE),
            ("redo or commit: waits by ", time, share(Class::Log), verdict::LOG_SHARE),
            ("writers: waits by ", time, share(Class::Writer), verdict::WRITER_SHARE),
            ("contention: waits by ", time, share(Class::Contention), verdict::CONTENTION_SHARE),
            ("device latency: waits by ", time, share(Class::Read), verdict::READ_SHARE),
            (
                "the page cache: share of physical reads",
                "",
                evidence.page_cache_share,
                mindful_analyze::judgement::headline::MAX_PAGE_CACHE_SHARE,
            ),
        ];
        for (rule, time, value, limit) in rules {
            let error = value.and_then(|share| evidence.shares.error(share)).filter(|_| !time.is_empty());
            let error = error.map_or_else(String::new, |error| format!(" (+-{})", number(error)));
            let _ = writeln!(text, "  {rule}{time}: {}{error}, limit {}", maybe(value), number(limit));
        }
    }
    text
}
