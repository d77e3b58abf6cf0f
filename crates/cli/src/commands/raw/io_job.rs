//! The job on files that the keys describe.

use mindful_core::contract::file_read::InFlight;
use mindful_core::plan::settings::{Origin, Settings};
use mindful_core::{Error, Result, plan::units};
use mindful_raw::MOST_IODEPTH;
use mindful_raw::space::Span;
use mindful_runner::io_job::Job;
use mindful_runner::orion::{self, Matrix, Preset};

use crate::io_keys;

/// Default of `--limit`.
const LIMIT: &str = "20ms";
/// Defaults of a single step: each I/O is one operation.
const SINGLE: [(&str, &str); 2] = [("work_unit", "1"), ("sessions", "1")];
const AMONG_MANY: [(&str, &str); 2] = [("duration", "10s"), ("warmup", "1s")];
/// Keys of the load, which a job sets itself.
const OF_THE_JOB: [&str; 8] =
    ["sessions", "threads", "iodepth", "large_iodepth", "io", "rate", "think_time", "work_unit"];

/// Defaults of a job of commits: blocks written before are written again, each made durable by a sync, as a log is.
const COMMITS: [(&str, &str); 3] = [("update_pct", "100"), ("fsync", "1"), ("direct", "off")];
/// Writes in flight up to so many.
const MOST_COMMITS: u32 = 32;

/// Whether a session has more than one I/O in flight, or large reads.
pub(super) fn keeps_several(job: &Job, settings: &Settings) -> Result<bool> {
    Ok(match job {
        Job::Points(points) => points.iter().any(|point| point.small > 1 || point.large > 0),
        Job::Calibrate { .. } => true,
        Job::Spans { .. } => settings.parse("iodepth", number)?.is_some_and(|depth| depth > 1),
    })
}

/// The job in `settings`, or `None` for one plain step; adds the defaults.
pub(super) fn of(settings: &mut Settings) -> Result<Option<Job>> {
    settings.check_bounds(io_keys::KEYS)?;
    let preset = settings.get("preset").map(str::to_owned);
    let job = match preset.as_deref() {
        Some("calibrate") => Some(calibrate(settings)?),
        Some("commits") => Some(commits(settings)?),
        Some(_) => Some(points(settings)?),
        None if settings.get("matrix").is_some() => Some(points(settings)?),
        None => spans(settings)?,
    };
    refuse_unused(settings, job.as_ref())?;
    let among_many = job.iter().flat_map(|_| AMONG_MANY);
    for (name, value) in SINGLE.into_iter().chain(among_many) {
        let unset =
            settings.given_text(name).is_none() && !(name == "sessions" && settings.given_text("threads").is_some());
        // With --ops there is no duration.
        if unset && !(name == "duration" && settings.given_text("ops").is_some()) {
            settings.set(name, value, Origin::Default);
        }
    }
    Ok(job)
}

fn calibrate(settings: &mut Settings) -> Result<Job> {
    if settings.get("limit").is_none() {
        settings.set("limit", LIMIT, Origin::Default);
    }
    let limit_us = settings.require("limit", units::parse_duration)?.as_secs_f64() * 1e6;
    if limit_us < 1.0 {
        return Err(Error::plan("--limit is too small", "pass --limit 1us or more"));
    }
    Ok(Job::Calibrate { limit_us })
}

/// Commits at 1, 2, 4, … writes in flight.
fn commits(settings: &mut Settings) -> Result<Job> {
    for (name, value) in COMMITS {
        if settings.given_text(name).is_none() {
            settings.set(name, value, Origin::Default);
        }
    }
    let most = settings.parse("num_small", number)?.unwrap_or(MOST_COMMITS).clamp(1, MOST_IODEPTH);
    let loads = std::iter::successors(Some(1_u32), |load| Some(load * 2)).take_while(|load| *load <= most);
    Ok(Job::Points(loads.map(|small| InFlight { small, large: 0 }).collect()))
}

fn points(settings: &Settings) -> Result<Job> {
    let preset = settings.parse("preset", parse_preset)?.unwrap_or(Preset::Advanced);
    let matrix = settings.parse("matrix", Matrix::parse)?;
    if matrix.is_some() && preset != Preset::Advanced {
        return Err(Error::plan(
            format!("--matrix cannot change --preset {}", settings.get("preset").unwrap_or_default()),
            "drop one of them, or pass --preset advanced",
        ));
    }
    let files = settings.get("target").map_or(1, |url| url.split(',').filter(|path| !path.is_empty()).count());
    let job = orion::Job {
        preset,
        matrix,
        disks: settings.parse("num_disks", number)?.unwrap_or(files as u32),
        num_small: settings.parse("num_small", number)?,
        num_large: settings.parse("num_large", number)?,
        most: MOST_IODEPTH,
    };
    Ok(Job::Points(job.points()?))
}

/// The preset; the error also lists presets that are not Orion's.
fn parse_preset(text: &str) -> Result<Preset> {
    Preset::parse(text).map_err(|_| {
        let names = Preset::ALL.map(Preset::name).join(", ");
        Error::plan(format!("unknown preset `{text}`"), format!("choose {names}, calibrate, commits"))
    })
}

fn number(text: &str) -> Result<u32> {
    let count = units::parse_count(text)?;
    u32::try_from(count).map_err(|_| Error::plan(format!("{count} is out of range"), "use a smaller number"))
}

fn spans(settings: &Settings) -> Result<Option<Job>> {
    let Some(list) = settings.parse("spans", Span::parse_list)? else { return Ok(None) };
    let value = |name: &str| settings.parse(name, number).map(Option::unwrap_or_default);
    let sessions = settings.given_text("sessions").map_or(Ok(1), number)?;
    if value("large_iodepth")? > 0 || settings.given_text("threads").is_some() {
        return Err(Error::plan(
            "--spans measures one load of small I/Os",
            "drop --large-iodepth and --threads; --iodepth and --sessions set the load",
        ));
    }
    let in_flight = value("iodepth")?.saturating_mul(sessions);
    Ok(Some(Job::Spans { spans: list.into_iter().map(|(name, _)| name).collect(), in_flight }))
}

/// Refuses keys that would have no effect.
fn refuse_unused(settings: &Settings, job: Option<&Job>) -> Result<()> {
    let unheard: &[&str] = match job {
        Some(Job::Points(_)) if settings.get("preset") == Some("commits") => {
            &["matrix", "num_disks", "num_large", "limit", "spans"]
        }
        Some(Job::Points(_)) => &["limit", "spans"],
        Some(Job::Calibrate { .. }) => &["matrix", "num_disks", "num_small", "num_large", "spans"],
        Some(Job::Spans { .. }) => &["num_disks", "num_small", "num_large", "limit", "csv", "span"],
        None => &["num_disks", "num_small", "num_large", "limit", "csv"],
    };
    let of_the_job: &[&str] = if matches!(job, None | Some(Job::Spans { .. })) { &[] } else { &OF_THE_JOB };
    let what = match job {
        Some(Job::Points(_)) => "cannot be set in a job, which chooses it",
        Some(Job::Calibrate { .. }) => "cannot be set in a calibration, which chooses it",
        Some(Job::Spans { .. }) => "cannot be combined with --spans",
        None => "needs --preset or --matrix",
    };
    match unheard.iter().chain(of_the_job).find(|name| settings.given_text(name).is_some()) {
        Some(name) => Err(Error::plan(format!("{} {what}", settings.describe_place(name)), "drop it")),
        None => Ok(()),
    }
}
