//! What is refused, with one line and without a trace.

use std::fs;

use crate::private::support::{fresh, opened, refusal, sql, started};
use mindful_conformance::{assert_says, names, quick_place};

#[test]
fn what_cannot_be_made_is_refused_with_the_next_step() {
    let place = quick_place();
    let shelf = place.path().join("shelf").display().to_string();
    // No system would have 15.0 next to a fetched version, and a request for it is not answered with another version.
    let unfetched = [("fetch", "off"), ("fetch_dir", &shelf), ("pg_version", "15.0")];
    let misspelt = [("set", "work_mem=8MB,shared_bufers=64MB")];
    for (folder, extra, said) in [
        ("pg", &unfetched[..], &["--pg-bin", "network", "sqlite:"][..]),
        ("a\nready", &[], &["control character"]),
        ("pg", &[("cache", "900TiB")], &["900 TiB", "--cache"]),
        ("pg", &misspelt, &["shared_bufers", "did you mean `shared_buffers`"]),
        ("pg", &[("set", "shared_buffers=much")], &["much", "--set"]),
    ] {
        let message = refusal(&place.path().join(folder), extra);
        assert_says(&message, said);
        assert_eq!(message.lines().count(), 1, "{message}");
        assert_eq!(names(place.path()), [] as [&std::path::Path; 0]);
    }
}

#[test]
fn data_of_another_major_version_is_refused_with_that_version() {
    let place = quick_place();
    let folder = place.path().join("pg");
    drop(opened(&folder, &[("pg_version", "17")]));
    assert_says(refusal(&folder, &[("pg_version", "18")]), &["--pg-version 17"]);
}

#[test]
fn a_pipe_or_a_link_in_place_of_a_file_is_not_waited_for() {
    let (place, folder, _) = fresh(&[]);
    for name in ["pgdata/PG_VERSION", "pgdata/postmaster.pid", "pgdata/global/pg_control", "server.log", "mindful.lock"]
    {
        let (path, aside) = (folder.join(name), place.path().join("aside"));
        let was = fs::rename(&path, &aside).is_ok();
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, 0o666.into(), 0).unwrap();
        let message = refusal(&folder, &[]);
        assert!(message.contains("plain file") || message.contains("no such device"), "{name}: {message}");
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(place.path().join("elsewhere"), &path).unwrap();
        if name != "pgdata/PG_VERSION" {
            refusal(&folder, &[]);
        }
        assert!(!place.path().join("elsewhere").exists(), "{name} was followed");
        fs::remove_file(&path).unwrap();
        if was {
            fs::rename(&aside, &path).unwrap();
        }
    }
    assert_eq!(sql(&started(&folder, &[]), "SELECT 1"), "1");
}

#[test]
fn a_mark_of_another_user_does_not_count() {
    if rustix::process::geteuid().as_raw() != 0 {
        return mindful_conformance::not_run("only root can make files of somebody else");
    }
    let (_place, folder, _) = fresh(&[]);
    std::os::unix::fs::chown(&folder, Some(4_000_000), None).unwrap();
    assert_says(refusal(&folder, &[]), &["user number 4000000", "nothing was changed"]);
}
