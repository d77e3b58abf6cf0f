//! A report of Statspack.

use std::fmt::Write as _;

use super::{Dress, Made, grouped};

impl Made {
    pub(super) fn statspack(&self) -> String {
        let (begin, end) = self.clock();
        let mut t = format!(
            "\nSTATSPACK report for\n\nDatabase    DB Id    Instance     Inst Num  Startup Time   Release     RAC\n\
             ~~~~~~~~ ----------- ------------ -------- --------------- ----------- ---\n\
             {:9} 1234567890 slob                1 19-May-16 18:03 12.1.0.2.0  NO\n\n\
             Host Name             Platform                CPUs Cores Sockets   Memory (G)\n\
             ~~~~ ---------------- ---------------------- ----- ----- ------- ------------\n\
             {:4} box              Linux x86 64-bit          32     0       0        252.1\n\n\
             Snapshot       Snap Id     Snap Time      Sessions Curs/Sess Comment\n\
             ~~~~~~~~    ---------- ------------------ -------- --------- ------------------\n\
             Begin Snap:         21 {begin}       37       1.1\n  End Snap:         22 {end}       37       1.1\n\
             {:>11} {:>10} (mins) Av Act Sess:     {:>5}\n{:>11} {:>10} (mins)      DB CPU:       0.15 (mins)\n\n",
            "",
            "",
            "Elapsed:",
            format!("{:.2}", self.minutes),
            grouped(self.db_time, 1),
            "DB time:",
            grouped(self.db_time * self.minutes, 2)
        );
        let _ = write!(
            t,
            "Cache Sizes            Begin        End\n~~~~~~~~~~~       ---------- ----------\n    Buffer Cache:       20G              Std Block Size:         8K\n\n\
             Load Profile              Per Second    Per Transaction    Per Exec    Per Call\n~~~~~~~~~~~~      ------------------  ----------------- ----------- -----------\n"
        );
        for (name, value) in self.profile(Dress::Statspack) {
            let _ = writeln!(t, "{name:>17} {value:>18} {:>18}", "1.0");
        }
        let _ = write!(
            t,
            "\nInstance Efficiency Indicators\n~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n            Buffer Nowait %:  100.00       Redo \
             NoWait %:  100.00\n            Buffer  Hit   %:   40.25  Optimal W/A Exec %:  100.00\n"
        );
        let (event, waits, seconds) = self.foreground[0];
        let _ = write!(
            t,
            "\nTop 5 Timed Events                                                    Avg %Total\n~~~~~~~~~~~~~~~~~~                                                   wait   Call\n\
             Event                                            Waits    Time (s)   (ms)   Time\n----------------------------------------- ------------ ----------- ------ ------\n\
             {event:<41} {:>12} {:>11} {:>6} {:>6}\n          {}\n",
            grouped(waits as f64, 0),
            grouped(seconds as f64, 0),
            Self::mean(Dress::Statspack, waits, seconds),
            self.top_percent,
            "-".repeat(61)
        );
        let row = |[a, b, c, d, e, f, g]: [&str; 7]| format!("{a:<28} {b:>12} {c:>4} {d:>10} {e:>6} {f:>8} {g:>6}\n");
        for (title, lines) in
            [("Foreground Wait Events", &self.foreground), ("Background Wait Events", &self.background)]
        {
            let _ = write!(
                t,
                "{title}  DB/Inst: SLOB/slob  Snaps: 21-22\n-> Only events with Total Wait Time (s) >= .001 are shown\n\n{}{}{}\
                 ---------------------------- ------------ ---- ---------- ------ -------- ------\n",
                row(["", "", "", "", "Avg", "", "%Total"]),
                row(["", "", "%Tim", "Total Wait", "wait", "Waits", "Call"]),
                row(["Event", "Waits", "out", "Time (s)", "(ms)", "/txn", "Time"])
            );
            for (event, waits, seconds) in lines {
                let mean = Self::mean(Dress::Statspack, *waits, *seconds);
                let (waits, seconds) = (grouped(*waits as f64, 0), grouped(*seconds as f64, 0));
                t.push_str(&row([event, &waits, "0", &seconds, &mean, "1.0", ".5"]));
            }
            let _ = write!(t, "          {}\n\n", "-".repeat(61));
        }
        self.histograms_as_text(&mut t, Dress::Statspack);
        self.rest(&mut t, 61);
        t.push_str("\nEnd of Report\n");
        t
    }
}
