//! The manifests' fields for packages and the registry of crates, and the agreement of dist/ scripts with pages.

use crate::mindful::message;
use std::fs;

use crate::house::{crates, root, table, text};

/// The folders of all crates, with their manifests.
fn manifests() -> impl Iterator<Item = (String, toml::Table)> {
    let folders = crates("crates").into_iter().chain(crates("engines"));
    folders.map(|folder| (folder.clone(), table(folder + "/Cargo.toml")))
}

#[test]
fn each_published_crate_has_a_description() {
    let published: Vec<_> = manifests().filter(|(_, manifest)| manifest["package"].get("publish").is_none()).collect();
    assert!(published.len() > 10, "{}", published.len());
    for (path, manifest) in published {
        let package = &manifest["package"];
        assert!(package["description"].as_str().is_some_and(|text| text.len() > 30), "{path} has no description");
        for field in ["license", "keywords", "categories", "version"] {
            assert!(package.get(field).is_some(), "{path} has no {field}");
        }
    }
}

#[test]
fn path_dependencies_have_the_version_of_the_workspace() {
    let workspace = table("Cargo.toml");
    let version = &workspace["workspace"]["package"]["version"];
    let mut ours = 0;
    for (name, dependency) in workspace["workspace"]["dependencies"].as_table().unwrap() {
        let Some(path) = dependency.get("path") else { continue };
        let manifest = table(format!("{}/Cargo.toml", path.as_str().unwrap()));
        // A published crate does not depend on an unpublished one: only a development dependency may lack a version.
        let published = manifest["package"].get("publish").is_none();
        assert_eq!(dependency.get("version"), published.then_some(version), "{name}");
        ours += 1;
    }
    assert!(ours > 10, "{ours}");
    for (path, manifest) in manifests() {
        let used = manifest.get("dependencies").and_then(|all| all.get("mindful-conformance"));
        assert!(used.is_none(), "{path} depends on a crate that is not published");
    }
}

#[test]
fn packages_contain_the_files_of_the_layout() {
    let layout = text("dist/files");
    let manifest = table("crates/cli/Cargo.toml");
    let metadata = &manifest["package"]["metadata"];
    let deb = metadata["deb"]["assets"].as_array().unwrap().iter().map(|asset| asset[0].as_str().unwrap());
    let rpm =
        metadata["generate-rpm"]["assets"].as_array().unwrap().iter().map(|asset| asset["source"].as_str().unwrap());
    let sources: Vec<_> = deb.chain(rpm).filter_map(|path| path.strip_prefix("../../target/packages/files/")).collect();
    assert_eq!(sources.len(), 14, "{sources:?}");
    for source in sources {
        let known = match source.strip_prefix("share/") {
            Some(shared) => layout.contains(shared.split(['*', '/']).next().unwrap()),
            None => layout.contains("$files/bin/mindful"),
        };
        assert!(known, "dist/files does not lay out {source}");
    }
    assert_eq!(metadata["deb"]["depends"].as_str(), Some("libc6 (>= 2.28)"));
    assert_eq!(metadata["generate-rpm"]["requires"]["glibc"].as_str(), Some(">= 2.28"));
}

#[test]
fn the_job_runs_the_image_of_this_version_as_its_user() {
    let (job, image, version) = (text("dist/job.yaml"), text("dist/Containerfile"), env!("CARGO_PKG_VERSION"));
    assert!(job.contains(&format!("/mindful:{version}\n")), "dist/job.yaml names another version");
    let user = image.split("--uid ").nth(1).unwrap().split_whitespace().next().unwrap();
    assert!(job.contains(&format!("runAsUser: {user}\n")) && job.contains(&format!("fsGroup: {user}\n")), "{user}");
    assert!(job.contains("mountPath: /data}") && image.contains("XDG_DATA_HOME=/data"), "data lies elsewhere");
}

#[test]
fn each_command_of_dist_is_documented_and_names_missing_tools() {
    let page = text("docs/install.md") + &text("dist/RELEASE.md");
    for entry in fs::read_dir(root().join("dist")).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        if name.contains('.') || name == "Containerfile" {
            continue;
        }
        let script = text(format!("dist/{name}"));
        assert!(page.contains(&format!("dist/{name}")), "dist/{name} is in no page");
        let begin = format!("#!/usr/bin/env bash\n# dist/{name}: ");
        assert!(script.starts_with(&begin), "dist/{name} says not what it makes");
        assert!(script.contains("\nneed ") || script.contains("\nbuild\n"), "dist/{name} checks for no tool");
    }
    // A missing tool is named in one line with the command to install it.
    let output = std::process::Command::new("bash")
        .args(["-c", r#". dist/common.sh; need no-such-tool "apt-get install it""#])
        .current_dir(root())
        .output()
        .unwrap();
    let line = message(&output);
    assert_eq!((output.status.code(), line.lines().count()), (Some(2), 1), "{line}");
    assert!(line.contains("no-such-tool is missing: apt-get install it"), "{line}");
}
