//! Knobs of the workload through whole commands, on SQLite and on the engine without I/O.

use crate::mindful::{Mindful, PAUSES, Words, json, message, proofs, text};

fn run(mindful: &Mindful, args: impl Words) -> serde_json::Value {
    mindful.json(("run --warmup 0s --duration 2s --sessions 2", args))
}

#[test]
fn a_run_that_finds_its_dataset_carries_the_proof_of_the_load() {
    let mindful = Mindful::new();
    let plan = ("--target sqlite:data.db --schemas 2 --scale 1000", PAUSES);
    let (first, second) = (run(&mindful, plan), run(&mindful, plan));
    proofs::hold(&first, &second, &mindful.text("show latest --full"));
}

#[test]
fn verify_proves_a_loaded_file_and_refuses_an_empty_one() {
    let mindful = Mindful::new();
    let verify = |args: &str| mindful.run(("verify --target sqlite:data.db", args));
    let nothing = verify("");
    assert_eq!(nothing.status.code(), Some(3), "{nothing:?}");
    mindful.succeed("load --target sqlite:data.db --schemas 2 --scale 1000");
    for args in ["", "--full"] {
        let proof = text(&verify(args));
        assert!(proof.starts_with("the layout of 2 schemas is right: checked all 2,000 blocks"), "{proof}");
    }
    let last = &json(&verify("--full --format json"))["schemas"][1];
    assert_eq!((&last["rows"], &last["sample"]), (&1_000.into(), &serde_json::Value::Null));
}

#[test]
fn stored_pages_compress_as_asked_in_load_and_run() {
    for asked in ["1", "2", "4"] {
        let mindful = Mindful::new();
        let data = format!("--schemas 1 --scale 600 --compress-ratio {asked}");
        let loaded = mindful.run(("load --target sqlite:data.db", data));
        let ran = run(&mindful, ("--target sqlite:data.db", PAUSES));
        let record = mindful.record(&ran);
        let (_, kept) = record.split_once("\"stored_blocks\":").expect("the run keeps no fact of its stored blocks");
        for text in [&message(&loaded), kept] {
            let ratio = text.split_once("compress ratio ").and_then(|(_, rest)| rest.split([',', ' ']).next());
            let ratio: f64 = ratio.unwrap_or_else(|| panic!("no ratio in: {text}")).parse().unwrap();
            assert!((ratio / asked.parse::<f64>().unwrap() - 1.0).abs() < 0.1, "{ratio} for {asked}: {text}");
        }
    }
}

/// Updates mark the blocks they visit: a fixed hot set marks a tenth of them, one that moves every 20 operations marks
/// tenth after tenth.
#[test]
fn a_hot_set_that_moves_visits_new_blocks() {
    let visited = |skew: &str| {
        let mindful = Mindful::new();
        let file = mindful.path("data.db");
        let data = "--target sqlite:data.db --schemas 1 --scale 1000";
        mindful.succeed(("load", data));
        let before = pages(&file);
        let work = format!("--sessions 1 --ops 200 --work-unit 1 --update-pct 100 --skew {skew}");
        let ran = mindful.json(("run --warmup 0s", data, work));
        assert_eq!(ran["finished"], true, "{ran:#}");
        pages(&file).iter().zip(&before).filter(|(now, then)| now != then).count()
    };
    let (stays, moves) = (visited("hotset:10%,100%"), visited("hotset:10%,100%,20"));
    // 200 draws of 100 blocks reach 87 of them; 10 hot sets of 100 blocks with 20 draws each reach 182 blocks.
    assert!((60..=102).contains(&stays), "{stays} blocks by the hot set that stays");
    assert!((150..=202).contains(&moves), "{moves} blocks by the hot set that moves");
}

fn pages(file: &std::path::Path) -> Vec<Vec<u8>> {
    std::fs::read(file).unwrap().chunks(8192).map(<[u8]>::to_vec).collect()
}
