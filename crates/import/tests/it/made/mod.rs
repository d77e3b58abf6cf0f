//! Made-up reports in the form of each version: random figures in the layout of the version.
//!
//! A layout is a file in `reports/` with placeholders. One with blanks is as wide as its value; a line for an event that
//! was not waited for is left out.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dress {
    /// AWR of 10.2, text.
    Awr10,
    /// AWR of 11.2, text.
    Awr11,
    /// AWR of 11.2.0.4 and 12.1, text: seconds with suffixes, narrow columns, blanks for zeros.
    Awr12,
    /// AWR of 12.2 to 23ai, text: waits with units.
    Awr19,
    /// AWR of 11.2 and 12.1, a page: the parts of its summary have a bare line as their heading.
    Html11,
    /// AWR of 19c, a page.
    Html,
    /// Statspack of 12c.
    Statspack,
}

/// The content of a report, per second unless noted otherwise.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Made {
    pub minutes: f64,
    pub db_time: f64,
    pub db_cpu: f64,
    pub executes: f64,
    pub logical: f64,
    pub blocks_read: f64,
    pub read_requests: f64,
    pub read_bytes: f64,
    pub write_requests: f64,
    pub write_bytes: f64,
    pub redo: f64,
    pub redo_writes: f64,
    /// Waits and whole seconds of sessions, by event; at most four.
    pub foreground: Vec<(&'static str, u64, u64)>,
    pub background: Vec<(&'static str, u64, u64)>,
    /// Share of database time of the first of the foreground, percent.
    pub top_percent: f64,
}

/// The published sample of the older kit, with its known figures.
pub(crate) fn showcase() -> Made {
    const MIB: f64 = 1_048_576.0;
    Made {
        minutes: 5.08,
        db_time: 126.5,
        db_cpu: 5.7,
        executes: 370.4,
        logical: 119_749.5,
        blocks_read: 71_556.0,
        read_requests: 71_553.2,
        read_bytes: 559.1 * MIB,
        write_requests: 25_884.3,
        write_bytes: 329.0 * MIB,
        redo: 108.2 * MIB,
        redo_writes: 2.2,
        foreground: vec![
            ("db file sequential read", 21_643_000, 16_427),
            ("log buffer space", 1_000_000, 12_648),
            ("free buffer waits", 2_000_000, 6_632),
            ("read by other session", 10, 1),
        ],
        background: vec![("db file parallel write", 1_000_000, 312), ("log file parallel write", 675, 297)],
        top_percent: 42.6,
    }
}

/// `1234567.8` as `1,234,567.8`.
fn grouped(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let whole = text.find('.').unwrap_or(text.len());
    let is_first = |at: usize| at > 0 && at < whole && (whole - at).is_multiple_of(3);
    text.char_indices().flat_map(|(at, c)| is_first(at).then_some(',').into_iter().chain([c])).collect()
}

/// With a suffix if it is wide.
fn shortened(count: u64) -> String {
    match count {
        0..10_000 => count.to_string(),
        10_000..1_000_000 => format!("{:.1}K", count as f64 / 1e3),
        _ => format!("{:.1}M", count as f64 / 1e6),
    }
}

impl Made {
    pub(crate) fn seconds(&self) -> f64 {
        self.minutes * 60.0
    }

    pub(crate) fn report(&self, dress: Dress) -> String {
        let layout = match dress {
            Dress::Awr10 => include_str!("reports/awr_10.txt"),
            Dress::Awr11 => include_str!("reports/awr_11.txt"),
            Dress::Awr12 => include_str!("reports/awr_12.txt"),
            Dress::Awr19 => include_str!("reports/awr_19.txt"),
            Dress::Html11 => include_str!("reports/awr_11.html"),
            Dress::Html => include_str!("reports/awr_19.html"),
            Dress::Statspack => include_str!("reports/statspack.txt"),
        };
        layout.split_inclusive('\n').filter_map(|line| self.line(line)).collect()
    }

    /// A line of a layout with values for its placeholders; `None` if one has no value.
    fn line(&self, line: &str) -> Option<String> {
        let mut parts = line.split('{');
        let mut filled = parts.next()?.to_owned();
        for part in parts {
            let (place, rest) = part.split_once('}')?;
            let name = place.trim();
            let value = if let Some(value) = self.figure(name) { value } else { self.event(name)? };
            let width = if name == place { 0 } else { place.len() + 2 };
            let is_right = place.starts_with(' ');
            let cell = if is_right { format!("{value:>width$}") } else { format!("{value:<width$}") };
            filled.extend([&cell, rest]);
        }
        Some(filled)
    }

    fn figure(&self, name: &str) -> Option<String> {
        let seconds = self.seconds();
        let (name, form) = name.split_once('.').unwrap_or((name, ""));
        let per_s = match name {
            "minutes" => return Some(grouped(self.minutes, 2)),
            "end" => return Some(format!("23-May-16 {}", self.clock_of_end())),
            "top" => return Some(self.top_percent.to_string()),
            "time" => self.db_time,
            "cpu" => self.db_cpu,
            "executes" => self.executes,
            "logical" => self.logical,
            "blocks" => self.blocks_read,
            "reads" => self.read_requests,
            "read_bytes" => self.read_bytes,
            "writes" => self.write_requests,
            "all" => self.write_requests + self.redo_writes,
            "write_bytes" => self.write_bytes,
            "redo" => self.redo,
            "redo_writes" => self.redo_writes,
            "commits" => 12.5,
            _ => return None,
        };
        Some(match form {
            "total" => grouped(per_s * seconds, 0),
            "seconds" => grouped(per_s * seconds, 1),
            "min" => grouped(per_s * self.minutes, 2),
            _ => grouped(per_s, 1),
        })
    }

    fn clock_of_end(&self) -> String {
        let seconds = self.seconds() as u64;
        format!("{:02}:{:02}:{:02}", 10 + seconds / 3600, seconds / 60 % 60, seconds % 60)
    }

    /// A figure of an event: a letter, and its place in the foreground, or from 4 on in the background.
    fn event(&self, name: &str) -> Option<String> {
        let place: usize = name[1..].parse().unwrap();
        let event = if place < 4 { self.foreground.get(place) } else { self.background.get(place - 4) };
        let (event, waits, seconds) = *event?;
        let us = seconds as f64 * 1e6 / waits as f64;
        Some(match &name[..1] {
            "n" => event.to_owned(),
            "w" => grouped(waits as f64, 0),
            "s" => grouped(seconds as f64, 0),
            // Waits and seconds in a narrow column.
            "c" => shortened(waits),
            "k" => shortened(seconds),
            // The mean in whole ms, and with a unit.
            "m" => format!("{:.0}", us / 1e3),
            "u" if us < 1e3 => format!("{us:.2}us"),
            "u" if us < 1e6 => format!("{:.2}ms", us / 1e3),
            "u" => format!("{:.2} s", us / 1e6),
            letter => panic!("no figure {letter} of an event"),
        })
    }
}
