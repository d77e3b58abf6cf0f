//! Steps of a run under the column names of SLOB's `awr_info` and of flashdba's parser of AWR reports. An unknown figure
//! is an empty field.

use mindful_analyze::figures::work::Work;
use mindful_analyze::{Analysis, StepAnalysis};
use mindful_core::contract::fact::Fact;
use mindful_core::contract::metric::Counter;
use mindful_core::record::run::Run;
use mindful_core::result::Summary;
use mindful_core::workload::OpKind;

const MIB: f64 = 1_048_576.0;
const GIB: f64 = 1_073_741_824.0;

pub fn awr_info_cells(run: &Run, analysis: &Analysis, columns: &[&str]) -> Vec<Vec<String>> {
    cells(run, analysis, columns, StepRow::awr_info_cell)
}

pub fn flashdba_cells(run: &Run, analysis: &Analysis, columns: &[String]) -> Vec<Vec<String>> {
    cells(run, analysis, columns, StepRow::flashdba_cell)
}

/// A row a step, with the cell of each column.
fn cells<'a, N: AsRef<str>>(
    run: &'a Run,
    analysis: &'a Analysis,
    columns: &[N],
    cell: fn(&StepRow<'a>, &str) -> Option<String>,
) -> Vec<Vec<String>> {
    let cells = |(number, step): (usize, &'a StepAnalysis)| {
        let place = if analysis.steps.len() > 1 { format!(".step{number}") } else { String::new() };
        let sessions = step.summary.sessions.map_or_else(String::new, |sessions| format!(".{sessions}"));
        let file = format!("{}{place}{sessions}", analysis.summary.id);
        let row = StepRow { run, summary: &analysis.summary, step, file };
        columns.iter().map(|name| cell(&row, name.as_ref()).unwrap_or_default()).collect()
    };
    (1..).zip(&analysis.steps).map(cells).collect()
}

type FigureOfStep = fn(&StepRow) -> Option<f64>;

/// Figures under the names of flashdba's columns.
const FLASHDBA: [(&str, FigureOfStep); 24] = [
    ("Num CPUs", |row| row.cpus()),
    ("Server Memory (GB)", |row| Some(row.summary.hardware.memory_bytes? as f64 / GIB)),
    ("Elapsed Time (mins)", |row| Some(row.step.summary.duration_s? / 60.0)),
    ("DB Time (mins)", |row| Some(row.over_window(row.active_sessions())? / 60.0)),
    ("Average Active Sessions", |row| row.active_sessions()),
    ("DB CPU Time (s)", |row| row.over_window(row.step.summary.cpu.db_cores)),
    ("DB CPU %DBTime", |row| {
        let db_time_s = row.over_window(row.active_sessions()).filter(|s| *s > 0.0)?;
        Some(100.0 * row.over_window(row.step.summary.cpu.db_cores)? / db_time_s)
    }),
    ("Buffer Hit Ratio (%)", |row| Some(100.0 * row.step.summary.hit_ratio?)),
    ("Logical Reads/sec", |row| row.step.summary.logical_reads_per_s),
    ("Executes/sec", |row| row.operations()),
    ("Transactions/sec", |row| row.step.summary.commits_per_s),
    ("Read IOPS", |row| row.step.summary.read_requests_per_s),
    ("Write IOPS", |row| row.step.summary.write_requests_per_s),
    ("Redo IOPS", |row| row.log_writes()),
    ("All Write IOPS", |row| Some(row.step.summary.write_requests_per_s? + row.log_writes()?)),
    ("Total IOPS", |row| {
        Some(row.step.summary.read_requests_per_s? + row.step.summary.write_requests_per_s? + row.log_writes()?)
    }),
    ("Read Throughput (MiB/sec)", |row| row.read_mib_per_s()),
    ("Write Throughput (MiB/sec)", |row| row.written_mib_per_s()),
    ("Redo Throughput (MiB/sec)", |row| row.log_mib_per_s()),
    ("All Write Throughput (MiB/sec)", |row| Some(row.written_mib_per_s()? + row.log_mib_per_s()?)),
    ("Total Throughput (MiB/sec)", |row| Some(row.read_mib_per_s()? + row.written_mib_per_s()? + row.log_mib_per_s()?)),
    ("db file sequential read Waits", |row| row.waits()),
    ("db file sequential read Time (s)", |row| Some(row.waits()? * row.step.summary.read_latency_mean_us? / 1e6)),
    ("db file sequential read Latency (ms)", |row| Some(row.step.summary.read_latency_mean_us? / 1e3)),
];

struct StepRow<'a> {
    run: &'a Run,
    summary: &'a Summary,
    step: &'a StepAnalysis,
    /// As SLOB's users name their reports: sessions after the last dot.
    file: String,
}

impl StepRow<'_> {
    fn awr_info_cell(&self, column: &str) -> Option<String> {
        let step = &self.step.summary;
        let whole = |value: Option<f64>| value.map(|value| value.trunc().to_string());
        let tenths = |value: Option<f64>| value.map(|value| ((value * 10.0).round() / 10.0).to_string());
        match column {
            "FILE" => Some(self.file.clone()),
            "SESSIONS" => step.sessions.map(|sessions| sessions.to_string()),
            // A window ends some ms before or after its second.
            "ELAPSED" => whole(step.duration_s.map(f64::round)),
            "DB CPU" => tenths(step.cpu.db_cores),
            "DB Tm" => tenths(self.active_sessions()),
            "EXECUTES" => whole(self.operations()),
            "LIO" => whole(step.logical_reads_per_s),
            "PREADS" => whole(step.read_requests_per_s),
            "READ_MBS" => tenths(self.read_mib_per_s()),
            "PWRITES" => whole(step.write_requests_per_s),
            "WRITE_MBS" => tenths(self.written_mib_per_s().zip(self.log_mib_per_s()).map(|(data, log)| data + log)),
            "REDO_MBS" => tenths(self.log_mib_per_s()),
            "DFSR_LAT" => whole(step.read_latency_mean_us.map(f64::round)),
            "TOP WAIT" => self.top_wait(),
            _ => None,
        }
    }

    fn flashdba_cell(&self, column: &str) -> Option<String> {
        let summary = self.summary;
        let yes = |is: bool| if is { "Y" } else { "N" }.to_owned();
        match column {
            "Filename" => Some(self.file.clone()),
            "Database Name" => Some(summary.target.clone()),
            "Database Version" => summary.engine_version.clone(),
            "Hostname" => Fact::HostName.find(&self.run.environment).cloned(),
            "Host OS" => summary.hardware.kernel.clone(),
            "DB Block Size" => self.step.block_bytes.map(|bytes| format!("{}K", bytes as f64 / 1024.0)),
            "Busy Flag" => self.active_sessions().zip(self.cpus()).map(|(active, cpus)| yes(active > cpus)),
            _ => {
                let (_, figure) = FLASHDBA.iter().find(|(name, _)| *name == column)?;
                figure(self).map(|figure| ((figure * 1e3).round() / 1e3).to_string())
            }
        }
    }

    /// A rate times the seconds of the window.
    fn over_window(&self, per_s: Option<f64>) -> Option<f64> {
        Some(per_s? * self.step.summary.duration_s?)
    }

    fn log_writes(&self) -> Option<f64> {
        self.step.counters.rate(Counter::LogWrites)
    }

    fn read_mib_per_s(&self) -> Option<f64> {
        self.mib_per_s(self.step.summary.physical_reads_per_s)
    }

    fn written_mib_per_s(&self) -> Option<f64> {
        self.mib_per_s(self.step.summary.physical_writes_per_s)
    }

    /// Waits for one block: counted, or one for each physical read if the database reports their mean.
    fn waits(&self) -> Option<f64> {
        let delta = |counter| self.step.counters.find(counter)?.delta;
        self.step.summary.read_latency_mean_us?;
        delta(Counter::SingleReads).or_else(|| delta(Counter::PhysicalReads))
    }

    fn cpus(&self) -> Option<f64> {
        self.summary.hardware.cpus.map(|cpus| cpus as f64)
    }

    /// By the database's own clock, else by the sessions'.
    fn active_sessions(&self) -> Option<f64> {
        let counted = self.step.counters.rate(Counter::BusyTimeUs).map(|us| us / 1e6);
        counted.or_else(|| self.step.work.as_ref().map(Work::busy_sessions))
    }

    /// Operations of all kinds per second: each is a statement.
    fn operations(&self) -> Option<f64> {
        let ops = &self.step.summary.ops;
        OpKind::ALL.into_iter().filter_map(|kind| ops.get(kind)).map(|op| op.per_s).reduce(|a, b| a + b)
    }

    fn mib_per_s(&self, blocks_per_s: Option<f64>) -> Option<f64> {
        Some(blocks_per_s? * self.step.block_bytes? as f64 / MIB)
    }

    fn log_mib_per_s(&self) -> Option<f64> {
        self.step.summary.log_bytes_per_s.map(|bytes| bytes / MIB)
    }

    /// The most frequent activity of busy sessions.
    fn top_wait(&self) -> Option<String> {
        let (class, share) = self.step.evidence.shares.top(1).into_iter().next()?;
        Some(format!("{} {:.1} %", class.name_in(&self.step.evidence.words), 100.0 * share))
    }
}
