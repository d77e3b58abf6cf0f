//! The catalogue of figures against the page that lists them.

use std::collections::BTreeSet;

use mindful_analyze::catalogue;

#[test]
fn every_figure_is_on_the_page_with_its_formula() {
    let (page, table) = (include_str!("../../../../docs/metrics.md"), catalogue::markdown());
    assert!(page.contains(&table), "docs/metrics.md, `Figures of a step`, shall hold:\n{table}");
}

#[test]
fn no_two_columns_have_one_title_and_every_path_is_found() {
    let columns = catalogue::csv();
    let titles: BTreeSet<_> = columns.iter().map(catalogue::Column::title).collect();
    assert_eq!(titles.len(), columns.len());
    for column in columns {
        for name in [column.path(), column.title()] {
            assert_eq!(catalogue::find(&name).map(|found| found.path()), Some(column.path()), "{name}");
        }
    }
}
