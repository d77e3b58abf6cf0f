//! Identifies files without a known measurement.

use mindful_core::Error;
use mindful_core::contract::error::one_line;

const ERRORS: [&str; 4] = ["ORA-", "SP2-", "PLS-", "TNS-"];
/// Files of the same tools without these figures, or in an unsupported form.
const OTHERS: [(&str, &str); 11] = [
    ("WORKLOAD REPOSITORY COMPARE", "an AWR report that compares two periods; import the reports of both"),
    ("WORKLOAD REPOSITORY SQL Report", "an AWR report of one statement; import the report of the instance"),
    ("STATSPACK SQL report", "a Statspack report of one statement; import the report of the instance"),
    ("ASH Report", "an ASH report, which is made of samples only; import the AWR report of that time"),
    ("ADDM Report", "an ADDM report, which contains advice; import the AWR report of that time"),
    ("ADDM Task", "an ADDM report, which contains advice; import the AWR report of that time"),
    ("TKPROF:", "a summary by tkprof; import the trace it was made of"),
    (": (groupid=", "fio's normal output; run fio with --output-format=json+ --output=FILE"),
    ("number of transactions actually processed:", "a result of pgbench, whose transactions are not reads of blocks"),
    ("Compare file sync methods using", "a result of pg_test_fsync, which measures neither reads nor a database"),
    ("General statistics:\n    total time:", "a result of sysbench, whose events are not reads of blocks"),
];

pub(crate) fn error(name: &str, head: &[u8]) -> Error {
    let (what, next) = content(head);
    Error::plan(format!("cannot import {name}: it {what}"), next)
}

fn content(head: &[u8]) -> (String, &'static str) {
    let formats = "import reads AWR and Statspack reports, 10046 traces, event histogram records, results of Orion, pgio \
                   and fio, rows of awr_info and of flashdba's parser, slob.conf and pgio.conf";
    if head.is_empty() {
        return ("is empty".to_owned(), "create the file again");
    }
    if head.iter().all(|byte| *byte == 0) {
        return ("contains zeros".to_owned(), formats);
    }
    if head.contains(&0) {
        return ("contains binary data".to_owned(), formats);
    }
    let text = String::from_utf8_lossy(head);
    if let Some((_, what)) = OTHERS.iter().find(|(mark, _)| text.contains(mark)) {
        return (format!("is {what}"), formats);
    }
    // The terse form of fio: the version of the format, since 3 fio's own version, and some fifty figures or more.
    let terse = |line: &str| {
        let mut cells = line.split(';');
        let is_version = matches!(cells.next(), Some("2" | "3" | "4" | "5"));
        is_version && (cells.next().is_some_and(|version| version.starts_with("fio-")) || cells.count() > 40)
    };
    if text.lines().any(terse) {
        return ("is fio's terse output".to_owned(), "run fio with --output-format=json+ --output=FILE");
    }
    let is_oracle_error = |line: &&str| {
        let line = line.trim_start();
        ERRORS
            .iter()
            .any(|error| line.strip_prefix(error).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())))
    };
    if let Some(line) = text.lines().find(is_oracle_error) {
        return (format!("contains an Oracle error, {}", short(line)), "correct the cause and create the report again");
    }
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    (format!("begins with `{}`", short(first)), formats)
}

fn short(line: &str) -> String {
    one_line(line.trim()).chars().take(80).collect()
}
