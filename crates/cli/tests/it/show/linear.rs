//! The time of every verb that reads a record grows linearly with the record.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::mindful::{Mindful, Words, printed};

/// User CPU below this is that of the start, s.
const LEAST: f64 = 0.05;

/// A word without a digit, another for each number.
fn word(mut number: usize) -> String {
    let mut word = String::from("w");
    loop {
        word.push(char::from(b'a' + (number % 26) as u8));
        number /= 26;
        if number == 0 {
            return word;
        }
    }
}

fn finding(code: &str, text: &str, evidence: &str) -> Value {
    json!({"event": "finding", "code": code, "severity": "warning", "text": text, "evidence": evidence})
}

fn place(lines: &[Value], event: &str) -> usize {
    lines.iter().position(|line| line["event"] == event).unwrap()
}

fn with(lines: &[Value], more: impl Iterator<Item = Value>) -> Vec<Value> {
    let (before, after) = lines.split_at(place(lines, "step"));
    before.iter().cloned().chain(more).chain(after.iter().cloned()).collect()
}

fn with_steps(lines: &[Value], count: usize) -> Vec<Value> {
    let (begin, end) = (place(lines, "step"), place(lines, "step_end") + 1);
    let step = |number: usize| {
        let mut step = lines[begin..end].to_vec();
        step[0]["step"] = json!(number);
        step[0]["point"] = json!({"values": {"sessions": (number + 1).to_string()}, "pass": 0, "drift_check": false});
        step
    };
    lines[..begin].iter().cloned().chain((0..count).flat_map(step)).chain(lines[end..].iter().cloned()).collect()
}

fn with_sessions(lines: &[Value], count: usize) -> Vec<Value> {
    let mut all = Vec::new();
    for line in lines {
        let mut line = line.clone();
        match line["event"].as_str().unwrap() {
            "step" => {
                let seat = line["placements"][0].clone();
                let of = |session: usize| {
                    let mut seat = seat.clone();
                    (seat["session"], seat["sessions"]) = (json!(session), json!(count));
                    seat
                };
                line["placements"] = (0..count).map(of).collect();
                all.push(line);
            }
            "slice" => all.extend((0..count).map(|session| {
                let mut slice = line.clone();
                slice["session"] = json!(session);
                slice
            })),
            _ => all.push(line),
        }
    }
    all
}

/// Makes a record with that many of something from the lines of a small one.
type Grow = fn(&[Value], usize) -> Vec<Value>;

const GROWN: [(&str, usize, Grow); 6] = [
    ("kinds of findings", 500, |lines, count| {
        with(lines, (0..count).map(|at| finding(&word(at), &format!("t {}", word(at)), "e")))
    }),
    ("findings of one kind", 500, |lines, count| {
        with(lines, (0..count).map(|at| finding("c", "t", &format!("e {}", word(at)))))
    }),
    ("notes", 500, |lines, count| with(lines, (0..count).map(|at| json!({"event": "note", "text": word(at)})))),
    ("processes", 500, |lines, count| {
        let busiest = |at: usize| {
            let process = json!({"pid": at, "name": word(at), "cpu_us": 1000.0});
            json!({"event": "busiest", "source": "neighbours", "boundary": 1, "processes": [process]})
        };
        let end = place(lines, "step_end");
        lines[..end].iter().cloned().chain((0..count).map(busiest)).chain(lines[end..].iter().cloned()).collect()
    }),
    ("steps", 20, with_steps),
    ("sessions", 50, with_sessions),
];

fn user_cpu(mindful: &Mindful, args: &str) -> f64 {
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "\"$0\" \"$@\" >/dev/null || [ $? -lt 3 ] || exit 9; times", env!("CARGO_BIN_EXE_mindful")])
        .args(args.words());
    let output = mindful.at_home(shell).output().unwrap();
    assert!(output.status.success(), "{args:?}: {output:?}");
    // The second line is for its children: user CPU, then system CPU, as `0m1.250000s`.
    let text = printed(&output);
    let (minutes, seconds) = text.lines().nth(1).unwrap().split('s').next().unwrap().split_once('m').unwrap();
    minutes.parse::<f64>().unwrap() * 60.0 + seconds.parse::<f64>().unwrap()
}

#[test]
fn eight_times_the_record_takes_less_than_sixteen_times_the_cpu() {
    let mindful = Mindful::new();
    let ran = mindful.measured("--duration 2s");
    let log = mindful.run_folder(&ran).join("run.jsonl");
    let lines: Vec<Value> =
        fs::read_to_string(&log).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let verbs = [
        "show --full",
        "show --heat-map",
        "list",
        "export",
        "export --as html",
        "export --as markdown",
        "export --as jsonl --redact",
        "pack latest --redact --output pack --yes",
    ];
    for (what, count, grow) in GROWN {
        let [small, large] = [count, 8 * count].map(|count| {
            let text = grow(&lines, count).iter().map(ToString::to_string).collect::<Vec<_>>().join("\n") + "\n";
            fs::write(&log, text).unwrap();
            verbs.map(|verb| user_cpu(&mindful, verb))
        });
        for ((verb, small), large) in verbs.iter().zip(small).zip(large) {
            assert!(large < 16.0 * small.max(LEAST), "{what}, {verb:?}: {small:.2} s, then {large:.2} s");
        }
    }
}
