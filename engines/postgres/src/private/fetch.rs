//! The PostgreSQL that is fetched: the addresses and hashes of its archives.

use mindful_instance::fetch::{Artefact, Contents};

/// SHA-256 of the archives by version, system and architecture, as in their names.
const PINNED: &[(&str, &str, &str)] = &[
    ("18.6", "linux-amd64", "008ee189eaa7ca2b58bd01dd950291e638b998392cf982297acd4779ec898ac1"),
    ("18.6", "linux-arm64v8", "5f54e016723afa6213925a8acb939bac52944b1d348f65c7a20f0cd2928c31be"),
    ("18.6", "darwin-amd64", "690941008aac9ee360820fde9bb7870a4f3dcac5e9e2f9e45e42333a436ad0f9"),
    ("18.6", "darwin-arm64v8", "8f6ed6f38195b50a40712ada8b2a12060b6193c1a6977a6eb5cff053bb5a1b89"),
    ("17.11", "linux-amd64", "0dd7b72b6f335b8ecfb355fa24c5781e8a93edd09880bb77eb52ebbf29b3e96d"),
    ("17.11", "linux-arm64v8", "8b042e0ea418b1927d95399207950da0734d27fe01e29503ade3bdc464ad4c2b"),
    ("17.11", "darwin-amd64", "d464ff178e9860ba204662ac23fa547504b7fd392392ff2fb92e3fd73b5bdb64"),
    ("17.11", "darwin-arm64v8", "a1c2786acb0c398f9b2d76806fc52f5dc8b222cbc8e9383a9b9702084daaf3a5"),
    ("16.15", "linux-amd64", "653abc065c682b85d3da50168fb95dc524bd85426cdec9ce3695a550ef431df2"),
    ("16.15", "linux-arm64v8", "f846a9989d686b7977d6eca9bc9d8b2b69e3f70c7eb60e032197d9c574a6136c"),
    ("16.15", "darwin-amd64", "1229188b99515d2160d5cb6222bc96d9c5f3a248268df3bc2dfe0047e6c233d8"),
    ("16.15", "darwin-arm64v8", "65b953905f0a4d46030767a6b44a52360170d69a7985f1b02aa435f2f6256a83"),
];

/// The archive of version `full` for this platform. One that is not pinned here is compared with the hash that its
/// source publishes.
pub(super) fn artefact(full: &str) -> Artefact {
    let platform = format!("{}-{}", system(), architecture());
    let pinned = PINNED.iter().find(|(version, on, _)| *version == full && *on == platform);
    Artefact {
        what: format!("PostgreSQL {full}"),
        coordinates: [
            "io.zonky.test.postgres".to_owned(),
            format!("embedded-postgres-binaries-{platform}"),
            format!("{full}.0"),
        ],
        sha256: pinned.map(|(_, _, hash)| *hash),
        contents: Contents::Tar(".txz", None),
    }
}

fn system() -> &'static str {
    match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
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
    fn every_known_version_is_pinned_for_every_platform_of_ours() {
        for (_, full) in VERSIONS {
            for platform in ["linux-amd64", "linux-arm64v8", "darwin-amd64", "darwin-arm64v8"] {
                let pins: Vec<_> = PINNED.iter().filter(|(v, on, _)| v == full && *on == platform).collect();
                assert!(pins.len() == 1 && pins[0].2.len() == 64, "{full} {platform}");
            }
        }
    }

    #[test]
    fn a_version_that_is_not_known_is_not_pinned() {
        assert_eq!(artefact("15.14").sha256, None);
    }
}
