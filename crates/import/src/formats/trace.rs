//! 10046 traces, level 8 or 12, of any size: streamed, every wait with its microseconds.

mod consistency;
mod read;
mod to_run;

use super::format::Format;
use read::Line;
pub(crate) use read::block_bytes;

/// Output of a session with event 10046.
pub(super) static TRACE: Format = Format {
    what: "10046 trace",
    // By lines that no other trace has.
    recognises: |head| {
        head.lines().any(|line| {
            let cursor = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
            let wait = line.strip_prefix("WAIT #").is_some_and(|rest| cursor(rest) && rest.contains(": nam='"));
            let parsing = line.strip_prefix("PARSING IN CURSOR #").is_some_and(cursor);
            let called = ["PARSE #", "EXEC #", "FETCH #"].iter().filter_map(|call| line.strip_prefix(call));
            wait || parsing || called.into_iter().any(|rest| cursor(rest) && rest.contains(":c="))
        })
    },
    read: |name, input| {
        let mut collected = to_run::Collected::default();
        let damaged = read::lines(name, input, |line| collected.add(&line))?;
        let mut step = collected.step(name, damaged)?;
        step.add_damage(damaged, "line");
        Ok(vec![step])
    },
    waits: Some(|name, input, add| {
        let mut any = false;
        let read = read::lines(name, input, |line| {
            if let Line::Wait(wait) = line {
                any = true;
                add(&wait);
            }
        });
        read.and_then(|damaged| if any { Ok(damaged) } else { Err(to_run::no_wait(name, damaged)) })
    }),
};
