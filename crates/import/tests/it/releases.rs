//! Reports in the layout of each release and in the languages of sites, with the values that they print.

use mindful_import::rows::{self, ReportRow};

use crate::made::{Dress, showcase};
use crate::measured::one;

/// Each figure by its path in the row as JSON, and its value; `None` is unknown.
fn assert_figures(name: &str, text: impl Into<Vec<u8>>, wanted: &[(&str, Option<f64>)]) {
    let step = one(name, text);
    let json: serde_json::Value = serde_json::from_str(&rows::json(&[ReportRow::of(&step).unwrap()])).unwrap();
    for (path, value) in wanted {
        let is = json[0].pointer(&format!("/{path}")).unwrap_or_else(|| panic!("no {path}"));
        let same = is
            .as_f64()
            .zip(*value)
            .map_or(is.is_null() && value.is_none(), |(is, value)| (is - value).abs() <= 1e-4 * value.abs() + 1e-9);
        assert!(same, "{name}: {path} is {is}, not {value:?}\n{}", json[0]);
    }
}

/// A report that states each figure in more than one place.
pub(crate) const AWR_11: &str = include_str!("made/reports/awr_11_fixed.txt");

#[test]
fn awr_of_11_has_narrow_columns_and_whole_milliseconds() {
    assert_figures(
        "awr_11.txt",
        AWR_11,
        &[
            ("elapsed_s", Some(304.8)),
            ("cpus", Some(8.0)),
            ("average_active_sessions", Some(20.5 * 60.0 / 304.8)),
            ("single_read/mean_us", Some(713e6 / 2_462_114.0)),
            ("direct_read/waits", Some(0.0)),
            ("direct_read_temp/mean_us", Some(5_000.0)),
            ("log_write/mean_us", Some(12e6 / 4_021.0)),
            ("redo_writes_per_s", Some(4_010.0 / 304.8)),
        ],
    );
    let step = one("awr_11.txt", AWR_11);
    let table = rows::flashdba(&[ReportRow::of(&step).unwrap()]);
    let cells: Vec<_> = table.lines().map(|line| line.split(',').collect::<Vec<_>>()).collect();
    let cell = |name: &str| cells[1][cells[0].iter().position(|column| *column == name).unwrap()];
    assert_eq!((cell("Wait Class Commit Waits"), cell("Wait Class Network Waits")), ("", "0"), "too wide is not none");
}

const AWR_12_2: &str = include_str!("made/reports/awr_18_pdb.txt");

#[test]
fn a_pdb_report_of_18c_has_means_with_units_and_an_io_profile() {
    assert_figures(
        "awr_18c_pdb.txt",
        AWR_12_2,
        &[
            ("elapsed_s", Some(3_600.0)),
            ("cpus", Some(48.0)),
            ("single_read/mean_us", Some(186.67)),
            ("single_read/error_us", Some(0.005)),
            ("log_sync/mean_us", Some(482.0)),
            ("all_read_requests_per_s", Some(8_090.5)),
            ("redo_writes_per_s", Some(13.2)),
            ("write_requests_but_redo_per_s", Some(96.8)),
            ("db_cpu_cores", Some(0.6)),
        ],
    );
    let step = one("awr_18c_pdb.txt", AWR_12_2);
    assert_eq!(step.target, "oracle: CDB1/PDB1 (cdb1) on dbhost1", "two databases of one container are two targets");
}

/// The page of 21c and 23ai, whose names and corners may be cells of either kind.
fn page(release: &str) -> String {
    include_str!("made/reports/awr_21.html").replace("{release}", release)
}

#[test]
fn pages_of_late_releases_have_spans_and_corners() {
    for release in ["21.0.0.0.0", "23.0.0.0.0"] {
        assert_figures(
            "awr.html",
            page(release),
            &[
                ("elapsed_s", Some(1_309.2)),
                ("average_active_sessions", Some(4.0)),
                ("cpus", Some(16.0)),
                ("read_requests_per_s", Some(8_047.3)),
                ("logical_reads_per_s", Some(68_115.4)),
                ("direct_read/waits", Some(6_904_693.0)),
                ("direct_read/mean_us", Some(4_712.2e6 / 6_904_693.0)),
                ("single_read/mean_us", Some(749.07)),
                ("log_write/waits", None),
            ],
        );
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
    let figures = [
        ("elapsed_s", Some(304.8)),
        ("logical_reads_per_s", Some(41_250.8)),
        ("single_read/waits", Some(2_462_114.0)),
        ("single_read/mean_us", Some(713e6 / 2_462_114.0)),
        ("redo_writes_per_s", Some(4_010.0 / 304.8)),
    ];
    let unbroken = [("\u{202f}", ","), ("\u{a0}", ","), ("'", "."), ("\u{2019}", "."), ("'", ",")];
    for (group, point) in [(".", ","), (" ", ","), (" ", ".")].into_iter().chain(unbroken) {
        let text = separated(AWR_11, group, point);
        assert_ne!(text, AWR_11);
        assert_figures(&format!("awr{group}{point}.txt"), text, &figures);
        let page = separated(&page("19.0.0.0.0"), group, point);
        assert_figures(
            &format!("awr{group}{point}.html"),
            page,
            &[("elapsed_s", Some(1_309.2)), ("single_read/mean_us", Some(749.07))],
        );
    }
    let entities = page("19.0.0.0.0").replace("6,904,693", "6&#8239;904&nbsp;693");
    assert_figures("awr.html", entities, &[("direct_read/waits", Some(6_904_693.0))]);
    // Where commas group, a blank may end a column: the figure is unknown, not its first group.
    let blanks = page("19.0.0.0.0").replace("6,904,693", "6 904 693");
    assert_figures("awr.html", blanks, &[("direct_read/waits", None), ("direct_read/mean_us", Some(682.46))]);
}

#[test]
fn snapshots_are_dated_in_the_languages_of_sites() {
    let begins = one("awr.txt", AWR_11).events;
    for (from, to) in [
        ("19-Jan-12", "19-Ene-12"),
        ("19-Jan-12", "19-JANV.-12"),
        ("19-Jan-12", "19-Gen-12"),
        ("19-Jan-12", "19-1月 -12"),
        ("19-Jan-12", "19-01-12"),
        ("19-Jan-12", "19.01.2012"),
        ("19-Jan-12", "2012-01-19"),
        ("19-Jan-12", "2012/01/19"),
    ] {
        assert_eq!(one("awr.txt", AWR_11.replace(from, to)).events, begins, "{to}");
    }
    let unknown = one("awr.txt", AWR_11.replace("19-Jan-12 10:", "01/02/12 10:"));
    let began = format!("{:?}", unknown.events);
    assert!(began.contains("boundaries_us: [0, 304800000]"), "a date that may be of two months is none: {began}");
}

#[test]
fn cpu_without_that_of_the_background_is_unknown() {
    let made = showcase();
    let report = made.report(Dress::Awr10);
    let cores = made.db_cpu + 30.1 / made.seconds();
    assert_figures("awr.txt", report.clone(), &[("cpus", Some(32.0)), ("db_cpu_cores", Some(cores))]);
    let end = report.find("background cpu time").unwrap();
    assert_figures("awr.txt", &report[..end], &[("db_cpu_cores", None), ("elapsed_s", Some(304.8))]);
    let wide = report.replace(" 30.1\n", "#####\n");
    assert_ne!(wide, report);
    assert_figures("awr.txt", wide, &[("db_cpu_cores", None)]);
}
