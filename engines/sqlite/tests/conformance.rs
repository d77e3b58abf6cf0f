//! The conformance suite on real SQLite files.

use mindful_conformance::Fixture;

fn fixture() -> Fixture {
    let folder = tempfile::tempdir().expect("a folder for the file");
    let url = format!("sqlite:{}", folder.path().join("mindful.db").display());
    let mut fixture = Fixture::new(&mindful_sqlite::ENGINE, url).keeping(folder);
    fixture.bad_urls.extend(["sqlite:".to_owned(), "sqlite:/".to_owned(), "sqlite:/proc/version".to_owned()]);
    fixture
}

mindful_conformance::suite!(fixture);
