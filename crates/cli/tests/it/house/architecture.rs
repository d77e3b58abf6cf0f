//! The direction of imports, and that every engine is registered.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::house::{all_sources, root, sources};

fn folders(parent: &str) -> BTreeSet<String> {
    fs::read_dir(root().join(parent))
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().join("Cargo.toml").exists())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect()
}

/// Our own crates that the manifest in `folder` depends on, development left out.
fn imports(folder: &str) -> BTreeSet<String> {
    let text = fs::read_to_string(root().join(folder).join("Cargo.toml")).unwrap();
    let manifest: toml::Table = text.parse().unwrap();
    let dependencies = manifest.get("dependencies").and_then(|d| d.as_table()).cloned().unwrap_or_default();
    dependencies.keys().filter_map(|name| name.strip_prefix("mindful-")).map(str::to_owned).collect()
}

#[test]
fn each_crate_imports_only_crates_before_it() {
    let allowed: BTreeMap<&str, &[&str]> = BTreeMap::from([
        ("core", &[][..]),
        ("host", &["core"]),
        ("oracle-terms", &["core"]),
        ("instance", &["core", "host"]),
        ("sql", &["core", "host"]),
        ("observe", &["core", "host"]),
        ("record", &["core", "host"]),
        ("analyze", &["core"]),
        ("runner", &["core", "host", "observe", "record", "analyze"]),
        ("ranks", &["core", "record", "analyze", "runner"]),
        ("report", &["core", "analyze"]),
        ("conformance", &["core", "host"]),
        ("import", &["core", "oracle-terms"]),
    ]);
    for name in folders("crates") {
        if name == "cli" {
            continue;
        }
        let allowed = allowed.get(name.as_str()).unwrap_or_else(|| panic!("crates/{name} is not in this table"));
        for import in imports(&format!("crates/{name}")) {
            assert!(allowed.contains(&import.as_str()), "crates/{name} imports {import}");
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
    let engines = ["mysql", "postgres"].map(|engine| root().join("engines").join(engine).join("src"));
    for file in engines.iter().flat_map(|engine| sources(engine)) {
        let text = fs::read_to_string(&file).unwrap();
        let product = text.split("#[cfg(test)]").next().unwrap();
        for (call, allowed) in places {
            let is_allowed = allowed.split(' ').any(|place| !place.is_empty() && file.ends_with(place));
            assert!(is_allowed || !product.contains(call), "{} has {call}", file.display());
        }
    }
}

#[test]
fn an_engine_imports_only_shared_crates() {
    let allowed = BTreeSet::from(["core", "host", "instance", "oracle-terms", "sql"].map(str::to_owned));
    for name in folders("engines") {
        let imports = imports(&format!("engines/{name}"));
        assert!(imports.contains("core") && imports.is_subset(&allowed), "engines/{name} imports {imports:?}");
    }
}

#[test]
fn every_engine_is_in_the_registry() {
    let registry = fs::read_to_string(root().join("crates/cli/src/registry.rs")).unwrap();
    // The skeleton is a template.
    for name in folders("engines").into_iter().filter(|name| name != "skeleton") {
        assert!(registry.contains(&format!("&mindful_{name}::ENGINE")), "engines/{name} is not registered");
    }
}

#[test]
fn no_crate_but_cli_names_an_engine() {
    let engines = folders("engines");
    for name in folders("crates").into_iter().filter(|name| name != "cli") {
        for file in sources(&root().join("crates").join(&name).join("src")) {
            let text = fs::read_to_string(&file).unwrap();
            for engine in &engines {
                assert!(!text.contains(&format!("mindful_{engine}::")), "{} names engine {engine}", file.display());
            }
        }
    }
}

#[test]
fn nothing_outside_import_names_a_format_of_another_tool() {
    let import = root().join("crates/import/src");
    let formats: BTreeSet<String> = formats(&import.join("formats"))
        .into_iter()
        .flat_map(|format| [format!("mindful_import::formats::{format}"), format!("mindful_import::{format}")])
        .collect();
    assert!(formats.len() >= 16, "{formats:?}");
    let open = ["lib.rs", "formats.rs"].map(|file| fs::read_to_string(import.join(file)).unwrap()).concat();
    for format in &formats {
        let (_, module) = format.rsplit_once("::").unwrap();
        assert!(!open.contains(&format!("pub mod {module};")), "{module} is open to other crates");
        for name in folders("crates").into_iter().filter(|name| name != "import") {
            for file in sources(&root().join("crates").join(&name).join("src")) {
                let text = fs::read_to_string(&file).unwrap();
                assert!(!text.contains(format), "{} names {format}", file.display());
            }
        }
    }
}

fn formats(parent: &Path) -> BTreeSet<String> {
    let is = |path: &PathBuf| path.is_file() && fs::read_to_string(path).unwrap().contains(": Format = Format {");
    let files = fs::read_dir(parent).unwrap().map(|entry| entry.unwrap().path()).filter(is);
    files.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect()
}

/// Words of one engine: its settings, its system calls, its commands.
const OF_ONE_ENGINE: [&str; 20] = [
    "pg_",
    "postgres",
    "sqlite",
    "mysql",
    "innodb",
    "wal_",
    "uring",
    "psync",
    "pread",
    "o_direct",
    "fsync",
    "shared_buffers",
    "vacuum",
    "synchronous_commit",
    "journal_mode",
    "full_page",
    "debug_io",
    "alter system",
    "hot_upd",
    "iodepth=",
];

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
    for (name, folder) in
        ["runner", "analyze", "report"].map(|name| (name, root().join("crates").join(name).join("src")))
    {
        for file in sources(&folder) {
            let text = fs::read_to_string(&file).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
            let lines = code.lines().map(|line| line.split("//").next().unwrap().to_lowercase());
            let mut code: String = lines.collect::<Vec<_>>().join("\n");
            for (_, with_reason) in WITH_REASON.iter().filter(|(place, _)| file.ends_with(place)) {
                assert!(code.contains(with_reason), "{} no longer says {with_reason}", file.display());
                code = code.replace(with_reason, "");
            }
            for word in OF_ONE_ENGINE {
                // `measuring` and `spread` are other words.
                let at = code.match_indices(word).find(|(at, _)| !code[..*at].ends_with(|c: char| c.is_alphanumeric()));
                assert!(at.is_none(), "crates/{name}: {} says `{word}`", file.display());
            }
        }
    }
}

/// The code that counts something and its reader share a variant, so that neither can rename it alone.
#[test]
fn names_of_counters_are_in_one_place() {
    let shared = root().join("crates/core/src/contract/metric.rs");
    let text = fs::read_to_string(&shared).unwrap();
    let counters = text.split_once("pub enum Counter {").unwrap().1.split_once("    }").unwrap().0;
    let names = counters.lines().filter_map(|line| line.split_once(" = ")?.1.strip_suffix(','));
    // A single word has other uses, too.
    let names: Vec<&str> = names.filter(|name| name.contains('_')).collect();
    assert!(names.len() > 40, "{names:?}");
    no_other_source_contains(&shared, &names);
}

/// The same for facts about hosts and storage.
#[test]
fn names_of_facts_are_in_one_place() {
    let shared = root().join("crates/core/src/contract/fact.rs");
    let text = fs::read_to_string(&shared).unwrap();
    let names: Vec<&str> = text.lines().filter_map(|line| line.split_once(" = ")?.1.strip_suffix(',')).collect();
    let names: Vec<&str> = names.into_iter().filter(|name| name.starts_with('"')).collect();
    assert!(names.len() > 8, "{names:?}");
    no_other_source_contains(&shared, &names);
}

/// No source but `shared` and tests holds any of `names`.
fn no_other_source_contains(shared: &Path, names: &[&str]) {
    for file in all_sources() {
        let text = fs::read_to_string(&file).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        let is_test = file.components().any(|part| part.as_os_str() == "tests");
        let said = names.iter().find(|name| code.contains(**name));
        assert!(is_test || file == shared || said.is_none(), "{} says {said:?}", file.display());
    }
}

/// Test programs next to `it`: the limit of locked memory is a whole process's.
const OWN_PROCESS: [&str; 1] = ["engines/raw/tests/memlock.rs"];

#[test]
fn names_of_functions_have_at_most_sixty_characters() {
    let names = all_sources().into_iter().flat_map(|path| {
        let text = fs::read_to_string(&path).unwrap();
        let names: Vec<String> = text
            .lines()
            .filter_map(|line| line.split_once("fn ").map(|(_, name)| name))
            .map(|name| name.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect())
            .collect();
        names
    });
    let long: BTreeSet<String> = names.filter(|name| name.len() > 60).collect();
    assert_eq!(long, BTreeSet::new());
}

#[test]
fn the_tests_of_a_crate_are_one_program() {
    for parent in ["crates", "engines"] {
        for name in folders(parent) {
            let folder = format!("{parent}/{name}/tests");
            let files =
                fs::read_dir(root().join(&folder)).into_iter().flatten().map(|entry| entry.unwrap().file_name());
            for file in files.map(|file| format!("{folder}/{}", file.into_string().unwrap())) {
                let program = Path::new(&file).extension().is_some_and(|extension| extension == "rs");
                assert!(!program || OWN_PROCESS.contains(&file.as_str()), "{file} belongs in {folder}/it");
            }
        }
    }
}

/// The pages of the project and of each engine.
fn pages(root: &Path) -> Vec<PathBuf> {
    let folders = folders("engines").into_iter().map(|engine| root.join("engines").join(engine));
    let files = folders
        .chain([root.to_owned(), root.join("docs"), root.join("docs/notebook")])
        .flat_map(|folder| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()));
    files.filter(|file| file.extension().is_some_and(|extension| extension == "md")).collect()
}

#[test]
fn pages_that_comments_name_are_there() {
    let known: Vec<_> = pages(&root()).iter().map(|page| page.file_name().unwrap().to_owned()).collect();
    let files = all_sources().into_iter();
    // An example may name the file that it writes.
    for file in files.filter(|file| !file.iter().any(|part| part == "examples")) {
        let text = fs::read_to_string(&file).unwrap();
        let comments = text.lines().map(str::trim_start).filter(|line| line.starts_with("//"));
        let words = comments.flat_map(|line| line.split(|c: char| !(c.is_ascii_alphanumeric() || "._-/".contains(c))));
        for page in words.map(|word| Path::new(word.trim_end_matches('.'))) {
            let named = page.extension().is_some_and(|extension| extension == "md");
            assert!(!named || known.iter().any(|known| page.ends_with(known)), "{}: {page:?}", file.display());
        }
    }
}

/// The gate does not run programs in comments, so they would never be tested.
#[test]
fn no_comment_holds_a_program() {
    for file in all_sources() {
        let text = fs::read_to_string(&file).unwrap();
        let comments = text.lines().map(str::trim_start).filter(|line| line.starts_with("//"));
        let fences = comments.filter_map(|line| line.trim_start_matches(['/', '!', ' ']).strip_prefix("```"));
        let open = fences.step_by(2).find(|kind| *kind != "text");
        assert_eq!(open, None, "{}", file.display());
    }
}
