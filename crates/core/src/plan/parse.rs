//! From text settings to a plan, and choices back to text.

use std::fmt;
use std::time::Duration;

use super::keys::{KEYS, MOST_SESSIONS};
use super::{Hooks, HostFacts, HotSpotPlan, Plan};
use crate::contract::error::{Error, Result};
use crate::dataset::{Content, Extent};
use crate::plan::price::Price;
use crate::plan::settings::{self, Settings};
use crate::plan::units::{self, Share};
use crate::ranks::assignment;
use crate::workload::{Access, Commit, Compatibility, LoopSite, Rate, Redo, Skew, ThinkTime};

const MOST_UNCOMMITTED: u32 = 1_000_000;
const DEFAULT_SESSIONS: u32 = 8;

impl Plan {
    pub fn from_settings(settings: &Settings) -> Result<Self> {
        let plan = plan(settings)?;
        plan.check()?;
        Ok(plan)
    }
}

fn plan(s: &Settings) -> Result<Plan> {
    s.check_bounds(KEYS)?;
    // The number of targets is known where the list is.
    assignment::parse_weights(s)?;
    Ok(Plan {
        target: s.require("target", |t| Ok(t.to_owned()))?,
        tag: s.parse("tag", tag)?,
        price: s.parse("price", Price::parse)?,
        seed: s.require("seed", units::parse_count)?,
        schemas: s.parse("schemas", count)?,
        scale: s.parse("scale", Extent::parse)?,
        scan_table: s.require("scan_table", Extent::parse)?,
        content: content(s)?,
        load_streams: s.require("load_streams", count)?,
        sessions: sessions(s)?,
        warmup: s.require("warmup", units::parse_duration)?,
        duration: s.require("duration", units::parse_duration)?,
        steady: steady(s)?,
        steady_cap: s.require("steady_cap", units::parse_duration)?,
        ops: ops(s)?,
        guard: s.require("guard", units::parse_duration)?,
        work_unit: s.require("work_unit", units::parse_count)?,
        update_pct: s.require("update_pct", Share::parse)?,
        update_work_unit: s.parse("update_work_unit", units::parse_count)?,
        scan_pct: s.require("scan_pct", Share::parse)?,
        redo: s.require("redo", Redo::parse)?,
        commit: s.require("commit", commit)?,
        commit_wait: s.require("commit_wait", settings::parse_switch)?,
        hot_spot: hot_spot(s)?,
        hot_schema: s.require("hot_schema", Share::parse)?,
        skew: s.require("skew", skew)?,
        think_time: s.parse("think_time", think_time)?,
        rate: s.parse("rate", rate)?,
        loop_site: s.require("loop", LoopSite::parse)?,
        device_trace: s.require("device_trace", |t| settings::parse_choice(t, &[("auto", true), ("off", false)]))?,
        facts: s.require("facts", HostFacts::parse)?,
        hooks: hooks(s)?,
        compatibility: s.require("like", Compatibility::parse)?,
        access: access(s)?,
    })
}

fn access(s: &Settings) -> Result<Access> {
    let access = s.require("access", Access::parse)?;
    if access == Access::Scan && s.given_text("work_unit").is_some() {
        return Err(Error::plan(
            format!("access scan with {}: an operation reads all blocks of a schema", s.describe_place("work_unit")),
            "omit one of them; --scale decides how much a scan reads",
        ));
    }
    Ok(access)
}

fn hooks(s: &Settings) -> Result<Hooks> {
    let command = |name| s.parse(name, |text| Ok(text.to_owned()));
    Ok(Hooks {
        before: command("hook_before")?,
        after: command("hook_after")?,
        end: command("hook_end")?,
        timeout: s.require("hook_timeout", units::parse_duration)?,
        failure_stops: s.require("hook_failure", |t| settings::parse_choice(t, &[("stop", true), ("warn", false)]))?,
    })
}

/// A count that its key limits to 32 bits.
fn count(text: &str) -> Result<u32> {
    let count = units::parse_count(text)?;
    u32::try_from(count).map_err(|_| Error::plan(format!("`{text}` is out of range"), "give a smaller number"))
}

fn tag(text: &str) -> Result<String> {
    let fits = (1..=64).contains(&text.len())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.+".contains(c))
        && text != "latest"
        && !text.starts_with(['-', '.']);
    fits.then(|| text.to_owned()).ok_or_else(|| {
        Error::plan(
            format!("`{}` cannot be a tag", crate::contract::error::one_line(text)),
            "use up to 64 letters, digits and - _ . +, begin with a letter or digit, and not `latest`",
        )
    })
}

fn sessions(s: &Settings) -> Result<u32> {
    let sessions = s.parse("sessions", count)?;
    let Some(threads) = s.parse("threads", count)? else {
        return Ok(sessions.unwrap_or(DEFAULT_SESSIONS));
    };
    let schemas = s.parse("schemas", count)?.unwrap_or(super::DEFAULT_SCHEMAS);
    let product = u64::from(schemas) * u64::from(threads);
    if sessions.is_some_and(|n| u64::from(n) != product) {
        return Err(Error::plan(
            format!(
                "{} of {} are {}, not {}",
                units::format_counted(schemas, "schema"),
                units::format_counted(threads, "thread"),
                units::format_counted(product, "session"),
                sessions.unwrap_or(0)
            ),
            "pass either --sessions, or --schemas and --threads",
        ));
    }
    u32::try_from(product).ok().filter(|n| *n <= MOST_SESSIONS).ok_or_else(|| {
        Error::plan(format!("{product} sessions are too many"), format!("mindful runs up to {MOST_SESSIONS}"))
    })
}

fn ops(s: &Settings) -> Result<Option<u64>> {
    let ops = s.parse("ops", units::parse_count)?;
    if ops.is_some() && s.given_text("duration").is_some() {
        return Err(Error::plan(
            "both ops and duration are given",
            "give one: a fixed amount of work, or a fixed time",
        ));
    }
    Ok(ops)
}

fn steady(s: &Settings) -> Result<bool> {
    let steady = s.require("steady", settings::parse_switch)?;
    match ["ops", "warmup"].into_iter().find(|name| s.given_text(name).is_some()).filter(|_| steady) {
        None => Ok(steady),
        Some(name) => Err(Error::plan(
            format!("both steady and {} are given", s.describe_place(name)),
            "omit one: a step that is measured until steady finds its own warm-up and end",
        )),
    }
}

fn content(s: &Settings) -> Result<Content> {
    let compress_ratio = s.parse("compress_ratio", units::parse_number)?.unwrap_or(1.0);
    let dedupe_ratio = s.require("dedupe_ratio", units::parse_number)?;
    let repeated = s.require("content", |t| settings::parse_choice(t, &[("mixed", false), ("repeated", true)]))?;
    if repeated && (s.given_text("compress_ratio").is_some() || s.given_text("dedupe_ratio").is_some()) {
        return Err(Error::plan(
            "content repeated has no ratios to choose",
            "omit --compress-ratio and --dedupe-ratio",
        ));
    }
    Ok(if repeated { Content::Repeated } else { Content::Mixed { compress_ratio, dedupe_ratio } })
}

fn commit(text: &str) -> Result<Commit> {
    match text {
        "each" => Ok(Commit::Each),
        "slice" => Ok(Commit::Slice),
        _ => count(text).ok().filter(|n| (1..=MOST_UNCOMMITTED).contains(n)).map(Commit::Every).ok_or_else(|| {
            Error::plan(
                format!("`{text}` is not a time to commit"),
                format!("write each, slice, or after how many operations, 1 to {MOST_UNCOMMITTED}"),
            )
        }),
    }
}

fn hot_spot(s: &Settings) -> Result<Option<HotSpotPlan>> {
    let Some(size) = s.parse("hot_spot_size", Extent::parse)? else {
        for name in ["hot_spot_offset", "hot_spot_share"] {
            if s.given_text(name).is_some() {
                return Err(Error::plan(
                    format!("{} without a hot spot", s.describe_place(name)),
                    "pass --hot-spot-size too",
                ));
            }
        }
        return Ok(None);
    };
    let offset = s.require("hot_spot_offset", Extent::parse)?;
    Ok(Some(HotSpotPlan { size, offset, share: s.require("hot_spot_share", Share::parse)? }))
}

fn skew(text: &str) -> Result<Skew> {
    let bad = || {
        Error::plan(
            format!("`{text}` is not a skew"),
            "write uniform, zipf:0.9 (0.001 to 0.999), or hotset:20%,80%, optionally with the number of operations after which it moves",
        )
    };
    if text == "uniform" {
        return Ok(Skew::Uniform);
    }
    if let Some(theta) = text.strip_prefix("zipf:") {
        let theta: f64 = theta.parse().map_err(|_| bad())?;
        return if (0.001..=0.999).contains(&theta) { Ok(Skew::Zipf(theta)) } else { Err(bad()) };
    }
    let parts: Vec<_> = text.strip_prefix("hotset:").ok_or_else(bad)?.split(',').collect();
    let (fraction, probability, moves_every) = match parts[..] {
        [fraction, probability] => (fraction, probability, 0),
        [fraction, probability, ops] => (fraction, probability, units::parse_count(ops)?),
        _ => return Err(bad()),
    };
    let fraction = Share::parse(fraction)?;
    if fraction.is_none() {
        return Err(bad());
    }
    Ok(Skew::HotSet { fraction, probability: Share::parse(probability)?, moves_every })
}

fn think_time(text: &str) -> Result<ThinkTime> {
    let (share, range) = match text.split_once("%:") {
        Some((share, range)) => (Share::parse(share)?, range),
        None => (Share::ALL, text),
    };
    if let Some(mean) = range.strip_prefix("exp:") {
        let max = units::parse_duration(mean)?;
        return Ok(ThinkTime { share, min: Duration::ZERO, max, exponential: true });
    }
    let (min, max) = match range.split_once("..") {
        Some((min, max)) => (units::parse_duration(min)?, units::parse_duration(max)?),
        None => (units::parse_duration(range)?, units::parse_duration(range)?),
    };
    if min > max {
        return Err(Error::plan(
            format!("`{text}` ends before it begins"),
            "write the shorter time first, such as 10ms..50ms",
        ));
    }
    Ok(ThinkTime { share, min, max, exponential: false })
}

fn rate(text: &str) -> Result<Rate> {
    let (even, number) = match text.strip_prefix("even:") {
        Some(number) => (true, number),
        None => (false, text),
    };
    let per_s: f64 = number.trim().replace('_', "").parse().unwrap_or(f64::NAN);
    if (0.001..=1e8).contains(&per_s) {
        return Ok(Rate { per_s, even });
    }
    Err(Error::plan(
        format!("`{text}` is not a rate"),
        "write operations per second, 0.001 to 100000000, such as 5000 or even:5000",
    ))
}

impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mixed { compress_ratio, dedupe_ratio } => {
                write!(f, "mixed, compress ratio {compress_ratio}, dedupe ratio {dedupe_ratio}")
            }
            Self::Repeated => f.write_str("repeated"),
        }
    }
}

impl fmt::Display for Commit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Each => f.write_str("each"),
            Self::Every(count) => write!(f, "{count}"),
            Self::Slice => f.write_str("slice"),
        }
    }
}

impl fmt::Display for Skew {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uniform => f.write_str("uniform"),
            Self::Zipf(theta) => write!(f, "zipf:{theta}"),
            Self::HotSet { fraction, probability, moves_every } => {
                write!(f, "hotset:{}%,{}%", fraction.percent(), probability.percent())?;
                if *moves_every > 0 { write!(f, ",{moves_every}") } else { Ok(()) }
            }
        }
    }
}

impl fmt::Display for ThinkTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = |duration: Duration| units::format_duration(duration).replace(' ', "");
        if self.share != units::Share::ALL {
            write!(f, "{}%:", self.share.percent())?;
        }
        if self.exponential {
            write!(f, "exp:{}", time(self.max))
        } else {
            write!(f, "{}..{}", time(self.min), time(self.max))
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.even { "even:" } else { "" }, self.per_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_value_is_the_parsed_value() {
        for text in ["uniform", "zipf:0.9", "hotset:20%,80%", "hotset:12.5%,80%,1000"] {
            assert_eq!(skew(text).unwrap().to_string(), text);
        }
        for text in ["20%:10ms..50ms", "1.5s..2s", "exp:350ms", "33.33%:exp:1s"] {
            assert_eq!(think_time(text).unwrap().to_string(), text);
        }
        for text in ["5000", "even:12.5"] {
            assert_eq!(rate(text).unwrap().to_string(), text);
        }
        for text in ["each", "16", "slice"] {
            assert_eq!(commit(text).unwrap().to_string(), text);
        }
    }
}
