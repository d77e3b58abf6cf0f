//! A made-up page of a cluster's report, with tables, names and blank corners as in pages from 11.2 to 19c.
#![expect(clippy::too_many_lines, clippy::format_collect, reason = "a page is a long text, put together for once")]

/// A table of a page: its heading, rows of names that may span columns, and rows of cells.
fn table(title: &str, names: &[&[(&str, usize)]], rows: &[&[&str]]) -> String {
    // Above columns without a common name there is a blank cell of data.
    let name = |(name, span): &(&str, usize)| match *name {
        "" => "<td>&#160;</td>".repeat(*span),
        name => format!("<th class=\"awrbg\" colspan=\" {span}\">{name}</th>"),
    };
    let cell = |cell: &&str| {
        format!("<td align=\"right\" class='awrnc'>{}</td>", if cell.is_empty() { "&#160;" } else { cell })
    };
    let names: String =
        names.iter().map(|row| format!("<tr>{}</tr>\n", row.iter().map(name).collect::<String>())).collect();
    let rows: String =
        rows.iter().map(|row| format!("<tr>{}</tr>\n", row.iter().map(cell).collect::<String>())).collect();
    format!(
        "<h3 class=\"awr\"><a class=\"awr\" name=\"1\"></a>{title}</h3>\n<table class=\"tdiff\">{names}{rows}</table><p />\n"
    )
}

pub(crate) fn made() -> String {
    let one = |names: &[&'static str]| names.iter().map(|name| (*name, 1)).collect::<Vec<_>>();
    let summary = [("Database", 5), ("Snapshot Ids", 2), ("Number of Instances", 2), ("Report Total (minutes)", 2)];
    let parts =
        ["Id", "Name", "RAC", "CDB", "Block Size", "Begin", "End", "In Report", "Total", "DB time", "Elapsed time"];
    let instances = [
        "I#",
        "Instance",
        "Host",
        "Startup",
        "Begin Snap Time",
        "End Snap Time",
        "Release",
        "Elapsed Time(min)",
        "DB time(min)",
        "Up Time(hrs)",
        "Avg Active Sessions",
        "Platform",
    ];
    let snaps = ["01-Jan-20 10:00", "23-May-20 10:00", "23-May-20 10:10", "19.0.0.0.0"];
    let instance = |n: &'static str, db: &'static str, host: &'static str, time: &'static str| {
        let [up, begin, end, release] = snaps;
        vec![n, db, host, up, begin, end, release, "10.00", time, "99.0", "5.00", "Linux x86 64-bit"]
    };
    let over = [("", 1), ("Wait", 2), ("Event", 2), ("Wait Time", 2), ("", 1), ("Summary Avg Wait Time", 5)];
    let event = [
        "I#",
        "Class",
        "Event",
        "Waits",
        "%Timeouts",
        "Total(s)",
        "Avg Wait",
        "%DB time",
        "Avg",
        "Min",
        "Max",
        "Std Dev",
        "Cnt",
    ];
    let waits = |lines: &[[&'static str; 6]]| {
        let line = |[n, class, event, waits, time, share]: &[&'static str; 6]| {
            vec![
                *n, *class, *event, *waits, "0.00", *time, "500.00us", *share, "500.00us", "490.00us", "510.00us",
                "1.00us", "2",
            ]
        };
        lines.iter().map(line).collect::<Vec<_>>()
    };
    let lists = [
        (
            "Top Timed Events",
            waits(&[
                ["*", "User I/O", "db file sequential read", "2,000,100", "1,000.05", "13.89"],
                ["", "", "DB CPU", "", "600.00", "8.33"],
                ["1", "User I/O", "db file sequential read", "900,000", "450.00", "6.25"],
            ]),
        ),
        (
            "Top Timed Foreground Events",
            waits(&[
                ["*", "User I/O", "db file sequential read", "2,000,000", "1,000.00", "13.89"],
                ["", "", "DB CPU", "", "600.00", "8.33"],
                ["1", "User I/O", "db file sequential read", "900,000", "450.00", "6.25"],
            ]),
        ),
        (
            "Top Timed Background Events",
            waits(&[
                ["*", "System I/O", "log file parallel write", "10,000", "5.00", "12.50"],
                ["2", "System I/O", "log file parallel write", "4,000", "3.00", "7.50"],
            ]),
        ),
    ];
    let load = [
        "I#",
        "Logical Reads/s",
        "Physical Reads/s",
        "Physical Writes/s",
        "Redo Size (k)/s",
        "Block Changes/s",
        "User Calls/s",
        "Execs/s",
        "Parses/s",
        "Logons/s",
        "Txns/s",
    ];
    let statistic = ["Statistic", "Total", "per Second", "per Trans", "Average", "Std Dev", "Min", "Max"];
    let refs = |rows: &[Vec<&'static str>]| rows.to_vec();
    let build = |title: &str, names: &[&[(&str, usize)]], rows: &[Vec<&'static str>]| {
        let rows = refs(rows);
        table(title, names, &rows.iter().map(Vec::as_slice).collect::<Vec<_>>())
    };
    let mut t = "<html><body class=\"awr\"><h1 class=\"awr\">\nWORKLOAD REPOSITORY REPORT (RAC)\n</h1>\n".to_owned();
    t += &build(
        "Database Summary",
        &[&summary, &one(&parts)],
        &[vec!["1234567890", "SLOB", "YES", "NO", "8192", "1", "2", "2", "2", "120.00", "10.00"]],
    );
    t += &build(
        "Database Instances Included In Report",
        &[&one(&instances)],
        &[instance("1", "slob1", "node1", "50.00"), instance("2", "slob2", "node2", "70.00")],
    );
    t += &build(
        "OS Statistics By Instance",
        &[
            &[("", 1), ("CPU", 3), ("Load", 2), ("% CPU", 2), ("Time (s)", 3)],
            &one(&["I#", "#CPUs", "#Core", "#Sckt", "Begin", "End", "% Busy", "% Idl", "Busy", "Idle", "Total"]),
        ],
        &[
            vec!["1", "16", "8", "1", "1.0", "2.0", "50.0", "50.0", "4,800.0", "4,800.0", "9,600.0"],
            vec!["2", "16", "8", "1", "1.0", "2.0", "25.0", "75.0", "2,400.0", "7,200.0", "9,600.0"],
            vec!["Sum", "", "", "", "", "", "", "", "7,200.0", "12,000.0", "19,200.0"],
        ],
    );
    t += &build(
        "Time Model",
        &[&one(&["I#", "DB time (s)", "DB CPU (s)", "SQL Exec Ela (s)", "bg time (s)", "bg CPU (s)"])],
        &[
            vec!["1", "3,000.00", "300.00", "2,900.00", "20.00", "10.00"],
            vec!["2", "4,200.00", "300.00", "4,100.00", "20.00", "10.00"],
            vec!["Sum", "7,200.00", "600.00", "7,000.00", "40.00", "20.00"],
        ],
    );
    for (title, rows) in &lists {
        t += &build(title, &[&over, &one(&event)], rows);
    }
    t += &build(
        "System Statistics - Per Second",
        &[&one(&load)],
        &[
            vec!["1", "10,000.00", "4,000.0", "100.0", "200.0", "9.0", "9.0", "50.0", "1.0", "0.1", "2.0"],
            vec!["2", "20,000.00", "6,000.0", "100.0", "300.0", "9.0", "9.0", "60.0", "1.0", "0.1", "2.0"],
            vec!["Sum", "30,000.00", "10,000.0", "200.0", "500.0", "18.0", "18.0", "110.0", "2.0", "0.2", "4.0"],
            vec!["Avg", "15,000.00", "5,000.0", "100.0", "250.0", "9.0", "9.0", "55.0", "1.0", "0.1", "2.0"],
        ],
    );
    t += &build(
        "System Statistics (Global)",
        &[&[("", 4), ("per Second", 4)], &one(&statistic)],
        &[
            vec!["physical read IO requests", "5,400,000", "9,000.00", "9.0", "4,500.00", "1.0", "4,000.0", "5,000.0"],
            vec![
                "physical read total IO requests",
                "5,460,000",
                "9,100.00",
                "9.0",
                "4,550.00",
                "1.0",
                "4,000.0",
                "5,000.0",
            ],
            vec!["physical write total IO requests", "180,000", "300.00", "9.0", "150.00", "1.0", "4,000.0", "5,000.0"],
            vec!["redo writes", "60,000", "100.00", "9.0", "50.00", "1.0", "4,000.0", "5,000.0"],
        ],
    );
    t + "End of Report\n</body></html>\n"
}
