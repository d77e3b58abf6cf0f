//! Writes the seeds of fuzzing: an artificial file of each kind of result, in `corpus/TARGET/`.

use std::fs;
use std::path::Path;

#[path = "../../tests/it/made/mod.rs"]
mod made;
#[path = "../../tests/it/samples.rs"]
mod samples;

fn main() -> std::io::Result<()> {
    for (number, (what, _, text)) in samples::of_each_format().into_iter().enumerate() {
        let target = match what {
            "AWR report" => "awr",
            "Statspack report" => "statspack",
            "10046 trace" => "trace",
            "event histogram records" => "event_histogram",
            "Orion result" => "orion",
            "pgio result" => "pgio_line",
            "fio result" => "fio",
            _ => "workers",
        };
        seed(target, &format!("made{number}"), &text)?;
        // One text and one page are enough of all forms of a report.
        if number == 4 || number >= 7 {
            seed("any_file", &format!("{target}{number}"), &text)?;
        }
    }
    Ok(())
}

fn seed(target: &str, name: &str, text: &str) -> std::io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(name), text)
}
