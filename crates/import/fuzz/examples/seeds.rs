//! Writes the seeds of fuzzing: an artificial file of each kind, in `corpus/TARGET/`.

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
    seed("configuration", "slob", SLOB)?;
    seed("configuration", "pgio", PGIO)
}

fn seed(target: &str, name: &str, text: &str) -> std::io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(name), text)
}

const SLOB: &str = "\
UPDATE_PCT=50
RUN_TIME=600   # ten minutes
SCALE=160M
WORK_UNIT=64
REDO_STRESS=HEAVY
SYSDBA_PASSWD=\"change me\"
DO_HOTSPOT=TRUE
HOTSPOT_MB=8
HOTSPOT_FREQUENCY=3
THINK_TM_FREQUENCY=5
THINK_TM_MIN=.1
export LOAD_PARALLEL_DEGREE=4
";
const PGIO: &str = "\
UPDATE_PCT=20
RUN_TIME=120
NUM_SCHEMAS=4
NUM_THREADS=2
SCALE=1G
DBNAME=pg10
";
