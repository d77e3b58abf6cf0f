//! Reports in the layout of each release and in the languages of sites, with the values that they print.

use mindful_import::rows::{self, ReportRow};

use crate::made::{Dress, showcase};
use crate::measured::one;

/// Compares figures with `wanted`: their paths in the row as JSON, each with its value.
fn assert_figures(name: &str, text: impl Into<Vec<u8>>, wanted: &str) {
    let step = one(name, text);
    let json: serde_json::Value = serde_json::from_str(&rows::json(&[ReportRow::of(&step).unwrap()])).unwrap();
    for (path, value) in wanted.split(", ").map(|figure| figure.split_once(' ').unwrap()) {
        let is = json[0].pointer(&format!("/{path}")).unwrap_or_else(|| panic!("no {path}"));
        let same = match (is.as_f64(), value) {
            (Some(is), value) => value.parse().is_ok_and(|value: f64| (is - value).abs() <= 1e-4 * value.abs() + 1e-9),
            (None, value) => is.is_null() && value == "null",
        };
        assert!(same, "{name}: {path} is {is}, not {value}\n{}", json[0]);
    }
}

/// A report that states each figure in more than one place.
pub(crate) const AWR_11: &str = include_str!("made/reports/awr_11_fixed.txt");

#[test]
fn awr_of_11_has_narrow_columns_and_whole_milliseconds() {
    // 20.5 min of DB time, 713 s of 2,462,114 reads, 12 s of 4,021 log writes, 4,010 redo writes.
    let figures = "elapsed_s 304.8, cpus 8, average_active_sessions 4.0354, single_read/mean_us 289.5886, \
        direct_read/waits 0, direct_read_temp/mean_us 5000, log_write/mean_us 2984.332, redo_writes_per_s 13.15617";
    assert_figures("awr_11.txt", AWR_11, figures);
    let exact = AWR_11.replace("2,462,114         713", "2,462,114       712.6");
    assert_figures("awr_11.txt", exact, "single_read/mean_us 289.4261");
    let step = one("awr_11.txt", AWR_11);
    let table = rows::flashdba(&[ReportRow::of(&step).unwrap()]);
    let cells: Vec<_> = table.lines().map(|line| line.split(',').collect::<Vec<_>>()).collect();
    let cell = |name: &str| cells[1][cells[0].iter().position(|column| *column == name).unwrap()];
    assert_eq!((cell("Wait Class Commit Waits"), cell("Wait Class Network Waits")), ("", "0"), "too wide is not none");
}

const AWR_12_2: &str = include_str!("made/reports/awr_18_pdb.txt");

#[test]
fn a_pdb_report_of_18c_has_means_with_units_and_an_io_profile() {
    // The whole seconds of 7 waits for log file sync are 0.
    let figures = "elapsed_s 3600, cpus 48, single_read/mean_us 186.67, single_read/error_us 0.005, \
        log_sync/waits 7, log_sync/mean_us 482, log_sync/error_us 0.005, all_read_requests_per_s 8090.5, \
        redo_writes_per_s 13.2, write_requests_but_redo_per_s 96.8, db_cpu_cores 0.6";
    assert_figures("awr_18c_pdb.txt", AWR_12_2, figures);
    let step = one("awr_18c_pdb.txt", AWR_12_2);
    assert_eq!(step.target, "oracle: CDB1/PDB1 (cdb1) on dbhost1", "two databases of one container are two targets");
}

/// The page of 21c and 23ai, whose names and corners may be cells of either kind.
fn page(release: &str) -> String {
    include_str!("made/reports/awr_21.html").replace("{release}", release)
}

#[test]
fn pages_of_late_releases_have_spans_and_corners() {
    let figures = "elapsed_s 1309.2, average_active_sessions 4, cpus 16, read_requests_per_s 8047.3, \
        logical_reads_per_s 68115.4, direct_read/waits 6904693, direct_read/mean_us 682.464, \
        single_read/mean_us 749.07, log_write/waits null";
    for release in ["21.0.0.0.0", "23.0.0.0.0"] {
        assert_figures("awr.html", page(release), figures);
    }
    let findings = format!("{:?}", one("awr.html", page("23.0.0.0.0")).findings);
    assert!(
        findings.contains("no row that could be read") && findings.contains("Background Wait Events"),
        "{findings}"
    );
}

/// `text` with other separators for groups of digits and for decimals, save in releases.
fn separated(text: &str, group: &str, point: &str) -> String {
    let (mut other, mut rest) = (String::new(), text);
    let of_number = |c: char| c.is_ascii_digit() || c == '.' || c == ',';
    while let Some(begin) = rest.find(of_number) {
        let end = begin + rest[begin..].find(|c| !of_number(c)).unwrap_or(rest.len() - begin);
        let number = &rest[begin..end];
        let is_number = number.ends_with(|c: char| c.is_ascii_digit()) && number.matches('.').count() < 2;
        let parts = number.split('.').map(|part| part.replace(',', group)).collect::<Vec<_>>();
        other += &rest[..begin];
        other += &if is_number { parts.join(point) } else { number.to_owned() };
        rest = &rest[end..];
    }
    other + rest
}

#[test]
fn numbers_are_read_whatever_separates_their_digits() {
    let figures = "elapsed_s 304.8, logical_reads_per_s 41250.8, single_read/waits 2462114, \
        single_read/mean_us 289.5886, redo_writes_per_s 13.15617";
    let unbroken = [("\u{202f}", ","), ("\u{a0}", ","), ("'", "."), ("\u{2019}", "."), ("'", ",")];
    for (group, point) in [(".", ","), (" ", ","), (" ", ".")].into_iter().chain(unbroken) {
        let text = separated(AWR_11, group, point);
        assert_ne!(text, AWR_11);
        assert_figures(&format!("awr{group}{point}.txt"), text, figures);
        let page = separated(&page("19.0.0.0.0"), group, point);
        assert_figures(&format!("awr{group}{point}.html"), page, "elapsed_s 1309.2, single_read/mean_us 749.07");
    }
    let entities = page("19.0.0.0.0").replace("6,904,693", "6&#8239;904&nbsp;693");
    assert_figures("awr.html", entities, "direct_read/waits 6904693");
    // Where commas group, a blank may end a column: the figure is unknown, not its first group.
    let blanks = page("19.0.0.0.0").replace("6,904,693", "6 904 693");
    assert_figures("awr.html", blanks, "direct_read/waits null, direct_read/mean_us 682.46");
}

#[test]
fn snapshots_are_dated_in_the_languages_of_sites() {
    let begins = one("awr.txt", AWR_11).events;
    let named = ["19-Ene-12", "19-JANV.-12", "19-Gen-12", "19-1月 -12"];
    for day in named.into_iter().chain(["19-01-12", "19.01.2012", "2012-01-19", "2012/01/19"]) {
        assert_eq!(one("awr.txt", AWR_11.replace("19-Jan-12", day)).events, begins, "{day}");
    }
    let unknown = one("awr.txt", AWR_11.replace("19-Jan-12 10:", "01/02/12 10:"));
    let began = format!("{:?}", unknown.events);
    assert!(began.contains("boundaries_us: [0, 304800000]"), "a date that may be of two months is none: {began}");
}

#[test]
fn cpu_without_that_of_the_background_is_unknown() {
    let report = showcase().report(Dress::Awr10);
    // 5.7 cores, and 30.1 s of the background.
    assert_figures("awr.txt", report.clone(), "cpus 32, db_cpu_cores 5.798753");
    let end = report.find("background cpu time").unwrap();
    assert_figures("awr.txt", &report[..end], "db_cpu_cores null, elapsed_s 304.8");
    let wide = report.replace(" 30.1\n", "#####\n");
    assert_ne!(wide, report);
    assert_figures("awr.txt", wide, "db_cpu_cores null");
}
