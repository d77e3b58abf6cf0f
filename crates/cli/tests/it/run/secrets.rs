//! Secrets of a user reach no file and no line, and files are closed to others.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::mindful::{Mindful, ended, files, message, null, printed, whole};

const SECRET: &str = "s3cr3t-word";

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn no_secret_of_an_old_configuration_reaches_the_plan() {
    let mindful = Mindful::new();
    for line in [
        format!("DBNAME=bench\nCONNECT_STRING=\"host=db user=bench password={SECRET} dbname=bench\""),
        format!("DBNAME=bench\nCONNECT_STRING=\"password='{SECRET} {SECRET}' host=db\""),
        format!("CONNECT_STRING=postgres://bench:{SECRET}@db/bench"),
        format!("CONNECT_STRING='postgres://bench@db/bench?password={SECRET}'"),
        format!("DBNAME=bench\nPGPASSWORD={SECRET} psql -c 'select 1'"),
        format!("DBNAME=bench\nexport PGPASSWORD={SECRET}"),
        format!("DBNAME=bench\npsql postgres://bench:{SECRET}@db/bench"),
    ] {
        let text = format!("NUM_SCHEMAS=4\nNUM_THREADS=2\n{line}\n");
        fs::write(mindful.path("pgio.conf"), text).unwrap();
        let output = mindful.succeed("import pgio.conf --yes --output mindful.toml");
        let plan = mindful.path("mindful.toml");
        let written = fs::read_to_string(&plan).unwrap() + &printed(&output);
        assert!(!written.contains(SECRET), "{line}:\n{written}");
        assert_eq!(mode(&plan), 0o600);
    }
    fs::write(mindful.path("pgio.conf"), format!("NUM_THREADS=password={SECRET}\nNUM_SCHEMAS=1\n")).unwrap();
    let output = mindful.run("import pgio.conf");
    assert!(!output.status.success() && !message(&output).contains(SECRET), "{output:?}");
}

#[test]
fn a_target_without_a_scheme_is_refused_without_its_secret() {
    let mindful = Mindful::new();
    for target in ["scott/SECRET@db", "scott:SECRET@db/x", "//me:SECRET@db", "host=db password=SECRET", "me,SECRET"] {
        let refusal = mindful.refusal(["plan", "--target", &target.replace("SECRET", SECRET)]);
        assert!(refusal.contains("no engine has the scheme") && !refusal.contains(SECRET), "{refusal}");
    }
}

#[test]
fn a_variable_that_is_no_text_is_named_and_not_shown() {
    let mindful = Mindful::new();
    let odd = OsStr::from_bytes(b"s3cret\xff");
    for (name, target) in [
        ("MYSQL_PWD", "mysql://u@127.0.0.1:1/"),
        ("PGPASSWORD", "postgres://u@127.0.0.1:1/b"),
        #[cfg(feature = "oracle")]
        ("ORACLE_PASSWORD", "oracle://u@127.0.0.1:1/b"),
        #[cfg(feature = "oracle")]
        ("ORACLE_WALLET_PASSWORD", "oracle://u@127.0.0.1:1/b"),
    ] {
        let mut command = mindful.command(format!("doctor --target {target}"));
        // A variable that does not concern mindful.
        command.env("X", OsStr::from_bytes(b"\xff")).env("ORACLE_PASSWORD", "p").env(name, odd);
        let output = command.output().unwrap();
        let said = whole(&output);
        assert!(!said.contains("s3cret") && !said.contains("panicked"), "{name}: {said}");
        assert!(matches!(output.status.code(), Some(2 | 3)) && output.stderr.split(|byte| *byte == b'\n').count() == 2);
        assert!(said.contains(&format!("{name} is not UTF-8")) || name == "PGPASSWORD", "{name}: {said}");
    }
}

#[test]
fn no_secret_of_a_command_or_url_reaches_file_or_screen() {
    let mindful = Mindful::new();
    let hook = format!("true --api-token {SECRET} --password={SECRET} -H 'Authorization: Bearer {SECRET}'");
    let failing = format!("PGPASSWORD={SECRET} false");
    let hooks = ["--hook-before", &hook, "--hook-end", &failing, "--hook-failure", "warn"];
    let ran = mindful.run(null("sweep", ("--sessions 1,2", hooks)));
    assert!(ended(&ran), "{ran:?}");
    let swept = fs::read_dir(mindful.runs()).unwrap().next().unwrap().unwrap().file_name();
    let resume = ["sweep", "--resume", swept.to_str().unwrap()];
    let exporter = format!("http://bench:{SECRET}@127.0.0.1:1/metrics");
    let planned = mindful.run(format!("plan --target null: --node-exporter {exporter}"));
    let as_json = mindful.run(("plan --format json --target null:", hooks));
    let refused = mindful.run(null("run", format!("--node-exporter {exporter}")));
    for output in [&ran, &planned, &as_json, &refused, &mindful.run("show"), &mindful.run("export --as html")] {
        assert!(!whole(output).contains(SECRET), "{output:?}");
    }
    let stored = files(mindful.folder());
    assert!(stored.len() >= 4, "{stored:?}");
    for file in stored {
        assert!(!fs::read_to_string(&file).unwrap().contains(SECRET), "{}", file.display());
        assert_eq!(mode(&file), 0o600, "{}", file.display());
        assert_eq!(mode(file.parent().unwrap()), 0o700, "{}", file.display());
    }
    // A command stored without its secret is not run without it.
    mindful.refuses(resume, "without its secret…--hook-");
    let resumed = mindful.run((resume, ["--hook-before", &hook, "--hook-end", "true"]));
    assert!(ended(&resumed), "{resumed:?}");
}
