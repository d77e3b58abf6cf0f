//! The dependencies of mindful: every one is used, and its licence is one of those in deny.toml.

use std::process::Command;

use mindful_conformance::not_run;
use serde_json::Value;

use crate::house::{members, root, rust, table};
use crate::mindful::message;

/// Whether `text` holds `word`, not as a part of another one.
fn names(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|found| found == word)
}

#[test]
fn every_dependency_is_used_by_the_crate_that_names_it() {
    let mut named = Vec::new();
    for folder in members().into_iter().filter(|folder| folder.join("Cargo.toml").exists()) {
        let manifest = table(folder.join("Cargo.toml"));
        for (section, parts) in [
            ("dependencies", &["src"][..]),
            ("dev-dependencies", &["src", "tests", "benches", "examples"]),
            ("build-dependencies", &["build.rs"]),
        ] {
            let text: String = parts.iter().map(|part| rust(&folder.join(part))).collect();
            for name in manifest.get(section).and_then(|d| d.as_table()).into_iter().flat_map(|d| d.keys()) {
                assert!(names(&text, &name.replace('-', "_")), "{} does not use {name}", folder.display());
                named.push(name.clone());
            }
        }
    }
    let workspace = table("Cargo.toml");
    for name in workspace["workspace"]["dependencies"].as_table().unwrap().keys() {
        assert!(named.contains(name), "no crate of the workspace names {name}");
    }
}

#[test]
fn every_licence_of_the_tree_is_allowed() {
    let deny = table("deny.toml");
    let allowed: Vec<&str> = deny["licenses"]["allow"].as_array().unwrap().iter().filter_map(|l| l.as_str()).collect();
    let platform = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let asked = Command::new(env!("CARGO"))
        .args(["metadata", "--all-features", "--locked", "--offline", "--format-version", "1"])
        .args(["--filter-platform", &platform])
        .current_dir(root())
        .output();
    let output = match asked {
        Ok(output) => output,
        Err(error) => return not_run(&format!("cargo cannot be called: {error}")),
    };
    assert!(output.status.success(), "{}", message(&output));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    assert!(packages.len() > 100, "{} packages", packages.len());
    for package in packages {
        let name = package["name"].as_str().unwrap();
        let said = package["license"].as_str().or_else(|| clarified(&deny, name));
        let licence = said.unwrap_or_else(|| panic!("{name} has no licence"));
        assert!(allows(&allowed, licence), "{name} is under {licence}");
    }
}

/// The licence, from deny.toml, of a package that names a licence file instead.
fn clarified<'a>(deny: &'a toml::Table, name: &str) -> Option<&'a str> {
    let all = deny["licenses"].get("clarify")?.as_array()?;
    all.iter().find(|one| one["crate"].as_str() == Some(name))?["expression"].as_str()
}

/// Whether each part of an SPDX expression has an alternative that is allowed.
fn allows(allowed: &[&str], licence: &str) -> bool {
    let plain = licence.replace(['(', ')'], "").replace('/', " OR ");
    plain.split(" AND ").all(|part| part.split(" OR ").any(|name| allowed.contains(&name.trim())))
}

#[test]
fn an_expression_is_allowed_by_one_alternative_of_each_part() {
    for (licence, allows) in [
        ("MIT/Apache-2.0", true),
        ("(GPL-3.0 OR MIT) AND ISC", true),
        ("MIT AND GPL-3.0", false),
        ("GPL-2.0 WITH Classpath-exception-2.0", false),
        ("LGPL-3.0", false),
    ] {
        assert_eq!(self::allows(&["MIT", "Apache-2.0", "ISC"], licence), allows, "{licence}");
    }
}
