//! The cost of an hour in the plan: figures for the money in every form, and in comparisons.

use serde_json::Value;

use crate::mindful::{Mindful, Words, assert_has, cell, null, unwrapped};

const RUN: &str = "--sessions 2 --warmup 200ms --null-latency 2ms";

fn run(mindful: &Mindful, more: impl Words) -> Value {
    mindful.measured((RUN, more))
}

#[test]
fn operations_per_price_are_in_every_form_of_a_report() {
    let mindful = Mindful::new();
    let ran = run(&mindful, "--price '1.92 EUR'");
    assert_eq!(ran["price"], serde_json::json!({ "per_hour": 1.92, "currency": "EUR" }), "{ran:#}");
    let step = &ran["steps"][0];
    let per_s = step["ops"]["select"]["per_s"].as_f64().unwrap();
    let bought = step["per_price"]["operations"].as_f64().unwrap();
    assert!((bought / (per_s * 3600.0 / 1.92) - 1.0).abs() < 1e-9, "{bought} for one EUR at {per_s} a second");

    let text = mindful.text("show latest");
    assert!(text.contains("at 1.92 EUR an hour, 1 EUR buys"), "{text}");
    let csv = mindful.text("export latest --as csv");
    assert_eq!(cell(&csv, 1, "price"), "1.92 EUR");
    assert_eq!(cell(&csv, 1, "per_price_operations").parse::<f64>().unwrap().to_bits(), bought.to_bits());
    assert_has(&mindful.text("show latest --explain per_price.operations"), "3600 / price per hour");

    let without = run(&mindful, "");
    assert!(without["price"].is_null() && without["steps"][0]["per_price"]["operations"].is_null(), "{without:#}");
}

#[test]
fn the_table_of_a_price_in_a_plan_adds_up_in_every_form() {
    let mindful = Mindful::new();
    let table = "[price]\ncompute = 0.5\nstorage = \"73/month\"\niops = \"36.5/month\"\nnetwork = 0.05\nreplicas = 2\n\
                 currency = \"CHF\"\ndate = 2026-11-01\nsource = \"offer, with tax\"\n";
    std::fs::write(mindful.path("p.toml"), format!("tag = \"priced\"\n{table}")).unwrap();
    let ran = run(&mindful, "--plan p.toml");
    let price = &ran["price"];
    assert!((price["per_hour"].as_f64().unwrap() - 2.7).abs() < 1e-9, "{ran:#}");
    assert_eq!(price["parts"].as_array().unwrap().len(), 5, "{ran:#}");
    let parts = "compute 0.5/hour + iops 36.5/month + network 0.05/hour + replicas 2/hour + storage 73/month";
    let in_full = [parts, "2026-11-01", "offer, with tax"];
    for form in ["text", "html", "markdown", "csv"] {
        let text = match form {
            "text" => mindful.text("show priced"),
            form => mindful.text(format!("export priced --as {form}")),
        };
        let words = unwrapped(&text);
        let sum = if form == "csv" { "2.7 CHF" } else { "1,971 CHF a month" };
        assert!(words.contains(sum), "{form}: {text}");
        assert!(form == "csv" || in_full.iter().all(|part| words.contains(part)), "{form}: {text}");
    }
    for (line, why) in
        [("licence = 3", "no `licence`"), ("compute = true", "compute is a boolean"), ("compute = 1", "currency")]
    {
        std::fs::write(mindful.path("bad.toml"), format!("[price]\n{line}\n")).unwrap();
        assert_has(&mindful.refusal(null("run", "--plan bad.toml")), &format!("price…{why}"));
    }
}

#[test]
fn an_invalid_price_is_refused() {
    let mindful = Mindful::new();
    for price in ["0 EUR", "-1 EUR", "1e12 EUR", "1.92", "cheap"] {
        assert_has(&mindful.refusal(null("run", ["--price", price])), "--price…'1.92 EUR'");
    }
}

#[test]
fn sides_are_compared_for_the_money_in_one_currency_alone() {
    let mindful = Mindful::new();
    for (tag, price) in [("dear", "4 EUR"), ("cheap", "2 EUR"), ("foreign", "2 USD")] {
        run(&mindful, ["--tag", tag, "--price", price]);
    }
    let compared = mindful.json("compare dear cheap");
    let (ratio, money) = (compared["ratio"].as_f64().unwrap(), compared["for_the_money"]["ratio"].as_f64().unwrap());
    assert!((money / ratio - 2.0).abs() < 1e-9, "half the price: {compared:#}");
    let text = mindful.text("compare dear cheap");
    assert!(text.contains("for the money: ratio") && text.contains("4 EUR an hour against 2 EUR"), "{text}");
    let gated = mindful.json("compare dear cheap --figure per-price");
    let gated_ratio = gated["ratio"].as_f64().unwrap();
    assert!((gated_ratio / money - 1.0).abs() < 0.01, "operations of as many blocks each: {money}, {gated:#}");
    mindful.refuses([("compare dear foreign", "the currencies differ")]);
}
