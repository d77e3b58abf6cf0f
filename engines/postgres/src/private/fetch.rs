//! The PostgreSQL that is fetched: the addresses and hashes of its archives.

use mindful_instance::fetch::{Artefact, Contents};

/// SHA-256 of the archives by version and architecture, as in their names.
const PINNED: &[(&str, &str, &str)] = &[
    ("18.6", "amd64", "008ee189eaa7ca2b58bd01dd950291e638b998392cf982297acd4779ec898ac1"),
    ("18.6", "arm64v8", "5f54e016723afa6213925a8acb939bac52944b1d348f65c7a20f0cd2928c31be"),
    ("17.11", "amd64", "0dd7b72b6f335b8ecfb355fa24c5781e8a93edd09880bb77eb52ebbf29b3e96d"),
    ("17.11", "arm64v8", "8b042e0ea418b1927d95399207950da0734d27fe01e29503ade3bdc464ad4c2b"),
    ("16.15", "amd64", "653abc065c682b85d3da50168fb95dc524bd85426cdec9ce3695a550ef431df2"),
    ("16.15", "arm64v8", "f846a9989d686b7977d6eca9bc9d8b2b69e3f70c7eb60e032197d9c574a6136c"),
];

/// The archive of version `full` for this platform. One that is not pinned here is compared with the hash that its
/// source publishes.
pub(super) fn artefact(full: &str) -> Artefact {
    let architecture = architecture();
    let pinned = PINNED.iter().find(|(version, on, _)| *version == full && *on == architecture);
    Artefact {
        what: format!("PostgreSQL {full}"),
        coordinates: [
            "io.zonky.test.postgres".to_owned(),
            format!("embedded-postgres-binaries-linux-{architecture}"),
            format!("{full}.0"),
        ],
        sha256: pinned.map(|(_, _, hash)| *hash),
        contents: Contents::Tar(".txz", None),
    }
}

fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "arm" => "arm32v7",
        "x86_64" => "amd64",
        "aarch64" => "arm64v8",
        "powerpc64" => "ppc64le",
        "x86" => "i386",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::private::options::PINNED as VERSIONS;

    #[test]
    fn every_known_version_is_pinned_for_both_architectures() {
        for (_, full) in VERSIONS {
            for architecture in ["amd64", "arm64v8"] {
                let pins: Vec<_> = PINNED.iter().filter(|(v, on, _)| v == full && *on == architecture).collect();
                assert!(pins.len() == 1 && pins[0].2.len() == 64, "{full} {architecture}");
            }
        }
    }

    #[test]
    fn a_version_that_is_not_known_is_not_pinned() {
        assert_eq!(artefact("15.14").sha256, None);
    }
}
