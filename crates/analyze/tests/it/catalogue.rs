//! The catalogue of figures against the page that lists them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use mindful_analyze::catalogue;

#[test]
fn every_figure_is_on_the_page_with_its_formula() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/metrics.md");
    let (page, table) = (fs::read_to_string(&path).unwrap(), catalogue::markdown());
    let head = &table[..=table.find('\n').unwrap()];
    let begin = page.find(head).unwrap();
    let end = page[begin..].find("\n\n").map_or(page.len(), |end| begin + end + 1);
    if std::env::var_os("UPDATE_METRICS").is_some() {
        fs::write(&path, [&page[..begin], &table, &page[end..]].concat()).unwrap();
    } else {
        let anew = "UPDATE_METRICS=1 cargo test -p mindful-analyze --test it catalogue:: rewrites it";
        assert_eq!(&page[begin..end], table, "docs/metrics.md: {anew}");
    }
}

#[test]
fn no_two_columns_have_one_title_and_every_path_is_found() {
    let columns: Vec<_> = catalogue::csv().collect();
    let titles: BTreeSet<_> = columns.iter().copied().map(catalogue::Figure::title).collect();
    assert_eq!(titles.len(), columns.len());
    for column in columns {
        for name in [column.row.path.clone(), column.title()] {
            assert_eq!(catalogue::find(&name).map(|figure| &figure.row.path), Some(&column.row.path), "{name}");
        }
    }
}
