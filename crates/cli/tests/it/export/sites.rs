//! Folders of packs as a site.

use std::fs;
use std::time::Duration;

use mindful_conformance::write_files;

use crate::mindful::processes::{memory_kib, stat};
use crate::mindful::{Mindful, assert_has, id, unwrapped};

/// User CPU (in clock ticks) and peak memory (in KiB) of a command that succeeds.
fn cost(mindful: &Mindful, args: &str) -> (u64, u64) {
    let mut child = mindful.start(args);
    let (mut ticks, mut peak) = (0, 0);
    loop {
        let user = stat(child.id()).get(11).and_then(|ticks| ticks.parse().ok());
        (ticks, peak) = (user.unwrap_or(ticks), memory_kib(child.id(), "VmHWM").unwrap_or(peak));
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success(), "{args}");
            return (ticks, peak);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// 500 runs have 39 tags: a group of 40 has ranks.
const RUNS_OF_TAG: usize = 13;

/// Copies of one run as run folders in `results`, several of each tag.
fn copies(mindful: &Mindful, record: &str, id: &str, count: usize) {
    let _ = fs::remove_dir_all(mindful.path("results"));
    for number in 0..count {
        let letters =
            [number / 27 / 27, number / 27 % 27, number % 27].map(|at| "23456789abcdefghijkmnpqrstu".as_bytes()[at]);
        let other = format!("20260101-000000-{}", String::from_utf8(letters.to_vec()).unwrap());
        let record = record.replace(id, &other).replace("copied", &format!("tag-{}", number / RUNS_OF_TAG));
        write_files(mindful.folder(), &[(&format!("results/{other}/run.jsonl"), &record)]);
    }
}

#[test]
fn work_and_memory_of_a_site_grow_linearly() {
    let mindful = Mindful::new();
    let ran = mindful.measured("--duration 100ms --null-latency 20ms --sessions 1 --tag copied");
    let record = mindful.record(&ran);
    let cost = [50, 100, 500].map(|count| {
        copies(&mindful, &record, id(&ran), count);
        let (ticks, kib) = cost(&mindful, "export results --as site --by throughput --output site --yes");
        let index = fs::read_to_string(mindful.path("site/index.html")).unwrap();
        assert_eq!(index.matches("class=\"row\"").count(), count);
        let (sides, left) = (count.div_ceil(RUNS_OF_TAG), count % RUNS_OF_TAG);
        assert!(index.contains(&format!("tag-{} ({left})</option>", sides - 1)), "the filter keeps every tag");
        assert!(index.contains(&format!("<th scope=\"row\">1-{sides}</th>")), "all sides share their ranks");
        (ticks, kib, index.len())
    });
    let [small, middle, large] = cost;
    assert!(large.0 < 15 * small.0 && middle.0 < 3 * small.0, "user CPU, ticks: {cost:?}");
    assert!(large.2 < 11 * small.2, "length of the index: {cost:?}");
    // Only its row of a run stays in memory.
    assert!(large.1 < small.1 + 450 * 100, "peak memory, KiB: {cost:?}");
}

#[test]
fn packs_become_a_table_with_prices_and_machines() {
    let mindful = Mindful::new();
    fs::create_dir(mindful.path("results")).unwrap();
    for (tag, work) in [
        ("small", "--sessions 1 --price '0.1 USD'"),
        ("large", "--sessions 4 --price '0.3 USD'"),
        ("dear", "--sessions 1 --price '0.4 USD'"),
        ("updates", "--update-pct 50"),
    ] {
        mindful.measured((work, ["--tag", tag]));
        mindful.text(format!("pack {tag} --output results/{tag}.tar.zst"));
    }
    mindful.succeed("export results --as site --output site --by throughput");
    let index = fs::read_to_string(mindful.path("site/index.html")).unwrap();
    assert!(!index.contains("<script"), "{index}");
    assert_has(&index, "73.0 USD…219 USD…mix 50 % updates…mix 0 % updates…<select id=\"mix\">…not audited");
    let row = |tag: &str| index.split("<tr").find(|row| row.contains(&format!("<td>{tag}</td>"))).unwrap();
    assert!(row("large").contains("<td class=\"number\">1.00</td>"), "{}", row("large"));
    assert!(row("dear").contains("<td>no</td>") && row("small").contains("<td>yes</td>"), "{index}");
    for link in index.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
        let page = fs::read_to_string(mindful.path("site").join(link)).unwrap();
        assert_has(page, "href=\"index.html\"…Not audited");
    }
}

/// The rows of the first table in `page`, each with its cells.
fn rows(page: &str) -> Vec<Vec<String>> {
    let table = page.split("<table>").nth(1).unwrap().split("</table>").next().unwrap();
    let cells = |row: &str| {
        let cells = row.split("</t").filter_map(|cell| cell.rsplit_once("\">").or(cell.rsplit_once("<td>")));
        cells.map(|(_, text)| text.to_owned()).collect::<Vec<_>>()
    };
    table.split("</tr>").map(cells).filter(|cells| !cells.is_empty()).collect()
}

#[test]
fn sides_of_a_site_have_the_digits_of_compare() {
    let mindful = Mindful::new();
    fs::create_dir(mindful.path("results")).unwrap();
    let sides = [("fast", "10ms", "0.3 USD"), ("late", "20ms", "0.1 USD"), ("same", "20ms", "0.4 USD")];
    let measured = |(tag, latency, price): (&str, &str, &str), number: usize| {
        let side = format!("--tag {tag} --null-latency {latency} --price '{price}'");
        let ran = mindful.measured(("--ops 20 --work-unit 1 --sessions 1 --warmup 0s", side));
        mindful.text(format!("pack {} --output results/{tag}-{number}.tar.zst", id(&ran)));
    };
    for number in 0..4 {
        for side in sides {
            measured(side, number);
        }
    }
    measured(("alone", "5ms", "1 USD"), 0);
    let by = "--by throughput --margin 5";
    mindful.text(("export results --as site --output site", by));
    let index = fs::read_to_string(mindful.path("site/index.html")).unwrap();
    let compared = mindful.text(("compare fast late same", by));
    let words = unwrapped(&compared);
    let [titles, ranked @ ..] = &rows(&index)[..] else { panic!("{index}") };
    assert_eq!(titles[..3], ["rank", "side", "runs"], "{titles:?}");
    assert_eq!(ranked.len(), 3, "a tag with one run is no side: {ranked:?}");
    for row in ranked {
        assert!(words.contains(&row.join(" ")), "{row:?} in {compared}");
    }
    let sentence = words.split(". ").next().unwrap();
    assert!(index.contains(&format!("<p class=\"lead\">{sentence}.")), "{sentence} in {index}");
    assert_eq!(index.matches("class=\"row\"").count(), 13, "each run has a row");
}

#[test]
fn a_tag_on_a_site_is_all_its_runs() {
    let mindful = Mindful::new();
    for _ in 0..2 {
        mindful.measured("--tag twice");
    }
    mindful.succeed("export twice --as site --output site");
    let pages = fs::read_dir(mindful.path("site")).unwrap().map(|file| file.unwrap().file_name());
    let pages = pages.filter(|name| name.to_string_lossy().ends_with(".html")).count();
    assert_eq!(pages, 3, "the index and a page of each run");
}
