//! Comparisons of more than two sides in a known order.

use serde_json::Value;

use crate::mindful::{Mindful, assert_has, cell, json, message, null, printed, unwrapped};

/// Runs of sides by tag, latency of a read and price, in turn.
fn measure(mindful: &Mindful, sides: &[(&str, &str, &str)], runs: usize) {
    for _ in 0..runs {
        for (tag, latency, price) in sides {
            let price = if price.is_empty() { String::new() } else { format!("--price '{price}'") };
            let args =
                format!("--sessions 1 --work-unit 1 --warmup 100ms --tag {tag} --null-latency {latency} {price}");
            mindful.run(null("run", &args));
        }
    }
}

fn names(group: &Value) -> Vec<&str> {
    group["sides"].as_array().unwrap().iter().map(|side| side["name"].as_str().unwrap()).collect()
}

/// The side of that name in the first group.
fn side<'a>(ranking: &'a Value, name: &str) -> &'a Value {
    let mut all = ranking["groups"][0]["sides"].as_array().unwrap().iter();
    all.find(|side| side["name"] == name).unwrap_or_else(|| panic!("no {name}: {ranking:#}"))
}

/// Latencies so far apart that other use of the CPU does not change a rank; a short window that others cut is INVALID.
const ARGS: &str = "--force --by throughput";

#[test]
fn sides_are_ordered_in_every_form_with_prices_and_a_gate() {
    let mindful = Mindful::new();
    let sides = [
        ("slow", "40ms", "1 EUR"),
        ("fast", "10ms", "compute 1 + storage 730/month EUR, 2026-11-01"),
        ("same", "40ms", "3 EUR"),
    ];
    measure(&mindful, &sides, 4);
    let compare = |more: &str| mindful.run(("compare slow fast same", ARGS, more));
    let ranking = json(&compare("--format json --margin 30"));
    assert_eq!(names(&ranking["groups"][0])[0], "fast", "{ranking:#}");
    let side = |name| side(&ranking, name);
    assert_eq!(side("fast")["rank"], serde_json::json!([1, 1]), "{ranking:#}");
    assert_eq!([&side("slow")["rank"], &side("same")["rank"]], [&serde_json::json!([2, 3]); 2], "{ranking:#}");
    let by_best = side("slow")["by_best"].as_f64().unwrap();
    assert!((by_best - 0.25).abs() < 0.05, "{ranking:#}");
    assert!((side("fast")["per_month"].as_f64().unwrap() - 1460.0).abs() < 1e-6, "{ranking:#}");
    assert_eq!([&side("fast")["efficient"], &side("same")["efficient"]], [true, false], "{ranking:#}");
    let sentence = ranking["sentences"][0].as_str().unwrap();
    assert!(sentence.starts_with("fast is ") && sentence.ends_with("cannot be told apart."), "{sentence}");
    assert!(sentence.contains("and costs "), "{sentence}");

    let text = printed(&compare("--margin 30"));
    assert!(unwrapped(&text).starts_with(sentence), "{text}");
    let export = |form: &str| mindful.text(format!("export slow fast same --by throughput --margin 30 --as {form}"));
    let csv = export("csv");
    let row = (1..=3).find(|row| cell(&csv, *row, "side") == "slow").unwrap();
    assert_eq!(cell(&csv, row, "by_best").parse(), Ok(by_best), "{csv}");
    for form in ["markdown", "html"] {
        let page = export(form);
        assert!(page.contains(&format!("{by_best:.2}")) && page.contains("1,460 EUR"), "{page}");
        assert!(page.contains("compute 1/hour + storage 730/month, 2026-11-01"), "{page}");
    }
    assert_has(export("html"), "data-chart=\"ranks\"…data-chart=\"prices\"");

    let gated = compare("--fail-if 'not in the first rank' --junit gate.xml");
    assert_eq!(gated.status.code(), Some(4), "{gated:?}");
    assert!(printed(&gated).ends_with("gate 'not in the first rank' for same: crossed\n"), "{gated:?}");
    let best_last = "compare slow same fast --fail-if slower>30%";
    assert_eq!(mindful.run((best_last, ARGS)).status.code(), Some(0));
    mindful.refuses("compare slow same fast --fail-if slower>5", "'slower>5%'");
}

#[test]
fn other_measurements_and_invalid_sides_have_no_common_rank() {
    let mindful = Mindful::new();
    measure(&mindful, &[("one", "10ms", ""), ("two", "20ms", "")], 4);
    let run = |more: &str| mindful.run(null("run", ("--duration 2s --warmup 100ms", more)));
    run("--tag wide --work-unit 8 --sessions 1");
    let broken = "--tag broken --work-unit 1 --null-fail 1@1500ms --sessions 2 --null-latency 10ms";
    run(broken);
    let ranking = mindful.json("compare one two wide broken --by throughput");
    let groups = ranking["groups"].as_array().unwrap();
    assert_eq!(groups.len(), 2, "{ranking:#}");
    assert_eq!(names(&groups[1]), ["wide"], "{ranking:#}");
    let last = side(&ranking, "broken");
    assert!(last["rank"].is_null() && last["no_rank"].as_str().unwrap().starts_with("INVALID"), "{ranking:#}");
    let alone = mindful.json("compare one broken --by throughput");
    assert_eq!(alone["sentences"], serde_json::json!(["only one has a rank by throughput."]), "{alone:#}");
    run("--tag worse --work-unit 1 --null-fail 1@500ms --sessions 2 --null-latency 10ms");
    assert_has(message(&mindful.run("compare broken worse --by throughput")), "broken (INVALID…worse (INVALID…--force");
    let gate = "compare one two broken --by throughput --fail-if 'not in the first rank'";
    mindful.refuses(gate, "broken has no rank: INVALID");
}

#[test]
fn packs_and_folders_are_sides_and_prices_come_from_a_file() {
    let mindful = Mindful::new();
    measure(&mindful, &[("a", "10ms", ""), ("b", "20ms", ""), ("c", "40ms", "")], 2);
    std::fs::create_dir(mindful.path("packs")).unwrap();
    for (number, id) in mindful.json("list").as_array().unwrap().iter().enumerate() {
        if id["tag"] == "b" {
            mindful.text(format!("pack {} --output packs/{number}.tar.zst", crate::mindful::id(id)));
        }
    }
    let before = mindful.count_runs();
    std::fs::write(mindful.path("prices.toml"), "a = \"2 EUR\"\n[packs]\ncompute = 1\ncurrency = \"EUR\"\n").unwrap();
    let ranking = mindful.json(("compare a packs c --prices prices.toml", ARGS));
    let sides = ranking["groups"][0]["sides"].as_array().unwrap();
    assert_eq!(names(&ranking["groups"][0]), ["a", "packs", "c"], "{ranking:#}");
    assert_eq!(sides[1]["runs"].as_array().unwrap().len(), 2, "{ranking:#}");
    let months: Vec<_> = sides.iter().map(|side| side["per_month"].as_f64()).collect();
    assert_eq!(months, [Some(1460.0), Some(730.0), None], "{ranking:#}");
    assert_eq!(mindful.count_runs(), before, "packs are not stored");
}

#[test]
fn prices_in_another_currency_have_no_common_order() {
    let mindful = Mindful::new();
    measure(&mindful, &[("home", "10ms", ""), ("away", "20ms", ""), ("far", "40ms", ""), ("free", "20ms", "")], 2);
    let prices = "home = \"2 EUR\"\n[away]\ncompute = 0.1\ncurrency = \"USD\"\n[far]\nstorage = \"730/month\"\ncurrency = \"EUR\"\n";
    std::fs::write(mindful.path("prices.toml"), prices).unwrap();
    let compare = "compare home away far free --prices prices.toml --force --by";
    let ranking = mindful.json((compare, "throughput"));
    assert_eq!(names(&ranking["groups"][0])[0], "home", "{ranking:#}");
    // A side is compared with those of its own currency: nothing is cheaper than `away` in USD.
    for name in ["home", "away", "far"] {
        assert_eq!(side(&ranking, name)["efficient"], true, "{ranking:#}");
    }
    assert!(side(&ranking, "free")["efficient"].is_null(), "{ranking:#}");
    let sentence = ranking["sentences"][0].as_str().unwrap();
    assert!(!sentence.contains("costs"), "two currencies have no ratio: {sentence}");
    mindful.shows((compare, "throughput"), "1,460 EUR…73.0 USD…730 EUR");
}

#[test]
fn sweeps_are_ordered_by_reads_within_an_objective() {
    let mindful = Mindful::new();
    for (tag, capacity) in [("few", "2"), ("some", "4"), ("many", "8")] {
        let work = format!("--work-unit 1 --null-latency 10ms --null-capacity {capacity} --tag {tag}");
        mindful.run(null("sweep", (work, "--duration 2s --sessions 1,2,4,8")));
    }
    let ranked = |by: &str| mindful.run(("compare few some many --force --format json --by", by));
    let ranking = json(&ranked("'reads at p50<=16ms'"));
    assert_eq!(ranking["by"], "reads at p50<=16ms", "{ranking:#}");
    assert_eq!(names(&ranking["groups"][0]), ["many", "some", "few"], "{ranking:#}");
    assert_has(message(&ranked("'reads at p99.9<=1ms'")), "p99.9 needs 10,000 operations");
}
