//! The binary against a server that speaks Oracle's protocol, of another maker, with a made-up database behind it.

#[expect(dead_code, reason = "the engine's own tests use all of it")]
#[path = "../../../../engines/oracle/tests/it/fake/mod.rs"]
mod fake;

use std::process::Output;

use self::fake::wire::Server;
use self::fake::{Database, PASSWORD};
use crate::mindful::{Mindful, json};

struct Place {
    mindful: Mindful,
    target: String,
}

impl Place {
    /// Runs `verb` with `args` on the server; the password goes by the environment.
    fn run(&self, verb: &str, args: &[&str]) -> Output {
        let all = [&[verb, "--target", &self.target, "--connect-timeout", "1m"], args].concat();
        let output = self.mindful.command(&all).env("ORACLE_PASSWORD", PASSWORD).output().unwrap();
        let told = String::from_utf8_lossy(&[&*output.stdout, &*output.stderr].concat()).into_owned();
        assert!(!told.contains(PASSWORD), "{verb} tells the password");
        assert!(!told.contains("panicked"), "{told}");
        output
    }
}

fn text(output: &Output) -> String {
    let words = String::from_utf8_lossy(&[&*output.stdout, &*output.stderr].concat()).into_owned();
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn load_run_doctor_and_cleanup_go_through_the_real_driver() {
    let database = Database::create("binary");
    let server = Server::start(&database, 24);
    let target = format!("oracle://bench@127.0.0.1:{}/made_up", server.port);
    let place = Place { mindful: Mindful::new(), target };
    let small = ["--schemas", "1", "--scale", "400", "--sessions", "1"];
    let loaded = place.run("load", &small[..4]);
    assert!(loaded.status.success(), "{}", text(&loaded));
    let short = [&small[..], &["--warmup", "0s", "--duration", "2s", "--update-pct", "20"]].concat();
    let run = json(&place.run("run", &[&short[..], &["--format", "json"]].concat()));
    assert!(run["notice"].as_str().unwrap().contains("without its consent"), "{run:#}");
    assert!(run["steps"][0]["ops"]["select"]["count"].as_f64().unwrap() > 100.0, "{run:#}");
    for form in ["csv", "markdown", "html"] {
        let id = run["id"].as_str().unwrap();
        let exported = text(&place.mindful.run(&["export", id, "--as", form, "--output", "-"]));
        assert!(exported.contains("Your agreement with Oracle"), "{form}: {exported}");
    }
    let doctor = text(&place.run("doctor", &small));
    assert!(doctor.contains("PASS one row a block") && doctor.contains("mindful-doctor-"), "{doctor}");
    let cleaned = place.run("cleanup", &["--yes"]);
    assert!(cleaned.status.success() && database.state().tables.is_empty(), "{}", text(&cleaned));
    let grants = text(&place.mindful.run(&["engines", "oracle", "--grants"]));
    assert!(grants.contains("GRANT CREATE SESSION, CREATE TABLE") && grants.contains("experimental"), "{grants}");
}
