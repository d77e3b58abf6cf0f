//! A made-up page of a cluster's report, with tables, names and blank corners as in pages from 11.2 to 19c.
#![expect(clippy::too_many_lines, reason = "a page is a long text, put together for once")]

/// A table of a page: its heading, rows of names, and rows of cells, both between bars. `Wait*2` is a name over two columns.
fn table<R: AsRef<str>>(title: &str, names: &[&str], rows: &[R]) -> String {
    let row = |text: &str, cell: &dyn Fn(&str) -> String| {
        format!("<tr>{}</tr>\n", text.split('|').map(cell).collect::<String>())
    };
    // Above columns without a common name there is a blank cell of data.
    let name = |name: &str| match name.split_once('*').unwrap_or((name, "1")) {
        ("", _) => "<td>&#160;</td>".to_owned(),
        (name, span) => format!("<th class=\"awrbg\" colspan=\" {span}\">{name}</th>"),
    };
    let cell = |cell: &str| {
        format!("<td align=\"right\" class='awrnc'>{}</td>", if cell.is_empty() { "&#160;" } else { cell })
    };
    let names: String = names.iter().map(|names| row(names, &name)).collect();
    let rows: String = rows.iter().map(|cells| row(cells.as_ref(), &cell)).collect();
    format!(
        "<h3 class=\"awr\"><a class=\"awr\" name=\"1\"></a>{title}</h3>\n<table class=\"tdiff\">{names}{rows}</table><p />\n"
    )
}

/// A list of waits, of lines with event, waits, time and share.
fn waits(title: &str, lines: &[(&str, &str, &str)]) -> String {
    let line = |(event, time, share): &(&str, &str, &str)| {
        format!("{event}|0.00|{time}|500.00us|{share}|500.00us|490.00us|510.00us|1.00us|2")
    };
    let names = [
        "|Wait*2|Event*2|Wait Time*2||Summary Avg Wait Time*5",
        "I#|Class|Event|Waits|%Timeouts|Total(s)|Avg Wait|%DB time|Avg|Min|Max|Std Dev|Cnt",
    ];
    table(title, &names, &lines.iter().map(line).collect::<Vec<_>>())
}

pub(crate) fn made() -> String {
    let tables = [
        table(
            "Database Summary",
            &[
                "Database*5|Snapshot Ids*2|Number of Instances*2|Report Total (minutes)*2",
                "Id|Name|RAC|CDB|Block Size|Begin|End|In Report|Total|DB time|Elapsed time",
            ],
            &["1234567890|SLOB|YES|NO|8192|1|2|2|2|120.00|10.00"],
        ),
        table(
            "Database Instances Included In Report",
            &[
                "I#|Instance|Host|Startup|Begin Snap Time|End Snap Time|Release|Elapsed Time(min)|DB time(min)|Up Time(hrs)|\
               Avg Active Sessions|Platform",
            ],
            &[("1|slob1|node1", "50.00"), ("2|slob2|node2", "70.00")].map(|(instance, minutes)| {
                let snaps = "01-Jan-20 10:00|23-May-20 10:00|23-May-20 10:10|19.0.0.0.0";
                format!("{instance}|{snaps}|10.00|{minutes}|99.0|5.00|Linux x86 64-bit")
            }),
        ),
        table(
            "OS Statistics By Instance",
            &["|CPU*3|Load*2|% CPU*2|Time (s)*3", "I#|#CPUs|#Core|#Sckt|Begin|End|% Busy|% Idl|Busy|Idle|Total"],
            &[
                "1|16|8|1|1.0|2.0|50.0|50.0|4,800.0|4,800.0|9,600.0",
                "2|16|8|1|1.0|2.0|25.0|75.0|2,400.0|7,200.0|9,600.0",
                "Sum||||||||7,200.0|12,000.0|19,200.0",
            ],
        ),
        table(
            "Time Model",
            &["I#|DB time (s)|DB CPU (s)|SQL Exec Ela (s)|bg time (s)|bg CPU (s)"],
            &[
                "1|3,000.00|300.00|2,900.00|20.00|10.00",
                "2|4,200.00|300.00|4,100.00|20.00|10.00",
                "Sum|7,200.00|600.00|7,000.00|40.00|20.00",
            ],
        ),
        waits(
            "Top Timed Events",
            &[
                ("*|User I/O|db file sequential read|2,000,100", "1,000.05", "13.89"),
                ("||DB CPU|", "600.00", "8.33"),
                ("1|User I/O|db file sequential read|900,000", "450.00", "6.25"),
            ],
        ),
        waits(
            "Top Timed Foreground Events",
            &[
                ("*|User I/O|db file sequential read|2,000,000", "1,000.00", "13.89"),
                ("||DB CPU|", "600.00", "8.33"),
                ("1|User I/O|db file sequential read|900,000", "450.00", "6.25"),
            ],
        ),
        waits(
            "Top Timed Background Events",
            &[
                ("*|System I/O|log file parallel write|10,000", "5.00", "12.50"),
                ("2|System I/O|log file parallel write|4,000", "3.00", "7.50"),
            ],
        ),
        table(
            "System Statistics - Per Second",
            &["I#|Logical Reads/s|Physical Reads/s|Physical Writes/s|Redo Size (k)/s|Block Changes/s|User Calls/s|\
               Execs/s|Parses/s|Logons/s|Txns/s"],
            &[
                "1|10,000.00|4,000.0|100.0|200.0|9.0|9.0|50.0|1.0|0.1|2.0",
                "2|20,000.00|6,000.0|100.0|300.0|9.0|9.0|60.0|1.0|0.1|2.0",
                "Sum|30,000.00|10,000.0|200.0|500.0|18.0|18.0|110.0|2.0|0.2|4.0",
                "Avg|15,000.00|5,000.0|100.0|250.0|9.0|9.0|55.0|1.0|0.1|2.0",
            ],
        ),
        table(
            "System Statistics (Global)",
            &["||||per Second*4", "Statistic|Total|per Second|per Trans|Average|Std Dev|Min|Max"],
            &[
                "physical read IO requests|5,400,000|9,000.00|9.0|4,500.00|1.0|4,000.0|5,000.0",
                "physical read total IO requests|5,460,000|9,100.00|9.0|4,550.00|1.0|4,000.0|5,000.0",
                "physical write total IO requests|180,000|300.00|9.0|150.00|1.0|4,000.0|5,000.0",
                "redo writes|60,000|100.00|9.0|50.00|1.0|4,000.0|5,000.0",
            ],
        ),
    ];
    let head = "<html><body class=\"awr\"><h1 class=\"awr\">\nWORKLOAD REPOSITORY REPORT (RAC)\n</h1>\n";
    head.to_owned() + &tables.concat() + "End of Report\n</body></html>\n"
}
