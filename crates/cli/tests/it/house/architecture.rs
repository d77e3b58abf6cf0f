//! The direction of imports, and that every engine is registered.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::house::{all_sources, crates, product, root, sources, table, text};

/// Our own crates that the manifest in `folder` depends on, development left out.
fn imports(folder: &str) -> BTreeSet<String> {
    let manifest = table(format!("{folder}/Cargo.toml"));
    let dependencies = manifest.get("dependencies").and_then(|d| d.as_table()).cloned().unwrap_or_default();
    dependencies.keys().filter_map(|name| name.strip_prefix("mindful-")).map(str::to_owned).collect()
}

/// The table of ARCHITECTURE.md: a crate, its contents, and what it may import of ours.
#[test]
fn each_crate_imports_only_what_the_table_allows() {
    let page = text("ARCHITECTURE.md");
    for folder in crates("crates").into_iter().chain(crates("engines")) {
        let (parent, name) = folder.split_once('/').unwrap();
        let row = if parent == "engines" { "| `engines/*` |".to_owned() } else { format!("| `{name}` |") };
        let row = page.lines().find(|line| line.starts_with(&row)).unwrap_or_else(|| panic!("no row of {folder}"));
        let allowed = row.trim_end_matches(" |").rsplit(" | ").next().unwrap();
        let imported = imports(&folder);
        assert!(parent != "engines" || imported.contains("core"), "{folder} does not import core");
        for import in imported {
            assert!(allowed == "all" || allowed.split(", ").any(|name| name == import), "{folder} imports {import}");
        }
    }
}

/// There, limits are put around what a server sends.
#[test]
fn drivers_connect_in_one_place_of_their_engine() {
    let places = [
        ("connect_raw(", "postgres/src/connect/connection.rs"),
        ("cancel_query", "postgres/src/connect/connection.rs"),
        ("TcpStream::connect", "mysql/src/connect/wire.rs postgres/src/connect/transport.rs"),
        ("UnixStream::connect", "mysql/src/connect/wire.rs postgres/src/connect/transport.rs"),
        ("connect(NoTls", ""),
        ("Pool::new(", ""),
    ];
    for (file, text) in ["engines/mysql/src", "engines/postgres/src"].iter().flat_map(sources) {
        let product = text.split("#[cfg(test)]").next().unwrap();
        for (call, allowed) in places {
            let is_allowed = allowed.split(' ').any(|place| !place.is_empty() && file.ends_with(place));
            assert!(is_allowed || !product.contains(call), "{} has {call}", file.display());
        }
    }
}

#[test]
fn every_engine_is_in_the_registry() {
    let registry = text("crates/cli/src/registry.rs");
    // The skeleton is a template.
    for folder in crates("engines").into_iter().filter(|folder| folder != "engines/skeleton") {
        let name = folder.replace("engines/", "mindful_");
        assert!(registry.contains(&format!("&{name}::ENGINE")), "{folder} is not registered");
    }
}

/// The sources of all crates but `except`.
fn sources_without(except: &str) -> impl Iterator<Item = (PathBuf, String)> {
    crates("crates").into_iter().filter(move |folder| folder != except).flat_map(|folder| sources(folder + "/src"))
}

#[test]
fn no_crate_but_cli_names_an_engine() {
    let engines: Vec<_> =
        crates("engines").iter().map(|folder| folder.replace("engines/", "mindful_") + "::").collect();
    for (file, text) in sources_without("crates/cli") {
        let named = engines.iter().find(|engine| text.contains(*engine));
        assert_eq!(named, None, "{} names an engine", file.display());
    }
}

#[test]
fn nothing_outside_import_names_a_format_of_another_tool() {
    let formats = sources("crates/import/src/formats").into_iter();
    let formats = formats.filter(|(_, text)| text.contains(": Format = Format {"));
    let formats: BTreeSet<String> =
        formats.map(|(path, _)| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    assert!(formats.len() >= 8, "{formats:?}");
    let open = ["lib.rs", "formats.rs"].map(|file| text(format!("crates/import/src/{file}"))).concat();
    for format in &formats {
        assert!(!open.contains(&format!("pub mod {format};")), "{format} is open to other crates");
    }
    for (file, text) in sources_without("crates/import") {
        for format in &formats {
            let paths = ["formats::", ""].map(|module| format!("mindful_import::{module}{format}"));
            assert!(paths.iter().all(|path| !text.contains(path)), "{} names {format}", file.display());
        }
    }
}

/// Words of one engine: its settings, its system calls, its commands.
const OF_ONE_ENGINE: &str = "pg_,postgres,sqlite,mysql,innodb,wal_,uring,psync,pread,o_direct,fsync,\
    shared_buffers,vacuum,synchronous_commit,journal_mode,full_page,debug_io,alter system,hot_upd,iodepth=";

/// Allowed uses of such a word: the file, and the text that is removed from it.
const WITH_REASON: [(&str, &str); 3] = [
    // A way to open files, of no engine.
    ("analyze/src/commit_contrast.rs", "o_dsync and o_direct"),
    // The kind of finding is stored in runs under this name.
    ("analyze/src/checks/server.rs", "codes::autovacuum"),
    // A column of SLOB's `awr_info`.
    ("report/src/export/old_columns.rs", "\"preads\""),
];

#[test]
fn names_of_one_engine_stay_in_its_folder() {
    for (file, text) in ["runner", "analyze", "report"].iter().flat_map(|name| sources(format!("crates/{name}/src"))) {
        let lines = product(&text).lines().map(|line| line.split("//").next().unwrap().to_lowercase());
        let mut code: String = lines.collect::<Vec<_>>().join("\n");
        for (_, with_reason) in WITH_REASON.iter().filter(|(place, _)| file.ends_with(place)) {
            assert!(code.contains(with_reason), "{} no longer says {with_reason}", file.display());
            code = code.replace(with_reason, "");
        }
        for word in OF_ONE_ENGINE.split(',') {
            // `measuring` and `spread` are other words.
            let at = code.match_indices(word).find(|(at, _)| !code[..*at].ends_with(|c: char| c.is_alphanumeric()));
            assert!(at.is_none(), "{} says `{word}`", file.display());
        }
    }
}

/// The code that counts something, or finds a fact about hosts and storage, shares a variant with its reader, so that
/// neither can rename it alone.
#[test]
fn names_of_counters_and_facts_are_in_one_place() {
    let [metric, fact] = ["metric", "fact"].map(|name| format!("crates/core/src/contract/{name}.rs"));
    let counters = text(&metric);
    let counters = counters.split_once("pub enum Counter {").unwrap().1.split_once("    }").unwrap().0;
    for (shared, text, least) in [(&metric, counters, 40), (&fact, &*text(&fact), 8)] {
        let names = text.lines().filter_map(|line| line.split_once(" = ")?.1.strip_suffix(','));
        // A single word has other uses, too.
        let names: Vec<&str> =
            names.filter(|name| name.starts_with('"') && (shared == &fact || name.contains('_'))).collect();
        assert!(names.len() > least, "{names:?}");
        for (file, text) in all_sources() {
            let is_test = file.components().any(|part| part.as_os_str() == "tests");
            let said = names.iter().find(|name| product(&text).contains(**name));
            assert!(is_test || file.ends_with(shared) || said.is_none(), "{} says {said:?}", file.display());
        }
    }
}

/// The test program next to `it`: the limit of locked memory is a whole process's.
const OWN_PROCESS: &str = "engines/raw/tests/memlock.rs";

#[test]
fn names_of_functions_have_at_most_sixty_characters() {
    for (file, text) in all_sources() {
        let names = text.lines().filter_map(|line| Some(line.split_once("fn ")?.1));
        let mut names = names.map(|name| name.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap());
        assert_eq!(names.find(|name| name.len() > 60), None, "{}", file.display());
    }
}

#[test]
fn the_tests_of_a_crate_are_one_program() {
    for (file, _) in all_sources() {
        let is_program = file.parent().is_some_and(|folder| folder.ends_with("tests"));
        assert!(!is_program || file.ends_with(OWN_PROCESS), "{} belongs in the folder `it`", file.display());
    }
}

/// The pages of the project and of each engine.
fn pages() -> Vec<PathBuf> {
    let folders = crates("engines").into_iter().chain(["", "docs", "docs/notebook"].map(str::to_owned));
    let files =
        folders.flat_map(|folder| fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path()));
    files.filter(|file| file.extension().is_some_and(|extension| extension == "md")).collect()
}

/// The comments of a source.
fn comments(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim_start).filter(|line| line.starts_with("//"))
}

#[test]
fn pages_that_comments_name_are_there() {
    let known: Vec<_> = pages().iter().map(|page| page.file_name().unwrap().to_owned()).collect();
    let files = all_sources().into_iter();
    // An example may name the file that it writes.
    for (file, text) in files.filter(|(file, _)| !file.iter().any(|part| part == "examples")) {
        let words =
            comments(&text).flat_map(|line| line.split(|c: char| !(c.is_ascii_alphanumeric() || "._-/".contains(c))));
        for page in words.map(|word| Path::new(word.trim_end_matches('.'))) {
            let named = page.extension().is_some_and(|extension| extension == "md");
            assert!(!named || known.iter().any(|known| page.ends_with(known)), "{}: {page:?}", file.display());
        }
    }
}

/// The gate does not run programs in comments, so they would never be tested.
#[test]
fn no_comment_holds_a_program() {
    for (file, text) in all_sources() {
        let fences = comments(&text).filter_map(|line| line.trim_start_matches(['/', '!', ' ']).strip_prefix("```"));
        let open = fences.step_by(2).find(|kind| *kind != "text");
        assert_eq!(open, None, "{}", file.display());
    }
}
