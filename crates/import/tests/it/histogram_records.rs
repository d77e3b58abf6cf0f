//! Event histogram records.
#![expect(clippy::format_collect, reason = "short texts, put together for once")]

use crate::measured::{read, slices};

fn record(clock: u64, instances: &[&[(u64, u64)]]) -> String {
    let buckets: String =
        instances.iter().flat_map(|i| i.iter()).map(|(bucket, count)| format!("{bucket}, {count}\n")).collect();
    format!(
        "<begin record>\ntimestamp, microsec, {clock},?\nlabel,reads\nlatencyunit, millisec\n{buckets}<end record>\n\nPL/SQL procedure successfully completed.\n\n"
    )
}

#[test]
fn histograms_grow_from_record_to_record() {
    let text = record(86_399_000_000, &[&[(1, 100), (2, 50)], &[(1, 10)]])
        + &record(1_000_000, &[&[(1, 13)], &[(1, 100), (2, 150)]])
        + &record(3_000_000, &[&[(1, 5)], &[(1, 300), (2, 150)]]);
    let step = read("h.txt", text).unwrap().remove(0);
    let grown = slices(&step.events).into_iter().map(|(us, op)| (us, op.latency.buckets.iter().collect::<Vec<_>>()));
    // The clock passed midnight, and the instances changed places; in the third record one was restarted.
    assert_eq!(grown.collect::<Vec<_>>(), [(2_000_000, vec![(500_000, 3), (1_500_000, 100)])]);
    assert!(step.findings.iter().any(|finding| finding.code == "imported-doubt"));
}

#[test]
fn a_single_record_shows_no_change() {
    let error = read("h.txt", record(1, &[&[(1, 5)]])).unwrap_err().to_string();
    assert!(error.contains("take at least two records"), "{error}");
}

#[test]
fn a_count_too_wide_for_its_column_comes_from_the_next_record() {
    let wide = record(2_000_000, &[&[(1, 150)]]).replace("1, 150", "1, ####");
    let text = record(1_000_000, &[&[(1, 100)]]) + &wide + &record(4_000_000, &[&[(1, 300)]]);
    let step = read("h.txt", text).unwrap().remove(0);
    let ops = slices(&step.events).into_iter().map(|(us, op)| (us, op.ops));
    assert_eq!(ops.collect::<Vec<_>>(), [(3_000_000, 200)]);
}

#[test]
fn a_clock_in_us_has_more_digits_than_dates_in_seconds() {
    let dated =
        |clock: u64, date: &str, count| record(clock, &[&[(1, count)]]).replace(",?", &format!(", {date} +00:00"));
    let text = dated(86_399_400_000, "26-AUG-13 23.59.59", 100) + &dated(1_900_000, "28-AUG-13 00.00.01", 150);
    let step = read("h.txt", text).unwrap().remove(0);
    let seconds = crate::measured::seconds(&step.events);
    assert!((seconds - 86_402.5).abs() < 1e-9, "a day by the dates, the rest by the clock: {seconds}");
}
