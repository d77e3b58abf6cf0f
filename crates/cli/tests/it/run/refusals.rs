//! Command lines and plans that make no sense: each is refused in one line with the remedy, and changes nothing.

use crate::mindful::{Mindful, null};

#[test]
fn an_unknown_flag_is_answered_with_the_nearest() {
    let mindful = Mindful::new();
    mindful.refuses_all([
        ("run --sesions 4", "unknown flag `--sesions`: did you mean `--sessions`?"),
        ("rnu", "unknown verb `rnu`: did you mean `run`?"),
        ("help rnu", "unknown verb `rnu`: did you mean `run`?"),
        ("list --format xml", "--format <FORMAT>: invalid value `xml`: choose text, json"),
        ("run --store", "--store needs a value: pass --store <DIR>"),
    ]);
    assert_eq!(mindful.count_runs(), 0);
}

#[test]
fn an_empty_path_is_refused() {
    let mindful = Mindful::new();
    let of_servers = if cfg!(feature = "postgres") { &["data-dir", "fetch-dir"][..] } else { &[] };
    for flag in ["store", "plan", "target", "meet"].iter().chain(of_servers) {
        mindful.refuses(format!("run --{flag}= --target null:"), format!("--{flag} needs a value"));
    }
    assert_eq!(mindful.count_runs(), 0);
}

#[test]
fn bad_input_is_one_line_and_changes_nothing() {
    let mindful = Mindful::new();
    std::fs::write(mindful.path("odd.toml"), "udpate_pct = 1\n").unwrap();
    mindful.refuses_all([
        ("run --plan odd.toml", "unknown key `udpate_pct`: did you mean `update_pct`?"),
        ("run --target /dev/sdz", "raw:PATH"),
        ("compare a", "two sides or more, and 1 was named"),
        ("run --target null: --duration 30", "`30` is not a time"),
        ("run --target null: --scale 64M", "write MiB"),
        ("run --target null: --update-pct 101", "0 to 100"),
        ("run --target nul:", "did you mean `null`?"),
        ("run --target null: --scale 100 --work-unit 101", "larger than the scale"),
        ("run --target null: --schemas 3 --threads 2 --sessions 5", "are 6 sessions"),
        ("run --target null: --ops 5 --duration 3s", "both ops and duration"),
        ("run --target null: --steady --warmup 3s", "omit one"),
        ("run --target null: --steady --ops 100", "omit one"),
        ("run --target null: --tag 'a b'", "cannot be a tag"),
        ("show nothing", "holds no runs"),
        ("run --target null: --loop server --rate 5", "--loop client"),
        ("run --target null: --access scan --work-unit 8", "an operation reads all blocks of a schema"),
        ("run --target null: --access bitmap --update-pct 10", "updates use the index"),
        ("run --target null: --access scan --skew zipf:0.9", "have no effect"),
        ("run --access bitmap --target null:", "cannot choose how blocks are reached"),
        ("run --target null: --access heap", "choose index, bitmap, scan"),
        #[cfg(feature = "sqlite")]
        ("run --ranks 2 --rank 0 --target sqlite:one.db", "ranks cannot meet in a file of SQLite…--meet dir:PATH"),
        #[cfg(feature = "raw")]
        ("run --ranks 2 --rank 0 --target raw:blocks", "ranks cannot meet in a target of bare files…or dir:PATH"),
    ]);
    assert_eq!(mindful.count_runs(), 0);
}

#[test]
fn contradictory_keys_and_impossible_shares_are_refused() {
    let mindful = Mindful::new();
    for (keys, hint) in [
        ("--hot-spot-size 100 --hot-spot-offset 901", "outside the scale"),
        ("--hot-spot-size 10 --work-unit 11", "does not fit into the hot spot"),
        ("--hot-spot-share 50", "--hot-spot-size"),
        ("--hot-schema 100.5", "0 to 100"),
        ("--scan-pct 10", "--scan-table"),
        ("--skew zipf:1", "0.001 to 0.999"),
        ("--skew hotset:0%,80%", "hotset:20%,80%"),
        ("--think-time 50ms..10ms", "ends before it begins"),
        ("--content repeated --compress-ratio 2", "no ratios"),
        ("--like slob --scan-pct 10", "like"),
        ("--rate 0", "is not a rate"),
        ("--commit 0", "not a time to commit"),
        ("--price '0 EUR'", "--price…'1.92 EUR'"),
        ("--price '-1 EUR'", "--price…'1.92 EUR'"),
        ("--price '1e12 EUR'", "--price…'1.92 EUR'"),
        ("--price 1.92", "--price…'1.92 EUR'"),
        ("--price cheap", "--price…'1.92 EUR'"),
    ] {
        mindful.refuses(null("run", keys), hint);
    }
    for (ladder, hint) in [
        ("--sessions 8..2", "--sessions"),
        ("--max-iops-at fast", "p99<=1ms"),
        ("--update-pct 0,150 --sessions 1,2", "0 to 100"),
    ] {
        mindful.refuses(null("sweep", ladder), hint);
    }
    assert_eq!(mindful.count_runs(), 0);
}
