//! What a file is that holds no measurement known here.

use mindful_core::Error;
use mindful_core::contract::error::one_line;

/// The beginnings of lines that tell an Oracle error.
const ERRORS: [&str; 4] = ["ORA-", "SP2-", "PLS-", "TNS-"];
/// Reports of Oracle's that tell no figures of this kind.
const OTHERS: [(&str, &str); 5] = [
    ("WORKLOAD REPOSITORY COMPARE", "an AWR report that compares two periods; import the reports of both"),
    ("ASH Report", "an ASH report, which is made of samples alone; import the AWR report of that time"),
    ("ADDM Report", "an ADDM report, which holds advice; import the AWR report of that time"),
    ("ADDM Task", "an ADDM report, which holds advice; import the AWR report of that time"),
    ("TKPROF:", "a summary by tkprof; import the trace it was made of"),
];

/// The error of a file of which `head` is the beginning.
pub fn error(name: &str, head: &[u8]) -> Error {
    let (what, next) = reported(head);
    Error::plan(format!("{name} is none of the files that can be imported: it {what}"), next)
}

fn reported(head: &[u8]) -> (String, &'static str) {
    let known = "import reads AWR and Statspack reports, 10046 traces, event histogram records, results of Orion, pgio \
                 and fio, rows of awr_info and of flashdba's parser, slob.conf and pgio.conf";
    if head.is_empty() {
        return ("is empty".to_owned(), "make the report anew");
    }
    if head.iter().all(|byte| *byte == 0) {
        return ("holds zeros".to_owned(), known);
    }
    if head.contains(&0) {
        return ("holds binary data".to_owned(), known);
    }
    let text = String::from_utf8_lossy(head);
    if let Some((_, what)) = OTHERS.iter().find(|(mark, _)| text.contains(mark)) {
        return (format!("is {what}"), known);
    }
    let of_oracle = |line: &&str| {
        let line = line.trim_start();
        ERRORS
            .iter()
            .any(|error| line.strip_prefix(error).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())))
    };
    if let Some(line) = text.lines().find(of_oracle) {
        return (format!("holds an Oracle error, {}", short(line)), "correct the cause and make the report anew");
    }
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    (format!("begins with `{}`", short(first)), known)
}

fn short(line: &str) -> String {
    one_line(line.trim()).chars().take(80).collect()
}
