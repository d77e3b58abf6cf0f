//! Pages and pictures in a real browser: the rendering matches the text.

pub(crate) mod chromium;

use std::path::Path;
use std::process::Command;

use self::chromium::Browser;
use crate::charts::{after_each_other, commits, compared, contrast, index, sweep};
use crate::forms;
use mindful_analyze::analyze;
use mindful_conformance::{not_run, tool};
use mindful_core::record::run::Run;
use mindful_report::html::{page, site::IndexedRun};
use serde_json::Value;

/// A page that shows others in frames of given widths and records their rendering.
const LOOKS: &str = include_str!("browser/looks.html");

/// A page of the folder, `NAME.html`, and how wide it is shown.
type Shown = (&'static str, u32);

/// The content of each of these pages, by its name, and the findings of axe on the first one if axe is installed.
fn seen(browser: &Browser, folder: &Path, dark: bool, pages: &[Shown], axe: bool) -> Value {
    let frame = |(name, file, width): (&str, &str, u32)| {
        format!(
            "<iframe id=\"{name}\" src=\"{file}.html\" style=\"border: 0; width: {width}px; height: 800px\"></iframe>"
        )
    };
    let axed = axe.then(|| frame(("axed", "axed", pages[0].1)));
    let frames: String = pages.iter().map(|(name, width)| frame((name, name, *width))).chain(axed).collect();
    let looks = folder.join("looks.html");
    std::fs::write(&looks, LOOKS.replace("FRAMES", &frames)).unwrap();
    browser.opened(&looks, dark).promised("whole()")
}

/// The findings of axe in the page of its frame, sent to the outer page.
const AXE: &str = include_str!("browser/axe.html");

/// Puts a copy of `page` next to it that may run scripts and contains axe; returns whether it could.
fn axed(page: &str, folder: &Path) -> bool {
    let Some(axe) = tool("axe.min.js") else { return false };
    std::fs::copy(axe, folder.join("axe.min.js")).unwrap();
    let policy = "<meta http-equiv=\"Content-Security-Policy\"";
    assert!(page.contains(policy), "no page without its policy: {page}");
    let open = page.replace(policy, "<meta name=\"policy\"").replace("</body>", &format!("{AXE}</body>"));
    assert!(open.contains(AXE), "a page ends with its body: {page}");
    std::fs::write(folder.join("axed.html"), open).unwrap();
    true
}

/// Which pages axe checks: it takes as long as everything else.
#[derive(Clone, Copy, PartialEq)]
enum Axe {
    /// Wide and light, narrow and dark.
    Both,
    Narrow,
}

/// Shows `page` wide, as printed, narrow and dark, and prints it; returns its wide rendering.
fn looked_at(page: &str, charts: &[&str], axe: Axe) -> Option<Value> {
    let browser = Browser::shared()?;
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("page.html"), page).unwrap();
    for paper in &PAPERS {
        paper.show(folder.path(), page);
    }
    let axed = axed(page, folder.path());
    let papers = PAPERS.map(|paper| (paper.name, paper.wide));
    let looks = [(1_200, false, &papers[..]), (400, true, &[])].map(|(width, dark, beside)| {
        let axed = axed && (dark || axe == Axe::Both);
        let mut seen = seen(&browser, folder.path(), dark, &[&[("page", width)], beside].concat(), axed);
        if axed {
            assert_eq!(seen["axe"], Value::Array(Vec::new()), "what axe calls serious: {seen:#}");
        }
        is_whole(&seen["page"], width, dark, charts);
        for paper in PAPERS.iter().filter(|_| !beside.is_empty()) {
            paper.fits(&seen[paper.name]);
        }
        seen["page"].take()
    });
    for paper in &PAPERS {
        paper.printed(&browser, folder.path(), page);
    }
    let [wide, _] = looks;
    Some(wide)
}

/// All of a page is readable, inside its picture and reachable.
fn is_whole(seen: &Value, width: u32, dark: bool, charts: &[&str]) {
    assert_eq!(seen["dark"], dark, "{seen:#}");
    assert_eq!(seen["fetched"], Value::Array(Vec::new()), "a request leaves the file: {seen:#}");
    assert!(seen["wide"].as_f64().unwrap() <= f64::from(width), "it is cut at {width} px: {seen:#}");
    assert!(seen["contrast"].as_f64().unwrap() >= 4.5, "text on its ground: {seen:#}");
    assert_eq!(seen["outside"], Value::Array(Vec::new()), "marks or texts outside of their picture: {seen:#}");
    let marks = seen["charts"].as_object().unwrap();
    for chart in charts {
        assert!(marks.get(*chart).is_some_and(|marks| marks.as_u64() > Some(0)), "{chart}: {seen:#}");
    }
    assert!(marks.values().all(|marks| marks.as_u64() > Some(0)), "a chart without marks: {seen:#}");
    assert_eq!(seen["unreached"], Value::Array(Vec::new()), "what scrolls is reached by the keyboard: {seen:#}");
    assert_eq!(seen["unnamed"], 0, "each picture has a name for readers who cannot see it: {seen:#}");
}

/// A sheet within the margins that a page asks for, 14 mm, in pixels of CSS.
struct Paper {
    name: &'static str,
    /// The beginning of its sheet in a PDF, in points.
    points: &'static str,
    wide: u32,
    high: f64,
}

const PAPERS: [Paper; 2] = [
    Paper { name: "A4", points: "[0 0 594.", wide: 687, high: 1_016.0 },
    Paper { name: "letter", points: "[0 0 612 ", wide: 710, high: 950.0 },
];

impl Paper {
    fn sheets(&self, page: &str) -> String {
        assert!(page.contains("@page { margin: 14mm; }") && page.contains("@media print {"), "{page}");
        page.replace("@page { margin: 14mm; }", &format!("@page {{ size: {}; margin: 14mm; }}", self.name))
    }

    /// Puts a page with the print styles into the folder, to be shown as wide as the sheet.
    fn show(&self, folder: &Path, page: &str) {
        let print = self.sheets(page).replace("@media print {", "@media all {");
        std::fs::write(folder.join(format!("{}.html", self.name)), print).unwrap();
    }

    /// Each chart is no wider and no higher than a sheet.
    fn fits(&self, seen: &Value) {
        assert_eq!(seen["kept"], true, "a chart may be cut on {}: {seen:#}", self.name);
        let highest = seen["highest"].as_f64().unwrap();
        assert!(highest < self.high, "a chart is {highest} px high, {} is {}: {seen:#}", self.name, self.high);
        assert!(seen["wide"].as_f64().unwrap() <= f64::from(self.wide), "it is cut on {}: {seen:#}", self.name);
    }

    /// Prints `page` on it, and checks that each chart stays in one piece.
    fn printed(&self, browser: &Browser, folder: &Path, page: &str) {
        let (marked, charts) = marked(&self.sheets(page));
        let (file, paper) = (folder.join("page.html"), folder.join("page.pdf"));
        std::fs::write(&file, marked).unwrap();
        let printed = browser.printed(&file);
        std::fs::write(&paper, &printed).unwrap();
        // A page of several steps prints the charts of all of them; the page of a run of several is closed.
        let prints_all = page.matches("class=\"step\"").count() < 2 && !page.contains("class=\"run\"");
        in_one_piece(&paper, charts, prints_all, self.name);
        assert!(printed.starts_with(b"%PDF-") && printed.len() > 10_000, "{} bytes", printed.len());
        let text = String::from_utf8_lossy(&printed);
        let sheets = text.matches("/MediaBox ").count();
        let of_size = text.matches(&format!("/MediaBox {}", self.points)).count();
        assert_eq!(of_size, sheets, "{}, of {sheets} sheets", self.name);
    }
}

/// `page` with a word in the heading, in the picture and in the caption of each chart, and how many charts it has.
fn marked(page: &str) -> (String, usize) {
    let (mut marked, mut charts) = (String::new(), 0);
    for (at, part) in page.split("<figure ").enumerate() {
        if at == 0 {
            marked.push_str(part);
            continue;
        }
        charts = at;
        let (figure, rest) = part.split_once("</figure>").unwrap();
        let figure = figure.replacen("<h3>", &format!("<h3>zb{at}z "), 1);
        let (before, picture) = figure.rsplit_once("</svg>").unwrap();
        let picture = format!("{before}<text x=\"20\" y=\"20\">zp{at}z</text></svg>{picture}");
        let (before, caption) = picture.rsplit_once("</figcaption>").unwrap();
        let end = format!(" ze{at}z</figcaption>{caption}</figure>");
        marked.extend(["<figure ", before, &end, rest]);
    }
    (marked, charts)
}

/// Reads a printed page: heading, picture and caption of each chart that it prints are on one sheet.
fn in_one_piece(paper: &Path, charts: usize, prints_all: bool, name: &str) {
    let Ok(read) = Command::new("pdftotext").arg(paper).arg("-").output() else {
        return not_run("no pdftotext here: apt-get install poppler-utils");
    };
    let text = String::from_utf8_lossy(&read.stdout);
    let sheets: Vec<&str> = text.split('\u{c}').collect();
    for at in 1..=charts {
        let places = ["b", "p", "e"].map(|part| {
            let word = format!("z{part}{at}z");
            sheets.iter().position(|sheet| sheet.contains(&word))
        });
        assert!(places[0].is_some() || at > 1 && !prints_all, "no chart {at} on {name}: {text}");
        assert_eq!(places, [places[0]; 3], "chart {at} of {charts} is cut on {name}");
    }
}

fn shown(run: &Run, charts: &[&str]) {
    looked_at(&forms::page(run), charts, Axe::Both);
}

#[test]
fn a_sweep_is_whole_in_a_browser() {
    shown(
        &after_each_other(sweep(&[1, 4, 16])),
        &["timeline", "latency-iops", "sessions", "mib", "cpu-cost", "time", "distribution", "ledger"],
    );
}

#[test]
fn a_run_of_hostile_names_is_whole_in_a_browser() {
    let run = forms::hostile(&"x<script>alert(1)</script><img src=x onerror=alert(2)>&\"'\u{202e}".repeat(3));
    shown(&run, &["time", "distribution", "ledger"]);
}

#[test]
fn a_contrast_and_several_runs_are_whole_in_a_browser() {
    let mut round = contrast();
    let mut analysis = analyze(&round);
    // The page of the second round is the same.
    round.steps.retain(|step| step.head.point.pass == 0);
    analysis.summary.commits = Some(commits());
    looked_at(&page(&[(&round, &analysis)]), &["latency-iops", "rungs", "added", "commits"], Axe::Narrow);
    let (one, other) = (sweep(&[1, 4]), sweep(&[1, 8]));
    looked_at(&page(&[(&one, &analyze(&one)), (&other, &analyze(&other))]), &["latency-iops", "sessions"], Axe::Narrow);
}

#[test]
fn two_sides_are_whole_in_a_browser() {
    let (one, other) = (sweep(&[1, 2, 8]), sweep(&[1, 2, 16]));
    let (a, b) = (analyze(&one), analyze(&other));
    let text = compared(&[(&one, &a)], &[(&other, &b)]);
    looked_at(&text, &["differences", "latency-iops", "sessions"], Axe::Narrow);
}

#[test]
fn an_index_of_runs_is_filtered_in_a_browser_without_a_script() {
    let (one, mut other) = (sweep(&[1, 2, 4]), sweep(&[4]));
    (other.head.id, other.head.plan.tag) = ("20261122-000000-abc".into(), Some("<b>x".into()));
    other.error = Some("the server went away".into());
    let index = index(vec![one, other], IndexedRun::unreadable("20200101-000000-bad", "no <run>"));
    assert!(!index.contains("<script") && !index.contains("<b>x") && index.contains("no &lt;run&gt;"), "{index}");
    let Some(seen) = looked_at(&index, &[], Axe::Both) else { return };
    assert_eq!(seen["rows"]["validity-0"], 3, "{seen:#}");
    let (first, second) = (&seen["rows"]["validity-1"], &seen["rows"]["validity-2"]);
    assert_eq!(
        first.as_u64().zip(second.as_u64()).map(|(a, b)| a + b),
        Some(3),
        "each row is of one verdict: {seen:#}"
    );
    assert_eq!(seen["rows"]["kind-1"], 1, "a sweep or a run: {seen:#}");
}
