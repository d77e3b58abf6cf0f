//! JSON output of fio.

mod consistency;
mod load;
mod read;
mod to_run;

use super::format::Format;
use crate::input;

/// Largest result in bytes: parsed JSON takes up to twenty times its length.
const WHOLE: usize = 64 << 20;

/// `fio --output-format=json` or `json+`.
pub(super) static FIO: Format = Format {
    what: "fio result",
    // By the names that fio's JSON begins with.
    recognises: |head| {
        let Some(result) = read::next_result(head, 0).map(|at| &head[at..]) else { return false };
        let lists = ["\"jobs\"", "\"client_stats\""].iter().any(|list| result.contains(list));
        result.contains("\"fio version\"") || lists && result.contains("\"jobname\"")
    },
    read: |name, input| to_run::steps(name, &read::contents(name, &input::text_within(name, input, WHOLE)?)?),
    waits: None,
};
