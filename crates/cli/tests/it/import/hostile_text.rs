//! Text of foreign files and runs: no character of it controls a terminal, in any output.

use std::fs;
use std::process::Output;

use mindful_core::contract::event::Event;
use serde_json::{Value, json};

use crate::export::redactions::forms;
use crate::made::{Dress, showcase};
use crate::mindful::{Mindful, id};

/// Clears the screen, names the window, colours, rings, goes back to the begin of the line, and turns the direction of reading
/// in each way that Unicode has.
const STEERS: &str = "\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m\u{7f}\r\u{8}x\u{61c}\u{200e}\u{200f}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\u{2069}y";

/// Whether Unicode lets `c` turn the direction of reading.
fn turns(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The control characters of the output.
fn steering(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    let at = text.find(|c: char| turns(c) || (c.is_control() && c != '\n' && c != '\t'))?;
    let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
    Some(format!("{:?}", text[line..].chars().take(300).collect::<String>()))
}

fn harmless(what: &str, output: &Output) {
    for bytes in [&output.stdout, &output.stderr] {
        assert_eq!(steering(bytes), None, "{what}");
    }
}

/// Appends [`STEERS`] to every text below `value` if `whole`, which contains it, is still an event.
fn steer(whole: &mut Value, place: &str) {
    let value = whole.pointer(place).cloned().unwrap();
    let of = |key: &str| format!("{place}/{}", key.replace('~', "~0").replace('/', "~1"));
    match value {
        Value::String(text) => {
            let put = |whole: &mut Value, text: String| *whole.pointer_mut(place).unwrap() = text.into();
            put(whole, format!("{text}{STEERS}"));
            if serde_json::from_value::<Event>(whole.clone()).is_err() {
                put(whole, text);
            }
        }
        Value::Array(items) => (0..items.len()).for_each(|at| steer(whole, &of(&at.to_string()))),
        Value::Object(fields) => fields.keys().for_each(|key| steer(whole, &of(key))),
        _ => {}
    }
}

/// The lines of a run with [`STEERS`] in all texts except those of `plain` events, cut in the middle of it.
fn steered(lines: &str, plain: &[&str]) -> String {
    let mut steered = String::new();
    for line in lines.lines() {
        let mut event: Value = serde_json::from_str(line).unwrap();
        let name = event["event"].as_str().unwrap().to_owned();
        let mut more = Vec::new();
        match name.as_str() {
            "head" => event["plan"]["tag"] = json!("tag"),
            "environment" => event["facts"][STEERS] = json!("fact"),
            "described" => {
                event["description"]["facts"][STEERS] = json!("fact");
                event["description"]["notice"] = json!("notice");
                more.push(
                    json!({"event": "finding", "code": "c", "severity": "warning", "text": "t", "evidence": "e"}),
                );
                more.push(json!({"event": "note", "text": "note"}));
            }
            "started" => more.push(json!({"event": "busiest", "source": "neighbours", "boundary": 1, "processes": [
                {"pid": 7, "name": "busy", "cpu_us": 900_000.0}
            ]})),
            _ => {}
        }
        for mut event in std::iter::once(event).chain(more) {
            let id = event.get("id").cloned();
            if !plain.contains(&name.as_str()) {
                steer(&mut event, "");
            }
            // What cannot be the name of a folder is refused as an id.
            if let Some(id) = id {
                event["id"] = id;
            }
            // White space between the words of a line may be anything.
            steered.extend(["\r", &event.to_string(), "\r\n"]);
        }
    }
    steered + STEERS
}

#[test]
fn text_of_a_foreign_run_steers_no_terminal_in_any_form() {
    let there = Mindful::new();
    let ran = there.measured("--duration 2s --sessions 2 --update-pct 20");
    let (id, run) = (id(&ran), there.run_folder(&ran));
    let lines = there.record(&ran);
    fs::remove_file(run.join("summary.json")).unwrap();
    // Figures are found by the names of sources and metrics, so one turn keeps these.
    for plain in [&["source", "sample", "latencies", "busiest"][..], &[]] {
        fs::write(there.log(&ran), steered(&lines, plain)).unwrap();
        let here = Mindful::new();
        harmless("import", &here.succeed(("import", &run)));
        let mut said = 0;
        let mut draw = |args: &str| {
            let args = args.replace("ID", id);
            let output = here.run(&args);
            // Not every form supports every run.
            assert!([Some(0), Some(1), Some(2)].contains(&output.status.code()), "{args:?}: {output:?}");
            said += usize::from(String::from_utf8_lossy(&output.stdout).contains("owned"));
            harmless(&args, &output);
        };
        for form in forms(&here).into_iter().filter(|form| form != "png") {
            draw(&format!("export ID --as {form}"));
            draw(&format!("export ID --as {form} --redact"));
        }
        for chart in ["time", "distribution", "ledger"] {
            draw(&format!("export ID --as svg --chart {chart}"));
        }
        draw("export ID ID --as html");
        for verb in ["show --full", "show --heat-map", "show --explain verdict", "list", "compare ID ID --force"] {
            draw(verb);
            draw(&format!("{verb} --format json"));
        }
        assert!(said > 10, "only {said} forms contain the text");
        harmless("site", &here.run(format!("export {id} --as site --output site")));
        for page in fs::read_dir(here.path("site")).unwrap() {
            assert_eq!(steering(&fs::read(page.unwrap().path()).unwrap()), None);
        }
    }
}

#[test]
fn text_of_a_foreign_file_steers_no_terminal() {
    let mindful = Mindful::new();
    let write = |name: &str, text: &str| {
        let name = format!("{STEERS}{name}");
        fs::write(mindful.path(&name), text).unwrap();
        name
    };
    let events = |text: &str| text.replace("db file sequential read", &format!("db{STEERS} file sequential read"));
    let mut reports: Vec<String> = Vec::new();
    for dress in [Dress::Awr11, Dress::Awr19, Dress::Html, Dress::Statspack] {
        reports.push(write(&format!("{dress:?}.txt.8"), &events(&showcase().report(dress))));
    }
    let wait = format!("WAIT #1: nam='db{STEERS}' ela= 7 file#=1 block#=9 blocks=1 obj#=8 tim=2000000\n");
    let trace = write("t.trc", &wait.repeat(9));
    let unknown = write("unknown", STEERS);
    let draw = |args: &str, names: &[String]| {
        let output = mindful.run((args, names.to_vec()));
        assert!(output.status.success() || args == "import", "{args}: {output:?}");
        harmless(args, &output);
    };
    reports.push(unknown);
    for form in ["text", "json", "csv", "awr_info", "flashdba"] {
        draw(&format!("awr --format {form}"), &reports);
    }
    reports.push(trace);
    for form in ["text", "json"] {
        draw(&format!("trace --group-by event --format {form}"), &reports[reports.len() - 1..]);
    }
    for name in reports {
        draw("import", &[name]);
    }
}
