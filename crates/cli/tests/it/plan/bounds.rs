//! Extremes of every key of every engine: an answer in time, never a crash, and never an acceptance of nonsense.

use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use mindful_core::plan::settings::{Key, Origin, Settings, Trust};
use mindful_core::plan::{Bound, Plan};
use mindful_core::{Engine, ErrorKind, plan};
use rustix::process::{Pid, Signal, kill_process};

use crate::mindful::{Mindful, Words, kill};

/// Numbers at the limits of arithmetic, and texts that are not numbers.
const NUMBERS: &str = "0|1|2147483647|2147483648|4294967295|4294967296|9007199254740993|2305843009213693952|\
                       9223372036854775807|9223372036854775808|18446744073709551615|18446744073709551616|\
                       99999999999999999999999999999999999999|0.0000000001|1e-308|1e308";
const NONSENSE: &str = "-1|-0.5|1e999|NaN|inf|-inf|| ";

fn extremes() -> impl Iterator<Item = &'static str> {
    NUMBERS.split('|').chain(NONSENSE.split('|'))
}

const UNITS: [&str; 3] = ["us", "h", "TiB"];

/// The value's name in the help of keys without numeric values.
const WORDS: &str = "URL|NAME|ROLE|COMMAND|DIR|FILE|USER|DEVICE|NAME=VALUE,…|PREFIX|JOB";

/// Longest that an answer may take: against hangs, on a busy host too.
const PATIENCE: Duration = Duration::from_secs(30);

struct Answer {
    call: String,
    code: Option<i32>,
    stderr: String,
    stdout: String,
    /// From the signal if there was one, otherwise from the start.
    took: Duration,
}

/// Runs mindful; sends SIGTERM if it has not ended by `ends_after`.
fn ask(args: &(impl Words + ?Sized), ends_after: Duration) -> Answer {
    let mindful = Mindful::at(tempfile::tempdir().unwrap());
    let [out, err] = ["out", "err"].map(|name| File::create_new(mindful.path(name)).unwrap());
    let mut child = mindful.command(args).env("ORACLE_PASSWORD", "x").stdout(out).stderr(err).spawn().unwrap();
    let (mut since, mut asked) = (Instant::now(), false);
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break Some(status);
        }
        if !asked && since.elapsed() > ends_after {
            kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
            (since, asked) = (Instant::now(), true);
        } else if since.elapsed() > ends_after + PATIENCE {
            kill(&mut child);
            break None;
        }
        thread::sleep(Duration::from_millis(2));
    };
    let read = |name| String::from_utf8_lossy(&std::fs::read(mindful.path(name)).unwrap()).into_owned();
    let code = status.and_then(|status| status.code().or_else(|| status.signal().map(|signal| 128 + signal)));
    Answer { call: args.words().join(" "), code, stderr: read("err"), stdout: read("out"), took: since.elapsed() }
}

/// Judges the answers to all calls, several at a time; `complaint` returns the fault of one.
fn all<T: Sync>(calls: &[T], complaint: impl Fn(&T) -> Option<String> + Sync) {
    let (next, complaints) = (Mutex::new(calls.iter()), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                loop {
                    let Some(call) = next.lock().unwrap().next() else { break };
                    if let Some(text) = complaint(call) {
                        complaints.lock().unwrap().push(text);
                    }
                }
            });
        }
    });
    let complaints = complaints.into_inner().unwrap();
    assert!(complaints.is_empty(), "{} of {}:\n{}", complaints.len(), calls.len(), complaints.join("\n"));
}

fn unsound(answer: &Answer, codes: &[i32]) -> Option<String> {
    let Answer { call, code, stderr, took, .. } = answer;
    let sound = code.is_some_and(|code| codes.contains(&code)) && !stderr.contains("panicked");
    (!sound).then(|| format!("{call}: {code:?} after {took:?}: {stderr}"))
}

/// All values to try for `key`: the extremes, with units too, and both sides of its bound's ends.
fn values(key: &Key) -> Vec<String> {
    let united = extremes().flat_map(|number| UNITS.map(|unit| format!("{number}{unit}")));
    let mut values: Vec<String> = match key.bound {
        Bound::Own | Bound::Count(..) | Bound::Number(..) => Vec::new(),
        _ => united.collect(),
    };
    values.extend(extremes().map(str::to_owned));
    match key.bound {
        Bound::Count(least, most) => {
            values.extend([least.wrapping_sub(1), most, most.wrapping_add(1)].map(|n| n.to_string()));
        }
        Bound::Size(least, most) => values.extend([least - 1, most, most + 1].map(|n| format!("{n}B"))),
        Bound::Time(_, most) => values.extend([0, 1].map(|beyond| format!("{}us", most.as_micros() + beyond))),
        _ => (),
    }
    values
}

fn flag(key: &Key, value: &str) -> String {
    format!("--{}={value}", key.flag_name())
}

/// All engines, those that have private servers twice; no server listens on port 9.
fn engines() -> Vec<(&'static str, &'static dyn Engine)> {
    vec![
        ("null:", &mindful_null::ENGINE),
        ("sqlite:there-is-none.db", &mindful_sqlite::ENGINE),
        ("raw:there-is-none", &mindful_raw::ENGINE),
        ("postgres://127.0.0.1:9/none", &mindful_postgres::ENGINE),
        ("embedded", &mindful_postgres::ENGINE),
        #[cfg(feature = "mysql")]
        ("mysql://127.0.0.1:9/none", &mindful_mysql::ENGINE),
        #[cfg(feature = "mysql")]
        ("mariadb:", &mindful_mysql::ENGINE),
        #[cfg(feature = "oracle")]
        ("oracle://me@127.0.0.1:9/none", &mindful_oracle::ENGINE),
    ]
}

/// Whether a run of `target` would start a server.
fn is_private(target: &str) -> bool {
    ["embedded", "mariadb:"].contains(&target)
}

/// Every key with its extremes as the plan of an engine: target, key, value.
fn planned() -> Vec<(&'static str, &'static Key, String)> {
    let of_plan = plan::KEYS.iter().map(|key| ("null:", key));
    let of_engines =
        engines().into_iter().flat_map(|(target, engine)| engine.options().iter().map(move |key| (target, key)));
    of_plan
        .chain(of_engines)
        .filter(|(_, key)| key.name != "target")
        .flat_map(|(target, key)| values(key).into_iter().map(move |value| (target, key, value)))
        .collect()
}

/// Whether `value` makes no sense for `key`, by its bound or because it is not a number.
fn nonsense(key: &Key, value: &str) -> bool {
    let wordy = WORDS.split('|').any(|word| word == key.value) || key.value.is_empty() || key.value.contains("on|off");
    key.bound.check(value).is_err() || !wordy && NONSENSE.split('|').any(|nonsense| nonsense == value)
}

/// The answer of `mindful plan` to `value` of `key`, without a process.
fn planned_here(target: &str, key: &Key, value: &str) -> mindful_core::Result<()> {
    let (_, engine) = engines().into_iter().find(|(url, _)| *url == target).unwrap();
    let mut settings = Settings::defaults(plan::KEYS.iter().chain(engine.options()));
    settings.set("target", target, Origin::Flag("--target".to_owned()));
    settings.set(key.name, value, Origin::Flag(format!("--{}", key.flag_name())));
    Plan::from_settings(&settings).and_then(|plan| engine.parse_options(&plan.target, &settings).map(drop))
}

#[test]
fn no_extreme_of_any_key_is_planned_unless_it_makes_sense() {
    let calls = planned();
    assert!(calls.len() > 2_000, "{} calls", calls.len());
    all(&calls, |(target, key, value)| {
        let began = Instant::now();
        let answer = std::panic::catch_unwind(|| planned_here(target, key, value));
        let text = match &answer {
            Err(_) => Some("panics".to_owned()),
            Ok(_) if began.elapsed() > PATIENCE => Some("takes too long".to_owned()),
            Ok(Ok(())) => nonsense(key, value).then(|| "is taken".to_owned()),
            Ok(Err(error)) if error.kind != ErrorKind::Plan => Some(format!("is no error of the plan: {error}")),
            Ok(Err(error)) => (nonsense(key, value) && !error.to_string().contains(&key.flag_name()))
                .then(|| format!("is not named: {error}")),
        };
        text.map(|text| format!("{target} {}: {text}", flag(key, value)))
    });
}

/// The binary answers like its parts, for a sample of the values of each key.
#[test]
fn the_binary_plans_the_same_as_its_parts() {
    const ONE_IN: usize = 17;
    let sample: Vec<_> = planned().into_iter().step_by(ONE_IN).collect();
    let keys: std::collections::BTreeSet<_> = sample.iter().map(|(target, key, _)| (target, key.name)).collect();
    assert!(keys.len() > 40, "{} keys", keys.len());
    all(&sample, |(target, key, value)| {
        let args = ["plan", "--target", target, &flag(key, value)];
        let answer = ask(&args, PATIENCE);
        // An empty place is refused on the command line, and means the default in a plan.
        let nowhere = value.is_empty() && key.trust != Trust::Value && key.value != "COMMAND";
        let code = if planned_here(target, key, value).is_ok() && !nowhere { 0 } else { 2 };
        unsound(&answer, &[code])
    });
}

/// The accepted values of `key` that need a run: those at its upper bound, because small values are harmless.
fn worth_a_run(key: &Key) -> Vec<String> {
    match key.bound {
        Bound::Count(_, most) => vec![most.min(1_024).to_string()],
        Bound::Size(_, most) => vec![format!("{most}B")],
        Bound::Time(_, most) => vec![format!("{}us", most.as_micros())],
        Bound::Number(_, most) => vec![most.to_string()],
        Bound::Extent => ["1", "1024TiB"].map(str::to_owned).into(),
        Bound::Own => {
            ["1", "18446744073709551615", "100", "hotset:0.01%,100%,18446744073709551615"].map(str::to_owned).into()
        }
    }
}

/// A run of `target` with one key at its limit, and all others as small as possible.
fn at_the_limit(target: &str, key: &Key, value: &str) -> Vec<String> {
    // Pauses leave the CPUs to other runs; none of these tests a rate.
    let small = "--scale=256 --schemas=1 --sessions=2 --duration=200ms --warmup=0s --work-unit=4 --think-time=5ms..5ms";
    let instead = match key.name {
        "threads" => "--sessions --schemas".to_owned(),
        "ops" => "--duration".to_owned(),
        "steady" => "--warmup".to_owned(),
        "rate" => "--think-time".to_owned(),
        _ => format!("--{}", key.flag_name()),
    };
    let is_other = |flag: &&str| !instead.split(' ').any(|instead| flag.split('=').next() == Some(instead));
    let others = small.split(' ').filter(is_other).map(str::to_owned);
    ["run".to_owned(), format!("--target={target}"), flag(key, value)].into_iter().chain(others).collect()
}

#[test]
fn extreme_values_run_or_stop_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let mut calls = Vec::new();
    for (target, engine) in engines().into_iter().filter(|(target, _)| !is_private(target)) {
        let of_plan = plan::KEYS.iter().filter(|_| target == "null:");
        let keys = engine.options().iter().chain(of_plan).filter(|key| !["target", "destroy_data"].contains(&key.name));
        let values = keys.flat_map(|key| worth_a_run(key).into_iter().map(move |value| (key, value)));
        // Values that `mindful plan` refuses need no run.
        for (key, value) in values.filter(|(key, value)| planned_here(target, key, value).is_ok()) {
            // Each run has a file of its own.
            let file = folder.path().join(calls.len().to_string());
            let target = match target.split_once(':') {
                Some((scheme @ ("sqlite" | "raw"), _)) => format!("{scheme}:{}", file.display()),
                _ => target.to_owned(),
            };
            calls.push(at_the_limit(&target, key, &value));
        }
    }
    assert!(calls.len() > 50, "{} runs", calls.len());
    all(&calls, |args| {
        let answer = ask(args, Duration::from_secs(2));
        let late =
            (answer.took > PATIENCE).then(|| format!("{}: ended {:?} after it was asked", answer.call, answer.took));
        // Without a handler yet, a signal ends mindful like any process, and nothing is lost: without an answer nothing
        // is measured.
        let elsewhere = args[1].contains("127.0.0.1:9");
        let codes: &[i32] = if elsewhere { &[2, 3, 130, 143] } else { &[0, 1, 2, 3, 130, 143] };
        unsound(&answer, codes).or(late)
    });
}

#[test]
fn ladders_with_senseless_ends_are_refused() {
    let ladders = [
        "--sessions=1..18446744073709551615",
        "--sessions=1..15001",
        "--sessions=1,4294967297",
        "--work-unit=1,9223372036854775808",
        "--duration=1s,1000000h",
        "--null-latency=1us,169h",
        "--null-capacity=1,NaN",
        "--rate=1..18446744073709551615 --max-iops-at=p99<=1ms",
        "--max-iops-at=p99<=1e308s",
        "--max-iops-at=p99<=18446744073709551616h",
        "--repeat=18446744073709551615",
        "--budget=18446744073709551615h",
        "--seed=1..9223372036854775807 --schemas=1..4096 --commit=1..999999 --work-unit=1..4096 --ops=1..999999",
    ];
    all(&ladders, |ladder| unsound(&ask(&("sweep --target=null:", ladder), PATIENCE), &[2]));
}

#[test]
fn no_count_of_any_verb_is_taken_unless_it_makes_sense() {
    let verbs = [
        "compare a b --margin",
        "compare --run=a b --repeat",
        "run --target=null: --duration=1s --repeat",
        "contrast --target=null: --repeat",
        "watch --target=null: --duration",
        "squeeze --leave",
        "raw there-is-none --preset=oltp --num-disks",
        "raw there-is-none --preset=oltp --num-small",
        "raw there-is-none --preset=calibrate --limit",
    ];
    let counts = ["-1", "NaN", "1e308", "18446744073709551615", "99999999999999999999999", ""];
    let command = |verb: &str| if verb == "squeeze --leave" { " -- true" } else { "" };
    let calls = verbs.map(|verb| counts.map(|count| format!("{verb}={count}{}", command(verb)))).concat();
    all(&calls, |args| unsound(&ask(args, PATIENCE), &[2]));
}

#[test]
fn a_rate_that_is_too_high_ends_at_the_deadline() {
    let args = "run --target=null: --rate=50000000 --duration=3s --warmup=0s --scale=256 --format=json";
    let answer = ask(args, PATIENCE * 2);
    // The 150 million operations that are due take far longer.
    assert!(answer.took < Duration::from_secs(20), "{:?} for 3 s", answer.took);
    assert!(answer.stdout.contains("rate-not-sustained"), "{}{}", answer.stdout, answer.stderr);
}

#[test]
fn an_error_names_the_key_the_value_and_the_bound() {
    let mindful = Mindful::new();
    let unit = "plan --target=null: --work-unit=9223372036854775808 --like=slob";
    mindful.refuses_all([
        ("plan --target=null: --duration=1000000h", "--duration: `1000000h` is out of range: give 168h or less\n"),
        (unit, "--work-unit: `9223372036854775808` is out of range: give 1 to 1099511627776\n"),
        ("load --target=null: --scale=1099511627776 --schemas=4096", "--scale…limit"),
    ]);
    mindful.shows("run --help", "[1 to 15000]");
}
