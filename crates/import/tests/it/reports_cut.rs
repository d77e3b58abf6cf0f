//! Figures missing in a report are unknown: those that did not fit their column, and all after a truncation.

use mindful_import::rows::{self, ReportRow};

use crate::made::{Dress, showcase};
use crate::measured::{of, one, read_latencies};

#[test]
fn a_figure_that_did_not_fit_its_column_is_unknown() {
    let text = showcase().report(Dress::Awr19);
    let mean = "759.00us";
    let wide = text.replace("21,643,000", "##########").replace(" 16427 ", " ##### ").replace(" 16,427 ", " ###### ");
    assert!(wide.contains(mean), "{wide}");
    let step = one("awr.txt", wide);
    let f = of(&step);
    assert_eq!((f.single_read.waits, f.single_read.mean_us, f.single_read.error_us), (None, Some(759.0), Some(0.005)));
    for text in [rows::csv(&[ReportRow::of(&step).unwrap()]), rows::flashdba(&[ReportRow::of(&step).unwrap()])] {
        let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
        let waits = |name: &str| name == "single_read_waits" || name == "db file sequential read Waits";
        let at = lines[0].iter().position(|name| waits(name)).unwrap();
        assert_eq!(lines[1][at], "", "blank, never 0");
    }
    let shares = text.replace("  40.0  60.0", "  ####  60.0");
    assert_ne!(shares, text);
    assert_eq!(read_latencies(&one("awr.txt", shares)), None, "shares that do not add up");
}

#[test]
fn cpus_too_wide_for_their_column_do_not_rename_the_database() {
    let report = showcase().report(Dress::Statspack);
    let wide = report.replace("   32     0", "#####     0");
    assert_ne!(wide, report);
    let step = one("sp.txt", wide);
    assert_eq!((step.target.as_str(), of(&step).cpus), ("oracle: ? (slob) on box", Some(32.0)));
}

#[test]
fn a_list_that_was_cut_has_no_waits_of_events_that_it_lacks() {
    for dress in [Dress::Html, Dress::Html11, Dress::Awr19, Dress::Awr11, Dress::Statspack] {
        let whole = showcase().report(dress);
        let section = whole.find("Foreground Wait Events").unwrap();
        let row = section + whole[section..].find("log buffer space").unwrap();
        let end = row + whole[row..].find('\n').unwrap() + 1;
        let f = of(&one("awr.txt", &whole[..end]));
        assert_eq!(f.single_read.waits, Some(21_643_000.0), "{dress:?}");
        assert_eq!((f.scattered_read.waits, f.direct_read.waits), (None, None), "{dress:?}");
        assert!(f.cut, "{dress:?}");
        let f = of(&one("awr.txt", whole));
        assert_eq!((f.scattered_read.waits, f.direct_read.waits, f.cut), (Some(0.0), Some(0.0), false), "{dress:?}");
    }
}

#[test]
fn a_row_that_was_cut_has_its_first_cells_only() {
    for (dress, between) in [(Dress::Html, "</td><td align=\"right\" class='awrnc'>"), (Dress::Awr19, " ")] {
        let whole = showcase().report(dress);
        let row = whole.find("physical read total bytes").unwrap();
        let first = row + "physical read total bytes".len();
        let digits = |from: usize| from + whole[from..].find(|c: char| c.is_ascii_digit()).unwrap();
        let total = digits(first);
        let after = total + whole[total..].find(|c: char| !c.is_ascii_digit() && c != ',').unwrap();
        let per_s = digits(after);
        let cut = &whole[..per_s + 3];
        assert!(cut.contains(between), "{dress:?}");
        let read_mib = of(&one("awr.txt", cut)).all_read_mib_per_s.unwrap();
        assert!((read_mib - 559.1).abs() < 0.6, "{dress:?}: {read_mib} by the total, without the cut rate");
    }
}

#[test]
fn a_known_section_without_a_row_that_can_be_read_is_a_finding() {
    let found = |text: String| {
        let step = one("awr.html", text);
        step.findings
            .iter()
            .find(|finding| finding.text.contains("have no row that could be read"))
            .map(|finding| finding.evidence.clone())
    };
    let whole = showcase().report(Dress::Html);
    assert_eq!(found(whole.clone()), None);
    let renamed = whole.replace("&lt;", "below ").replace("&gt;", "above ");
    assert!(found(renamed).is_some_and(|evidence| evidence.contains("Wait Event Histogram")));
    let renamed = whole.replace("Total Wait Time (s)", "Gesamtzeit");
    assert!(found(renamed).is_some_and(|evidence| evidence.contains("Foreground Wait Events")));
}
