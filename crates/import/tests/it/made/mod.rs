//! Made-up reports in the form of each version: figures are random, the layout is that of the version.
#![expect(
    clippy::too_many_lines,
    clippy::format_push_string,
    clippy::format_collect,
    clippy::unused_self,
    reason = "a report is a long text, put together for once"
)]

mod page;
mod statspack;

use std::fmt::Write as _;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dress {
    /// AWR of 10.2, text.
    Awr10,
    /// AWR of 11.2, text.
    Awr11,
    /// AWR of 11.2.0.4, text: seconds with suffixes, narrow columns.
    Awr11Narrow,
    /// AWR of 12.1, text: blanks for zeros.
    Awr12,
    /// AWR of 12.2 to 23ai, text: waits with units.
    Awr19,
    /// AWR of 11.2 and 12.1, a page: the parts of its summary have a bare line as their heading.
    Html11,
    /// AWR of 19c, a page.
    Html,
    /// AWR of a pluggable database of 23ai, a page: made after 19c, because no real one was available.
    Html23,
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
    /// Waits and whole seconds of sessions, by event.
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
pub(crate) fn grouped(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let (whole, rest) = text.split_once('.').map_or((text.as_str(), None), |(whole, rest)| (whole, Some(rest)));
    let mut out = String::new();
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    rest.map_or(out.clone(), |rest| format!("{out}.{rest}"))
}

impl Made {
    pub(crate) fn seconds(&self) -> f64 {
        self.minutes * 60.0
    }

    fn statistics(&self) -> Vec<(&'static str, f64)> {
        vec![
            ("physical read IO requests", self.read_requests),
            ("physical read total IO requests", self.read_requests),
            ("physical read total bytes", self.read_bytes),
            ("physical reads", self.blocks_read),
            ("physical write IO requests", self.write_requests),
            ("physical write total IO requests", self.write_requests + self.redo_writes),
            ("physical write total bytes", self.write_bytes),
            ("redo size", self.redo),
            ("redo writes", self.redo_writes),
            ("session logical reads", self.logical),
            ("user commits", 12.5),
        ]
    }

    pub(crate) fn report(&self, dress: Dress) -> String {
        match dress {
            Dress::Html11 | Dress::Html | Dress::Html23 => self.page(dress),
            Dress::Statspack => self.statspack(),
            _ => self.awr(dress),
        }
    }

    fn clock(&self) -> (String, String) {
        let at =
            |seconds: u64| format!("23-May-16 {:02}:{:02}:{:02}", 10 + seconds / 3600, seconds / 60 % 60, seconds % 60);
        (at(0), at(self.seconds() as u64))
    }

    fn profile(&self, dress: Dress) -> Vec<(&'static str, String)> {
        let long = ![Dress::Awr10, Dress::Awr11, Dress::Statspack].contains(&dress);
        let tenths = |value: f64| grouped(value, 1);
        let mut lines = Vec::new();
        match dress {
            Dress::Awr10 => {}
            Dress::Statspack => {
                lines.extend([("DB time(s):", tenths(self.db_time)), ("DB CPU(s):", tenths(self.db_cpu))]);
            }
            _ => lines.extend([("DB Time(s):", tenths(self.db_time)), ("DB CPU(s):", tenths(self.db_cpu))]),
        }
        lines.push((if long { "Redo size (bytes):" } else { "Redo size:" }, tenths(self.redo)));
        lines.push((if long { "Logical read (blocks):" } else { "Logical reads:" }, tenths(self.logical)));
        lines.push((if long { "Physical read (blocks):" } else { "Physical reads:" }, tenths(self.blocks_read)));
        if long {
            lines.push(("Read IO requests:", tenths(self.read_requests)));
        }
        lines.push((if long { "Executes (SQL):" } else { "Executes:" }, tenths(self.executes)));
        lines
    }

    fn awr(&self, dress: Dress) -> String {
        let (begin, end) = self.clock();
        let release = match dress {
            Dress::Awr10 => "10.2.0.5.0",
            Dress::Awr11 => "11.2.0.3.0",
            Dress::Awr11Narrow => "11.2.0.4.0",
            Dress::Awr12 => "12.1.0.2.0",
            _ => "19.0.0.0.0",
        };
        let mut t = format!(
            "\nWORKLOAD REPOSITORY report for\n\n\
             DB Name         DB Id    Instance     Inst Num Startup Time    Release     RAC\n\
             ------------ ----------- ------------ -------- --------------- ----------- ---\n\
             SLOB          1234567890 slob                1 19-May-16 18:03 {release} NO\n\n\
             Host Name        Platform                         CPUs Cores Sockets Memory(GB)\n\
             ---------------- -------------------------------- ---- ----- ------- ----------\n\
             box              Linux x86 64-bit                   32                    252.1\n\n\
             {:14}Snap Id      Snap Time      Sessions Curs/Sess\n{:12}--------- ------------------- -------- ---------\n\
             Begin Snap:        88 {begin}       154       1.0\n  End Snap:        89 {end}       155       1.1\n\
             {:>11}{:>20} (mins)\n{:>11}{:>20} (mins)\n\n",
            "",
            "",
            "Elapsed:",
            grouped(self.minutes, 2),
            "DB Time:",
            grouped(self.db_time * self.minutes, 2)
        );
        self.cache_and_profile(&mut t, dress);
        self.lists(&mut t, dress);
        self.rest(&mut t, 54);
        t.push_str("\nEnd of Report\n");
        t
    }

    fn cache_and_profile(&self, t: &mut String, dress: Dress) {
        let _ = write!(
            t,
            "Cache Sizes                       Begin        End\n~~~~~~~~~~~                  ---------- ----------\n\
             {:>27}       20G        20G  Std Block Size:         8K\n\n",
            "Buffer Cache:"
        );
        if dress == Dress::Awr10 {
            let _ = write!(
                t,
                "Load Profile\n~~~~~~~~~~~~{:28}Per Second       Per Transaction\n{:35}---------------       ---------------\n",
                "", ""
            );
            for (name, value) in self.profile(dress) {
                let _ = writeln!(t, "{name:>28}{value:>22}{:>22}", "1.0");
            }
        } else {
            let _ = write!(
                t,
                "Load Profile                    Per Second   Per Transaction  Per Exec  Per Call\n\
                 ~~~~~~~~~~~~~~~            ---------------   --------------- --------- ---------\n"
            );
            for (name, value) in self.profile(dress) {
                let _ = writeln!(t, "{name:>24}{value:>18}{:>18}", "1.0");
            }
        }
        let _ = write!(
            t,
            "\nInstance Efficiency Percentages (Target 100%)\n~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n\
             {:>26}  100.00       Redo NoWait %:  100.00\n{:>26}   40.25    In-memory Sort %:  100.00\n\n",
            "Buffer Nowait %:", "Buffer  Hit   %:"
        );
    }

    /// Sections of shares by duration of waits: title, name of the counts, buckets, shares of reads of one block. The
    /// same waits in the buckets of either age: 70 percent below 1 ms, .1 above 1 s.
    fn histograms(dress: Dress) -> Vec<(&'static str, &'static str, [&'static str; 8], [&'static str; 8])> {
        match dress {
            Dress::Awr10 => Vec::new(),
            Dress::Awr19 | Dress::Html | Dress::Html23 => vec![
                (
                    "Wait Event Histogram",
                    "Waits",
                    ["<8us", "<16us", "<32us", "<64us", "<128u", "<256u", "<512u", ">=512"],
                    ["", "", "", "", "", "", "40.0", "60.0"],
                ),
                (
                    "Wait Event Histogram (up to 32 ms)",
                    "Waits to 32m",
                    ["<512", "<1ms", "<2ms", "<4ms", "<8ms", "<16ms", "<32ms", ">=32m"],
                    ["40.0", "30.0", "20.0", "9.0", "", ".9", "", ".1"],
                ),
            ],
            _ => vec![(
                "Wait Event Histogram",
                "Total Waits",
                ["<1ms", "<2ms", "<4ms", "<8ms", "<16ms", "<32ms", "<=1s", ">1s"],
                ["70.0", "20.0", "9.0", "", ".9", "", "", ".1"],
            )],
        }
    }

    fn in_thousands(waits: u64) -> String {
        match waits {
            0..10_000 => waits.to_string(),
            10_000..1_000_000 => format!("{:.1}K", waits as f64 / 1e3),
            _ => format!("{:.1}M", waits as f64 / 1e6),
        }
    }

    fn histograms_as_text(&self, t: &mut String, dress: Dress) {
        let (event, waits, _) = self.foreground[0];
        for (title, counted, buckets, shares) in Self::histograms(dress) {
            let line = |first: &str, second: &str, cells: &[&str; 8]| {
                let cells: String = cells.iter().map(|cell| format!(" {cell:>5}")).collect();
                format!("{first:<26} {second:>6}{cells}").trim_end().to_owned() + "\n"
            };
            let (above, below) = counted.rsplit_once(' ').unwrap_or(("", counted));
            let of = if dress == Dress::Statspack { "----------------- % of Waits -----------------" } else { "" };
            let _ = write!(
                t,
                "{title:<46}DB/Inst: SLOB/slob  Snaps: 88-89\n-> Units for Total Waits column: K is 1000\n\n"
            );
            if dress != Dress::Statspack {
                let _ = write!(t, "{:>62}\n{:33}{}\n", "% of Waits", "", "-".repeat(47));
            }
            let _ = writeln!(t, "{:26} {above:>6} {of}", "");
            t.push_str(&line("Event", below, &buckets));
            t.push_str(&line(&"-".repeat(26), "------", &["-----"; 8]));
            t.push_str(&line(event, &Self::in_thousands(waits), &shares));
            t.push_str(&line("rdbms ipc message", "4410", &["", "", "", "", "", "", "", "100.0"]));
            let _ = write!(t, "          {}\n\n", "-".repeat(61));
        }
    }

    /// The list at the head, then those of the foreground and the background.
    fn lists(&self, t: &mut String, dress: Dress) {
        let first = self.foreground.first();
        let (title, cut) = match dress {
            Dress::Awr10 => ("Top 5 Timed Events", 28),
            Dress::Awr11 => ("Top 5 Timed Foreground Events", 28),
            _ => ("Top 10 Foreground Events by Total Wait Time", 26),
        };
        let waves = "~".repeat(title.len());
        let rule = "------------------------------ ------------ ---------- ---------- ------ ----------";
        let (time, avg) = if dress == Dress::Awr19 { ("Time (sec)", "Wait") } else { ("Time(s)", "Avg(ms)") };
        let _ = write!(
            t,
            "{title}\n{waves}\n{:<30} {:>12} {:>10} {:>10} {:>6}\n{:<30} {:>12} {time:>10} {avg:>10} {:>6} Wait Class\n{rule}\n",
            "", "", "Total Wait", "Wait", "% DB", "Event", "Waits", "time"
        );
        if let Some((event, waits, seconds)) = first {
            let shown = if dress == Dress::Awr11Narrow && *seconds >= 10_000 {
                format!("{:.1}K", *seconds as f64 / 1e3)
            } else {
                seconds.to_string()
            };
            let mean = Self::mean(dress, *waits, *seconds);
            let _ = writeln!(
                t,
                "{event:<30} {:>12} {shown:>10} {mean:>10} {:>6} User I/O",
                grouped(*waits as f64, 0),
                self.top_percent
            );
        }
        let cpu = if dress == Dress::Awr10 { "CPU time" } else { "DB CPU" };
        let _ = writeln!(
            t,
            "{cpu:<30} {:>12} {:>10} {:>10} {:>6}\n",
            "",
            format!("{:.0}", self.db_cpu * self.seconds()),
            "",
            4.5
        );
        let section = if dress == Dress::Awr10 { "Wait Events" } else { "Foreground Wait Events" };
        if dress == Dress::Awr10 {
            let both: Vec<_> = self.foreground.iter().chain(&self.background).copied().collect();
            self.section(t, dress, section, &both, cut);
        } else {
            self.section(t, dress, section, &self.foreground, cut);
        }
        self.section(t, dress, "Background Wait Events", &self.background, cut);
        self.histograms_as_text(t, dress);
    }

    fn mean(dress: Dress, waits: u64, seconds: u64) -> String {
        let us = seconds as f64 * 1e6 / waits as f64;
        match dress {
            Dress::Awr19 | Dress::Html | Dress::Html23 if us < 1e3 => format!("{us:.2}us"),
            Dress::Awr19 | Dress::Html | Dress::Html23 if us < 1e6 => format!("{:.2}ms", us / 1e3),
            Dress::Awr19 | Dress::Html | Dress::Html23 => format!("{:.2} s", us / 1e6),
            _ => format!("{:.0}", us / 1e3),
        }
    }

    fn section(&self, t: &mut String, dress: Dress, title: &str, lines: &[(&str, u64, u64)], cut: usize) {
        let row =
            |[a, b, c, d, e, f, g]: [&str; 7]| format!("{a:<cut$} {b:>11} {c:>5} {d:>10} {e:>10} {f:>8} {g:>6}\n");
        let head = format!(
            "{title:<46}DB/Inst: SLOB/slob  Snaps: 88-89\n-> s  - second\n-> %Timeouts: value of 0 indicates value was < .5%.  Value of null is truly 0\n\n\
             {}{}{}{} ----------- ----- ---------- ---------- -------- ------\n",
            row(["", "", "", "Total", "", "", ""]),
            row(["", "", "%Time", "Wait", "Avg", "Waits", "% DB"]),
            row(["Event", "Waits", "-outs", "Time (s)", "wait (ms)", "/txn", "time"]),
            "-".repeat(cut)
        );
        t.push_str(&head);
        for (place, (event, waits, seconds)) in lines.iter().enumerate() {
            // Sometimes a page ends within the table.
            if place == 2 {
                let _ = write!(t, "\u{c}\n{head}");
            }
            let name: String = event.chars().take(cut).collect();
            let outs = if dress == Dress::Awr12 { "" } else { "0" };
            let mean = Self::mean(dress, *waits, *seconds);
            let (waits, seconds) = (grouped(*waits as f64, 0), grouped(*seconds as f64, 0));
            t.push_str(&row([&name, &waits, outs, &seconds, &mean, "1.0", ".5"]));
        }
        let _ = write!(t, "{:>26}{}\n\n", "", "-".repeat(54));
    }

    /// Time model, statistics of the host and of the instance.
    fn rest(&self, t: &mut String, footer: usize) {
        let end = format!("{:>26}{}\n\n", "", "-".repeat(footer));
        let s = self.seconds();
        let _ = write!(
            t,
            "Time Model Statistics                         DB/Inst: SLOB/slob  Snaps: 88-89\n\n\
             Statistic Name                                       Time (s) % of DB Time\n------------------------------------------ ------------------ ------------\n\
             DB CPU                                     {:>18} {:>12}\nDB time                                    {:>18}\n{end}",
            grouped(self.db_cpu * s, 1),
            "4.5",
            grouped(self.db_time * s, 1)
        );
        let _ = write!(
            t,
            "Operating System Statistics                   DB/Inst: SLOB/slob  Snaps: 88-89\n\n\
             Statistic                                  Value        End Value\n------------------------- ---------------------- ----------------\n\
             BUSY_TIME                                 24,060\nIDLE_TIME                              1,405,802\nNUM_CPUS                                      32\n{end}"
        );
        let _ = write!(
            t,
            "Instance Activity Stats                       DB/Inst: SLOB/slob  Snaps: 88-89\n-> Ordered by statistic name\n\n\
             Statistic                                     Total     per Second     per Trans\n-------------------------------- ------------------ -------------- -------------\n"
        );
        for (name, per_s) in self.statistics() {
            let total = per_s * s;
            let total = if total >= 1e16 { format!("{total:.4E}") } else { grouped(total, 0) };
            let _ = writeln!(t, "{name:<32} {total:>18} {:>14} {:>13}", grouped(per_s, 1), "############");
        }
        t.push_str(&end);
    }
}
