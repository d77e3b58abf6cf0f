//! Settings of the server that cannot matter for the access path that is measured.

use mindful_core::workload::Access;
use tokio_postgres::Client;

use crate::private::is_direct_io;

/// Settings of reads ahead, of several blocks at once or by others; `io_min_workers` and `io_max_workers` since 19.
pub(crate) const OF_READ_AHEAD: [&str; 9] = [
    "io_method",
    WORKERS[0],
    WORKERS[1],
    WORKERS[2],
    "io_max_concurrency",
    "effective_io_concurrency",
    "io_combine_limit",
    "io_max_combine_limit",
    "maintenance_io_concurrency",
];

/// Settings of the processes that read for others.
const WORKERS: [&str; 3] = ["io_workers", "io_min_workers", "io_max_workers"];

/// The newest version that is known to read the blocks of an index scan one by one, when they are needed.
const INDEX_SCANS_KNOWN: u32 = 18;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Server {
    pub major: u32,
    /// The read method, if the server has several.
    pub io_method: Option<String>,
    pub direct: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Path<'a> {
    pub server: &'a Server,
    pub access: Access,
}

impl Server {
    pub(crate) async fn read(client: &Client) -> Result<Self, tokio_postgres::Error> {
        let row = client.query_one(include_str!("../../sql/read_ahead.sql"), &[]).await?;
        let direct: Option<String> = row.get("direct");
        Ok(Self {
            major: row.get::<_, i32>("major").unsigned_abs(),
            io_method: row.get("io_method"),
            direct: direct.as_deref().is_some_and(is_direct_io),
        })
    }

    pub(crate) fn of_path(&self, access: Access, scans: bool) -> Path<'_> {
        Path { server: self, access: if scans { Access::Scan } else { access } }
    }
}

/// The settings that cannot affect reads by `path`, in the order of [`OF_READ_AHEAD`].
pub(crate) fn names(path: &Path<'_>) -> Vec<String> {
    OF_READ_AHEAD.into_iter().filter(|name| why(name, path).is_some()).map(str::to_owned).collect()
}

/// Why `setting` cannot affect reads by `path`; `None` if it can, or if that is unknown.
pub(crate) fn why(setting: &str, path: &Path<'_>) -> Option<&'static str> {
    let Path { server, access } = path;
    if !OF_READ_AHEAD.contains(&setting) {
        return None;
    }
    let others = server.io_method.as_deref().is_some_and(|method| method != "worker");
    if WORKERS.contains(&setting) && others {
        return Some("io_method is not worker, so no worker reads");
    }
    if setting == "maintenance_io_concurrency" {
        return Some("it is for VACUUM and the like, not for queries");
    }
    match access {
        Access::Index if server.major <= INDEX_SCANS_KNOWN => {
            Some("an index scan reads one block after the other, each by the session itself when it needs it")
        }
        // This read-ahead only advises the page cache, which direct I/O bypasses.
        Access::Bitmap if setting == "effective_io_concurrency" && server.major < 18 && server.direct => {
            Some("a bitmap heap scan before 18 reads ahead by the page cache alone, and debug_io_direct goes past it")
        }
        Access::Bitmap if setting == "io_combine_limit" && server.major < 18 => {
            Some("a bitmap heap scan before 18 reads single blocks")
        }
        Access::Scan if setting == "effective_io_concurrency" && server.major < 17 => {
            Some("a sequential scan before 17 leaves reading ahead to the kernel")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(major: u32, io_method: Option<&str>, direct: bool) -> Server {
        Server { major, io_method: io_method.map(str::to_owned), direct }
    }

    #[test]
    fn only_settings_known_to_be_idle_are_called_so() {
        let of = |server: &Server, access| names(&server.of_path(access, false));
        let worker = server(18, Some("worker"), true);
        assert_eq!(of(&worker, Access::Index).len(), OF_READ_AHEAD.len());
        assert_eq!(of(&worker, Access::Bitmap), ["maintenance_io_concurrency"]);
        assert_eq!(names(&worker.of_path(Access::Index, true)), ["maintenance_io_concurrency"], "scans read ahead");
        let sync = server(18, Some("sync"), true);
        assert_eq!(of(&sync, Access::Scan)[..3], WORKERS);
        assert!(!of(&server(17, None, false), Access::Bitmap).contains(&"effective_io_concurrency".to_owned()));
        assert!(of(&server(17, None, true), Access::Bitmap).contains(&"effective_io_concurrency".to_owned()));
        assert!(of(&server(16, None, true), Access::Scan).contains(&"effective_io_concurrency".to_owned()));
        // Index scans of future versions are unknown, but workers without work have no effect in any version.
        let next = server(19, Some("sync"), true);
        assert_eq!(
            of(&next, Access::Index),
            ["io_workers", "io_min_workers", "io_max_workers", "maintenance_io_concurrency"]
        );
        assert_eq!(why("work_mem", &worker.of_path(Access::Index, false)), None);
    }
}
