//! `--redact`: no name of a host, user, address, path, database, device or foreign process is in any form.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use mindful_conformance::not_run;
use serde_json::{Value, json};

use crate::mindful::{Mindful, id, json};

/// Names in a run, each in a typical place.
const NAMES: [&str; 27] = [
    "acmehost7",
    "acmehost7.corp.example",
    "annabel",
    "/home/annabel",
    "/srv/acme-vault",
    "ordersdb",
    "10.77.3.9",
    "fe80::77:1",
    "02:42:ac:77:00:02",
    "nvme7n3",
    "SER1AL77",
    "/mnt/acmemount",
    "acmesync",
    "acme backup job",
    "/var/run/acmesock",
    "acme-hook.sh",
    "acmeplan.toml",
    "acmecluster",
    "acmeexporter",
    "acmevg",
    "acmestandby",
    "acmereport.txt",
    "ACMESID",
    "acme-west-3c",
    "acme7.4xlarge",
    "ami-ac3e77",
    "vol-ac3e77",
];

/// What a cloud states.
const OF_CLOUD: [(&str, &str); 4] = [
    ("cloud.zone", "acme-west-3c"),
    ("client.cloud.machine_type", "acme7.4xlarge"),
    ("cloud.image", "ami-ac3e77"),
    ("cloud.device.nvme7n3.volume", "vol-ac3e77"),
];

const TARGET: &str = "postgres://annabel@acmehost7.corp.example:5432/ordersdb?host=/var/run/acmesock";

/// Puts [`NAMES`] into the lines of a real run, at the places where a run may contain them.
fn named(lines: &str) -> String {
    let mut named = Vec::new();
    for line in lines.lines() {
        let mut event: Value = serde_json::from_str(line).unwrap();
        let mut more = Vec::new();
        match event["event"].as_str().unwrap() {
            "head" => {
                event["target"] = json!(TARGET);
                event["plan"]["tag"] = json!("tuesday on acmehost7");
                event["plan"]["hooks"]["before"] = json!("/srv/acme-vault/acme-hook.sh --for annabel");
                let settings = &mut event["settings"];
                settings["target"] = json!({"value": TARGET, "origin": {"found": "/home/annabel/acmeplan.toml"}});
                settings["before"] = json!({"value": "sh acme-hook.sh", "origin": {"flag": "--before"}});
                settings["data_dir"] = json!({"value": "/srv/acme-vault", "origin": {"file": "acmeplan.toml"}});
                settings["node_exporter"] = json!({"value": "http://acmeexporter:9100", "origin": {"flag": "-"}});
                settings["of_a_later_version"] = json!({"value": "acmevg", "origin": {"flag": "-"}});
                event["imported"] = json!({"what": "AWR report (text)", "files": ["acmereport.txt"]});
            }
            "environment" => {
                let facts = &mut event["facts"];
                for (key, value) in OF_CLOUD.into_iter().chain([
                    ("storage.device", "nvme7n3"),
                    ("device.nvme7n3.serial", "SER1AL77"),
                    ("storage.mount_point", "/mnt/acmemount"),
                    ("storage.source", "/dev/mapper/acmevg-root"),
                    ("storage.mount_options", "rw,addr=10.77.3.9,clientaddr=fe80::77:1"),
                    ("host.name", "acmehost7"),
                    ("host.mac", "02:42:ac:77:00:02"),
                ]) {
                    facts[key] = json!(value);
                }
            }
            "described" => {
                let facts = &mut event["description"]["facts"];
                for (key, value) in [
                    ("cluster_name", "acmecluster"),
                    ("synchronous_standby_names", "FIRST 1 (acmestandby)"),
                    ("unix_socket_directories", "/var/run/acmesock"),
                    ("primary_conninfo", "host=acmehost7 user=annabel"),
                    ("Instance SID", "ACMESID"),
                    ("listen_addresses", "10.77.3.9"),
                ] {
                    facts[key] = json!(value);
                }
                event["host"]["data_paths"] = json!(["/srv/acme-vault/pgdata", "/dev/nvme7n3"]);
                for (text, evidence) in [
                    ("Devices of acmehost7 are slow.", "nvme7n3: mq-deadline on /mnt/acmemount"),
                    ("Others use the CPU.", "40 % busy; most by acme backup job (pid 7), 0.80 cores"),
                    ("ACMESID of acmecluster is asked by acmesync.", "acmesync ran for annabel"),
                ] {
                    let (event, code, severity) = ("finding", "io-scheduler", "warning");
                    more.push(json!({"event": event, "code": code, "severity": severity, "text": text, "evidence": evidence}));
                }
                more.push(json!({"event": "note", "text": "hook acme-hook.sh of ordersdb said acmestandby, see /home/annabel/x"}));
            }
            "source" if event["source"] == "stat" || event["source"] == "client" => {
                event["metrics"][0]["help"] = json!("from acmehost7");
            }
            "started" => more.push(json!({"event": "busiest", "source": "neighbours", "boundary": 1, "processes": [
                {"pid": 7, "name": "acme backup job", "cpu_us": 900_000.0}, {"pid": 8, "name": "acmesync", "cpu_us": 800_000.0}
            ]})),
            "step_end" => event["error"] = json!("connection to 10.77.3.9 lost: acmehost7 is gone"),
            "finished" => event["error"] = json!("see postgres://annabel@acmehost7/ordersdb"),
            _ => {}
        }
        named.push(event);
        named.extend(more);
    }
    let lines: Vec<String> = named.iter().map(Value::to_string).collect();
    lines.join("\n") + "\n"
}

/// Puts [`NAMES`] into a run folder, and changes its lines by `more`.
fn rename(folder: &Path, more: impl Fn(&str) -> String) {
    let log = folder.join("run.jsonl");
    let lines = named(&std::fs::read_to_string(&log).unwrap());
    std::fs::write(log, more(&lines)).unwrap();
    std::fs::remove_file(folder.join("summary.json")).unwrap();
}

pub(crate) fn forms(mindful: &Mindful) -> Vec<String> {
    let refusal = mindful.refusal("export --as there-is-no-such-form");
    let (_, listed) = refusal.split_once("choose ").unwrap_or_else(|| panic!("{refusal}"));
    assert!(listed.matches(", ").count() > 10 && listed.contains("html"), "{refusal}");
    listed.trim().split(", ").map(str::to_owned).collect()
}

/// Exports run `id` in all forms, and both charts and comparison; `(form, bytes)`.
fn exported(mindful: &Mindful, id: &str, more: &str) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    let mut take = |form: &str, args: &str| {
        let output = mindful.run(format!("export {id} {args} {more}"));
        // Not every form supports every run.
        assert!([Some(0), Some(2)].contains(&output.status.code()), "{form}: {output:?}");
        all.push((form.to_owned(), [output.stdout, output.stderr].concat()));
    };
    // Compressed data may contain any two letters; pictures.rs compares pixels with their text.
    for form in forms(mindful).into_iter().filter(|form| form != "png") {
        take(&form, &format!("--as {form}"));
    }
    for chart in ["time", "distribution", "ledger"] {
        take(chart, &format!("--as svg --chart {chart}"));
    }
    take("comparison", &format!("{id} --as html"));
    take("site", "--as site --output site --yes");
    for page in std::fs::read_dir(mindful.path("site")).unwrap() {
        all.push(("site".to_owned(), std::fs::read(page.unwrap().path()).unwrap()));
    }
    all
}

fn found(bytes: &[u8], name: &str) -> bool {
    bytes.windows(name.len()).any(|window| window == name.as_bytes())
}

/// None of `names` is in `bytes`.
fn assert_none(names: &[&str], bytes: &[u8], place: &str) {
    for name in names {
        assert!(!found(bytes, name), "{name} in {place}: {}", around(bytes, name));
    }
}

fn around(bytes: &[u8], name: &str) -> String {
    let at = bytes.windows(name.len()).position(|window| window == name.as_bytes()).unwrap_or(0);
    String::from_utf8_lossy(&bytes[at.saturating_sub(120)..(at + 120).min(bytes.len())]).into_owned()
}

#[test]
fn no_name_leaves_in_any_form() {
    let (here, there) = (Mindful::new(), Mindful::new());
    std::fs::create_dir(there.path("acme-orders")).unwrap();
    let target = format!("sqlite:{}", there.path("acme-orders/ledger.db").display());
    let work = "--scale 4MiB --warmup 0s --duration 2s --sessions 2 --tag first";
    let ran = there.json((format!("run --target {target}"), work));
    let (id, run) = (id(&ran), there.run_folder(&ran));
    // The real names of this run: the folder of its data, and this host.
    let host = rustix::system::uname();
    let host = host.nodename().to_string_lossy();
    for (form, bytes) in exported(&there, id, "--redact") {
        assert_none(&["acme-orders", "ledger.db", &there.folder().display().to_string()], &bytes, &form);
        let text = String::from_utf8_lossy(&bytes);
        // A host's name may be a part of another word.
        let mut words = text.split(|c: char| !c.is_alphanumeric() && !"._-".contains(c));
        assert!(!words.any(|word| word == host), "{host} in {form}");
        assert!(form != "json" || text.contains("sqlite:/path-"), "{text}");
    }
    // With all the names that a run can hold.
    rename(&run, str::to_owned);
    here.succeed(["import", run.to_str().unwrap()]);
    let mut seen = BTreeSet::new();
    for (_, bytes) in exported(&here, id, "") {
        seen.extend(NAMES.into_iter().filter(|name| found(&bytes, name)));
    }
    assert_eq!(seen.len(), NAMES.len(), "each name would leave without --redact: {seen:?}");
    for (form, bytes) in exported(&here, id, "--redact") {
        assert_none(&NAMES, &bytes, &form);
    }
    figures_stay(&here, id);
    no_name_leaves_in_a_pack(&here, id);
}

/// The content of a pack for `tar`, and after its import.
fn no_name_leaves_in_a_pack(mindful: &Mindful, id: &str) {
    mindful.succeed(format!("pack {id} --redact --output p.tar.zst"));
    let elsewhere = Mindful::new();
    elsewhere.succeed(["import", mindful.path("p.tar.zst").to_str().unwrap()]);
    // Counters there contain names of devices and interfaces.
    let figures = |mindful: &Mindful| {
        let mut run = json(&mindful.run(format!("export {id} --as json")));
        for step in run["steps"].as_array_mut().unwrap() {
            step.as_object_mut().unwrap().remove("observed").unwrap();
        }
        run["steps"].clone()
    };
    assert_eq!(figures(&elsewhere), figures(mindful), "it is the same run");
    let unpacked = Command::new("tar").args(["--zstd", "-xf", "p.tar.zst"]).current_dir(mindful.folder()).status();
    if !unpacked.is_ok_and(|status| status.success()) {
        return not_run("tar cannot read zstd here: apt-get install tar zstd");
    }
    let files: Vec<_> = std::fs::read_dir(mindful.path(id)).unwrap().map(|file| file.unwrap().path()).collect();
    assert_eq!(files.len(), 6, "{files:?}");
    for file in files {
        assert_none(&NAMES, &std::fs::read(&file).unwrap(), &file.display().to_string());
    }
}

#[test]
fn no_name_leaves_with_the_xml_of_a_gate() {
    let mindful = Mindful::new();
    let (plain, of_acme) = (mindful.measured("--sessions 1"), mindful.measured("--sessions 1"));
    rename(&mindful.run_folder(&of_acme), |lines| {
        lines.replace(r#""description":{"#, r#""description":{"notice":"Ask your lawyer","#)
    });
    let sides = [&plain, &of_acme].map(|run| [id(run); 5].join(",")).join(" ");
    let gated = |more: &str| {
        let gate = "--force --figure throughput --fail-if slower>5% --undecided pass --junit gate.xml --yes";
        let output = mindful.run((format!("compare {sides}"), gate, more));
        assert!([Some(0), Some(4)].contains(&output.status.code()), "{output:?}");
        [output.stdout, std::fs::read(mindful.path("gate.xml")).unwrap()]
    };
    let names = |bytes: &[u8]| NAMES.into_iter().filter(|name| found(bytes, name)).collect::<Vec<_>>();
    let [_, xml] = gated("");
    assert!(!names(&xml).is_empty(), "{}", String::from_utf8_lossy(&xml));
    for bytes in gated("--redact") {
        let notice = r#"<property name="notice" value="Ask your lawyer"/>"#;
        assert_eq!(bytes.starts_with(b"<?xml"), found(&bytes, notice), "what the target asks every report to say");
        assert!(names(&bytes).is_empty(), "{:?} in {}", names(&bytes), String::from_utf8_lossy(&bytes));
    }
}

/// Without names it is the same run: all figures are unchanged.
fn figures_stay(mindful: &Mindful, id: &str) {
    let summary = |more: &str| json(&mindful.run((format!("export {id} --as json"), more)));
    let (open, closed) = (summary(""), summary("--redact"));
    for figure in ["blocks_visited_per_s", "physical_reads_per_s", "cpu", "ops"] {
        assert_eq!(open["steps"][0][figure], closed["steps"][0][figure], "{figure}");
    }
    assert!(closed["steps"][0]["blocks_visited_per_s"].as_f64() > Some(0.0), "{closed}");
    assert!(closed["target"].as_str().unwrap().starts_with("postgres://user-"), "{closed}");
}
