//! Files made to do harm: each verb on them ends in one line.

use std::process::Stdio;

use rusqlite::Connection;

use crate::mindful::{Mindful, message};
use crate::stops::end_of;

const ENDLESS: &str = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, 1, 1 FROM n";

#[test]
fn a_sqlite_file_made_to_do_harm_ends_verbs_in_a_line() {
    let view = format!(
        "DROP TABLE mindful_schema; CREATE VIEW mindful_schema (schema, table_bytes, index_bytes) AS {ENDLESS}"
    );
    let trigger = format!("CREATE TRIGGER t AFTER UPDATE ON blocks_1 BEGIN INSERT INTO mindful_schema {ENDLESS}; END");
    for (laid, why) in
        [(&view, "mindful_schema is not as mindful made it: it is a view"), (&trigger, "it has the trigger t")]
    {
        let mindful = Mindful::new();
        let path = mindful.path("data.db");
        let target = format!("sqlite:{}", path.display());
        mindful.succeed(format!("load --target {target} --schemas 1 --scale 500"));
        Connection::open(&path).unwrap().execute_batch(laid).unwrap();
        let before = std::fs::read(&path).unwrap();
        let run = "run --schemas 1 --scale 500 --update-pct 50 --warmup 0s --duration 1s";
        for verb in ["doctor", run, "verify", "cleanup --yes"] {
            let mut command = mindful.command((verb, &format!("--target {target}")));
            let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            let (code, _) = end_of(&mut child);
            let output = child.wait_with_output().unwrap();
            let message = message(&output);
            let lines = message.lines().filter(|line| line.starts_with("mindful: ")).count();
            assert!(code == Some(3) && lines == 1 && message.contains(why), "{verb:?}: {code:?} {message}");
        }
        assert!(before == std::fs::read(&path).unwrap(), "{laid}");
    }
}
