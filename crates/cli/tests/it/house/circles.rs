//! No circle of imports between the files of a crate, nor between a file and those in its folder. Only `lib.rs`, the
//! face of a crate, is ignored.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::house::members;

/// A module by its path below the crate, and the text of its file.
type Sources = BTreeMap<Vec<String>, String>;

fn read(folder: &Path, module: &[String], found: &mut Sources) {
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let inner = if ["lib", "main", "mod"].contains(&name) { None } else { Some(name.to_owned()) };
        let inner: Vec<_> = module.iter().cloned().chain(inner).collect();
        if path.is_dir() {
            read(&path, &inner, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.insert(inner, fs::read_to_string(&path).unwrap());
        }
    }
}

/// The code compiled into the crate: no comments, no unit tests.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    text.lines().map(|line| line.split("//").next().unwrap_or_default().trim()).collect::<Vec<_>>().join(" ")
}

/// The paths that begin at `text`, groups in braces taken apart.
fn expand(prefix: &str, text: &str) -> Vec<String> {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_' && c != ':').unwrap_or(text.len());
    let path = format!("{prefix}{}", &text[..end]);
    let Some(group) = text[end..].strip_prefix('{').filter(|_| path.ends_with("::")) else { return vec![path] };
    let (mut depth, mut begin, mut paths) = (0, 0, Vec::new());
    for (at, c) in group.char_indices() {
        if depth == 0 && (c == ',' || c == '}') {
            paths.extend(expand(&path, group[begin..at].trim()));
            begin = at + 1;
        }
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            _ => {}
        }
    }
    paths
}

/// The modules that `text`, the code of `module`, names by `crate::` or `super::`.
fn imports(module: &[String], text: &str, all: &Sources) -> BTreeSet<Vec<String>> {
    let begins = ["crate::", "super::"].iter().flat_map(|root| text.match_indices(root));
    let whole = begins.filter(|(at, _)| !text[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':'));
    let paths = whole.flat_map(|(at, _)| expand("", &text[at..]));
    let target = |path: String| {
        let segments: Vec<&str> = path.split("::").collect();
        let up = segments.iter().take_while(|segment| **segment == "super").count();
        let mut target = if up == 0 { Vec::new() } else { module[..module.len().saturating_sub(up)].to_vec() };
        for segment in &segments[up.max(1)..] {
            target.push((*segment).to_owned());
            if !all.contains_key(&target) {
                target.pop();
                break;
            }
        }
        target
    };
    // A file names those of its folder without `super`.
    let inner = all.keys().filter(|other| other.len() == module.len() + 1 && other.starts_with(module));
    let named = |name: &str| {
        text.match_indices(&format!("{name}::")).any(|(at, _)| {
            let before = text[..at].strip_suffix("self::").unwrap_or(&text[..at]);
            !before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':')
        })
    };
    let inner = inner.filter(|other| named(&other[module.len()])).cloned();
    paths
        .map(target)
        .chain(inner)
        .filter(|target| target != module && !target.is_empty() && !module.is_empty())
        .collect()
}

/// The modules of circles, and those between them, each with what it imports of them.
fn circles(sources: &Sources) -> BTreeMap<String, Vec<String>> {
    let all = |(module, text): (&Vec<String>, &String)| (module.clone(), imports(module, &code(text), sources));
    let mut left: BTreeMap<_, _> = sources.iter().map(all).collect();
    loop {
        let imported: BTreeSet<_> = left.values().flatten().cloned().collect();
        let ends = |(module, imports): &(&Vec<String>, &BTreeSet<_>)| {
            imports.iter().all(|import| !left.contains_key(import)) || !imported.contains(*module)
        };
        let ends: Vec<_> = left.iter().filter(ends).map(|(module, _)| module.clone()).collect();
        if ends.is_empty() {
            let name = |module: &Vec<String>| module.join("::");
            let inner =
                |imports: &BTreeSet<Vec<String>>| imports.iter().filter(|i| left.contains_key(*i)).map(name).collect();
            return left.iter().map(|(module, imports)| (name(module), inner(imports))).collect();
        }
        left.retain(|module, _| !ends.contains(module));
    }
}

#[test]
fn files_of_a_crate_import_each_other_in_one_direction() {
    let mut files = 0;
    for member in members() {
        let mut sources = Sources::new();
        read(&member.join("src"), &[], &mut sources);
        files += sources.len();
        assert_eq!(circles(&sources), BTreeMap::new(), "circles in {}", member.display());
    }
    assert!(files > 100, "the sources are read: {files} files");
}

#[test]
fn a_circle_is_seen_through_groups_and_folders() {
    let made = |files: &[(&str, &str)]| {
        let module = |path: &str| path.split("::").map(str::to_owned).collect::<Vec<_>>();
        circles(&files.iter().map(|(path, text)| (module(path), (*text).to_owned())).collect())
    };
    let circle = [
        ("plan", "use crate::{units, a::{self, deep::{X, Y}}};"),
        ("a::deep", "use super::near;\nuse crate::units::Share;"),
        ("a::near", "pub type Own = crate::plan::Plan;"),
        ("a", "pub mod deep; pub mod near;"),
        ("units", "// use crate::plan;\n#[cfg(test)]\nmod tests { use crate::plan; }"),
    ];
    assert_eq!(made(&circle).keys().collect::<Vec<_>>(), ["a::deep", "a::near", "plan"]);
    let knot = [("b", "mod inner; pub use inner::Part; pub struct Whole;"), ("b::inner", "use super::Whole;")];
    assert_eq!(made(&knot).keys().collect::<Vec<_>>(), ["b", "b::inner"]);
    assert!(made(&[knot[0], ("b::inner", "use crate::units::Share;")]).is_empty());
    let open: Vec<_> = circle.into_iter().filter(|(path, _)| *path != "a::near").collect();
    assert!(made(&open).is_empty());
}
