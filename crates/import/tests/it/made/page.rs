//! A report of AWR as a page.

use super::{Dress, Made, grouped};

impl Made {
    pub(super) fn page(&self, dress: Dress) -> String {
        let (begin, end) = self.clock();
        let row = |cells: &[&str]| {
            let cells: String = cells
                .iter()
                .map(|cell| {
                    format!("<td align=\"right\" class='awrnc'>{}</td>", if cell.is_empty() { "&#160;" } else { cell })
                })
                .collect();
            format!("<tr>{cells}</tr>\n")
        };
        let head = |names: &[&str]| {
            let cells: String =
                names.iter().map(|name| format!("<th class=\"awrbg\" scope=\"col\">{name}</th>")).collect();
            format!("<table border=\"0\" class=\"tdiff\" summary=\"This table displays something\"><tr>{cells}</tr>\n")
        };
        let s = self.seconds();
        let old = dress == Dress::Html11;
        let heading = if dress == Dress::Html23 { "PDB report (PDB snapshots)" } else { "report for" };
        // Old pages may have text before their beginning.
        let mut t = if old { "<meta http-equiv=\"content-type\">".to_owned() } else { String::new() };
        t += &format!(
            "<html lang=\"en\"><head><title>AWR Report for DB: SLOB, Inst: slob, Snaps: 88-89</title>\
             <style type=\"text/css\">body.awr {{color:black;}}</style></head><body class=\"awr\">\n\
             <h1 class=\"awr\">\n    WORKLOAD REPOSITORY {heading}\n\n</h1>\n<p />\n"
        );
        if old {
            t += &head(&["DB Name", "DB Id", "Instance", "Inst num", "Startup Time", "Release", "RAC"]);
            t += &row(&["SLOB", "1234567890", "slob", "1", "19-May-16 18:03", "11.2.0.4.0", "NO"]);
        } else {
            let release = if dress == Dress::Html23 { "23.0.0.0.0" } else { "19.0.0.0.0" };
            t += &head(&["DB Name", "DB Id", "Unique Name", "Role", "Edition", "Release", "RAC", "CDB"]);
            t += &row(&["SLOB", "1234567890", "SLOB", "PRIMARY", "EE", release, "NO", "NO"]);
            t += "</table>\n";
            t += &head(&["Instance", "Inst Num", "Startup Time", "User Name", "System Data Visible"]);
            t += &row(&["slob", "1", "19-May-16 18:03", "SYS", "YES"]);
        }
        t += "</table>\n";
        t += &head(&["Host Name", "Platform", "CPUs", "Cores", "Sockets", "Memory (GB)"]);
        t += &(row(&["box", "Linux x86 64-bit", "32", "", "", "252.1"]) + "</table>\n");
        t += &head(&["&nbsp;", "Snap Id", "Snap Time", "Sessions", "Cursors/Session"]);
        t += &row(&["Begin Snap:", "88", &begin, "154", "1.0"]);
        t += &row(&["End Snap:", "89", &end, "155", "1.1"]);
        t += &row(&["Elapsed:", "", &format!("{} (mins)", grouped(self.minutes, 2)), "", ""]);
        t += &(row(&["DB Time:", "", &format!("{} (mins)", grouped(self.db_time * self.minutes, 2)), "", ""])
            + "</table>\n");
        // The heading of a part of the summary.
        let part = |title: &str| {
            if old { format!("<p />{title}<p />\n<ul>\n</ul>\n") } else { format!("<h3 class=\"awr\">{title}</h3>") }
        };
        t += "<p />\n<h3 class=\"awr\"><a class=\"awr\" name=\"99999\"></a>Report Summary</h3>\n";
        t += &format!(
            "{}{}",
            part("Load Profile"),
            head(&["", "Per Second", "Per Transaction", "Per Exec", "Per Call"])
        );
        for (name, value) in self.profile(dress) {
            t += &row(&[name, &value, "1.0", "", ""]);
        }
        let (event, waits, seconds) = self.foreground[0];
        let time = seconds.to_string();
        t += &format!(
            "</table>{}<table>{}{}</table>",
            part("Instance Efficiency Percentages (Target 100%)"),
            row(&["Buffer Nowait %:", "99.99", "Redo NoWait %:", "100.00"]),
            row(&["Buffer  Hit   %:", "40.25", "In-memory Sort %:", "100.00"]),
        );
        let avg = if old { "Wait Avg(ms)" } else { "Avg Wait" };
        t += &format!(
            "{}{}",
            part("Top 10 Foreground Events by Total Wait Time"),
            head(&["Event", "Waits", "Total Wait Time (sec)", avg, "% DB time", "Wait Class"])
        );
        t += &row(&[
            event,
            &grouped(waits as f64, 0),
            &time,
            &Self::mean(dress, waits, seconds),
            &self.top_percent.to_string(),
            "User I/O",
        ]);
        t += &(row(&["DB CPU", "", &format!("{:.0}", self.db_cpu * s), "", "4.5", ""]) + "</table>\n");
        for (title, lines) in
            [("Foreground Wait Events", &self.foreground), ("Background Wait Events", &self.background)]
        {
            let avg = if old { "Avg wait (ms)" } else { "Avg wait" };
            t += &format!(
                "<h3 class=\"awr\">{title}</h3><ul><li class=\"awr\"> s - second, ms - millisecond</li>\n<li>ordered by \
                 wait time</ul>{}",
                head(&["Event", "Waits", "%Time -outs", "Total Wait Time (s)", avg, "Waits /txn", "% DB time"])
            );
            for (event, waits, seconds) in lines {
                t += &row(&[
                    event,
                    &grouped(*waits as f64, 0),
                    "",
                    &grouped(*seconds as f64, 0),
                    &Self::mean(dress, *waits, *seconds),
                    "1.0",
                    "0.5",
                ]);
            }
            t += "</table>\n<hr align=\"left\"><a class=\"awr\" href=\"#top\">Back to Top</a><p />\n";
        }
        for (title, counted, buckets, shares) in Self::histograms(dress) {
            let names: Vec<_> =
                ["Event", counted].into_iter().chain(buckets).map(|name| name.replace('<', "&lt;")).collect();
            let names: Vec<_> = names.iter().map(String::as_str).collect();
            // Above the names of the first columns there are blank cells of data.
            let corner =
                "<tr><td>&#160;</td><td>&#160;</td><th class=\"awrbg\" colspan=\" 8\">% of Total Waits</th></tr>\n";
            t += &format!(
                "<h3 class=\"awr\">{title}</h3>{}",
                head(&names).replacen("<tr>", &format!("{corner}<tr>"), 1)
            );
            let total = Self::in_thousands(self.foreground[0].1);
            t += &(row(&[&[self.foreground[0].0, total.as_str()], &shares[..]].concat()) + "</table>\n");
        }
        t += &format!("<h3>Time Model Statistics</h3>{}", head(&["Statistic Name", "Time (s)", "% of DB Time"]));
        t += &(row(&["DB CPU", &grouped(self.db_cpu * s, 1), "4.5"])
            + &row(&["DB time", &grouped(self.db_time * s, 1), ""])
            + "</table>\n");
        t += &format!("<h3>Operating System Statistics</h3>{}", head(&["Statistic", "Value", "End Value"]));
        t += &(row(&["BUSY_TIME", "24,060", ""]) + &row(&["IDLE_TIME", "1,405,802", ""]) + "</table>\n");
        t += &format!(
            "<h3>Other Instance Activity Stats</h3>{}",
            head(&["Statistic", "Total", "per Second", "per Trans"])
        );
        for (name, per_s) in self.statistics() {
            t += &row(&[name, &grouped(per_s * s, 0), &grouped(per_s, 1), "1.0"]);
        }
        t += "</table>\nEnd of Report\n</body></html>\n";
        t
    }
}
