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
    let rows = step_rows(run, analysis);
    let cells = |row: &StepRow<'_>| columns.iter().map(|name| row.awr_info_cell(name).unwrap_or_default()).collect();
    rows.iter().map(cells).collect()
}

pub fn flashdba_cells(run: &Run, analysis: &Analysis, columns: &[String]) -> Vec<Vec<String>> {
    let rows = step_rows(run, analysis);
    let cells = |row: &StepRow<'_>| columns.iter().map(|name| row.flashdba_cell(name).unwrap_or_default()).collect();
    rows.iter().map(cells).collect()
}

struct StepRow<'a> {
    run: &'a Run,
    summary: &'a Summary,
    step: &'a StepAnalysis,
    /// As SLOB's users name their reports: sessions after the last dot.
    file: String,
}

fn step_rows<'a>(run: &'a Run, analysis: &'a Analysis) -> Vec<StepRow<'a>> {
    let many = analysis.steps.len() > 1;
    let row = |(number, step): (usize, &'a StepAnalysis)| {
        let place = if many { format!(".step{number}") } else { String::new() };
        let sessions = step.summary.sessions.map_or_else(String::new, |sessions| format!(".{sessions}"));
        let file = format!("{}{place}{sessions}", analysis.summary.id);
        StepRow { run, summary: &analysis.summary, step, file }
    };
    (1..).zip(&analysis.steps).map(row).collect()
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
            "READ_MBS" => tenths(self.mib_per_s(step.physical_reads_per_s)),
            "PWRITES" => whole(step.write_requests_per_s),
            "WRITE_MBS" => tenths(sum(self.mib_per_s(step.physical_writes_per_s), self.log_mib_per_s())),
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
                let figure = self
                    .identity_figure(column)
                    .or_else(|| self.volume_figure(column))
                    .or_else(|| self.wait_figure(column))?;
                Some(((figure * 1e3).round() / 1e3).to_string())
            }
        }
    }

    fn identity_figure(&self, column: &str) -> Option<f64> {
        let step = &self.step.summary;
        let db_time_s = || Some(self.active_sessions()? * step.duration_s?);
        let cpu_s = || Some(step.cpu.db_cores? * step.duration_s?);
        match column {
            "Num CPUs" => self.cpus(),
            "Server Memory (GB)" => self.summary.hardware.memory_bytes.map(|bytes| bytes as f64 / GIB),
            "Elapsed Time (mins)" => Some(step.duration_s? / 60.0),
            "DB Time (mins)" => Some(db_time_s()? / 60.0),
            "Average Active Sessions" => self.active_sessions(),
            "DB CPU Time (s)" => cpu_s(),
            "DB CPU %DBTime" => Some(100.0 * cpu_s()? / db_time_s().filter(|s| *s > 0.0)?),
            "Buffer Hit Ratio (%)" => Some(100.0 * step.hit_ratio?),
            _ => None,
        }
    }

    fn volume_figure(&self, column: &str) -> Option<f64> {
        let step = &self.step.summary;
        let log_writes = self.step.counters.rate(Counter::LogWrites);
        let all_writes = sum(step.write_requests_per_s, log_writes);
        let (read, written) = (self.mib_per_s(step.physical_reads_per_s), self.mib_per_s(step.physical_writes_per_s));
        let all_written = sum(written, self.log_mib_per_s());
        match column {
            "Logical Reads/sec" => step.logical_reads_per_s,
            "Executes/sec" => self.operations(),
            "Transactions/sec" => step.commits_per_s,
            "Read IOPS" => step.read_requests_per_s,
            "Write IOPS" => step.write_requests_per_s,
            "Redo IOPS" => log_writes,
            "All Write IOPS" => all_writes,
            "Total IOPS" => sum(step.read_requests_per_s, all_writes),
            "Read Throughput (MiB/sec)" => read,
            "Write Throughput (MiB/sec)" => written,
            "Redo Throughput (MiB/sec)" => self.log_mib_per_s(),
            "All Write Throughput (MiB/sec)" => all_written,
            "Total Throughput (MiB/sec)" => sum(read, all_written),
            _ => None,
        }
    }

    /// Waits for one block: counted, or one for each physical read if the database reports their mean.
    fn wait_figure(&self, column: &str) -> Option<f64> {
        let delta = |counter| self.step.counters.find(counter)?.delta;
        let mean_us = self.step.summary.read_latency_mean_us?;
        let waits = delta(Counter::SingleReads).or_else(|| delta(Counter::PhysicalReads));
        match column.strip_prefix("db file sequential read ")? {
            "Waits" => waits,
            "Time (s)" => Some(waits? * mean_us / 1e6),
            "Latency (ms)" => Some(mean_us / 1e3),
            _ => None,
        }
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

fn sum(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    Some(a? + b?)
}
