//! The cost of an hour in the plan: figures for the money in every form, and in comparisons.

use serde_json::Value;

use crate::mindful::{Mindful, Words, assert_has, cell, figure, null, unwrapped};

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
    let per_s = figure(&step["ops"]["select"], "per_s");
    let bought = figure(&step["per_price"], "operations");
    assert!((bought / (per_s * 3600.0 / 1.92) - 1.0).abs() < 1e-9, "{bought} for one EUR at {per_s} a second");

    mindful.shows("show latest", "at 1.92 EUR an hour, 1 EUR buys");
    let csv = mindful.text("export latest --as csv");
    assert_eq!(cell(&csv, 1, "price"), "1.92 EUR");
    assert_eq!(cell(&csv, 1, "per_price_operations").parse::<f64>().unwrap().to_bits(), bought.to_bits());
    mindful.shows("show latest --explain per_price.operations", "3600 / price per hour");

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
    for form in ["show priced", "export priced --as html", "export priced --as markdown"] {
        assert_has(unwrapped(&mindful.text(form)), format!("1,971 CHF a month…{parts}…2026-11-01…offer, with tax"));
    }
    mindful.shows("export priced --as csv", "2.7 CHF");
    for (line, why) in
        [("licence = 3", "no `licence`"), ("compute = true", "compute is a boolean"), ("compute = 1", "currency")]
    {
        std::fs::write(mindful.path("bad.toml"), format!("[price]\n{line}\n")).unwrap();
        mindful.refuses(null("run", "--plan bad.toml"), format!("price…{why}"));
    }
}

#[test]
fn sides_are_compared_for_the_money_in_one_currency_alone() {
    let mindful = Mindful::new();
    for (tag, price) in [("dear", "4 EUR"), ("cheap", "2 EUR"), ("foreign", "2 USD")] {
        run(&mindful, ["--tag", tag, "--price", price]);
    }
    let compared = mindful.json("compare dear cheap");
    let (ratio, money) = (figure(&compared, "ratio"), figure(&compared["for_the_money"], "ratio"));
    assert!((money / ratio - 2.0).abs() < 1e-9, "half the price: {compared:#}");
    mindful.shows("compare dear cheap", "for the money: ratio…4 EUR an hour against 2 EUR");
    let gated = mindful.json("compare dear cheap --figure per-price");
    // Operations of as many blocks each.
    assert!((figure(&gated, "ratio") / money - 1.0).abs() < 0.01, "{money}, {gated:#}");
    mindful.refuses("compare dear foreign", "the currencies differ");
}
