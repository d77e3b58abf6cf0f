//! What the server is: version, sizes, every setting that matters, and where it can be seen on this host.

use std::path::PathBuf;

use mindful_core::Result;
use mindful_core::description::decides;
use mindful_core::engine::{Description, HostView};
use mindful_host::{Kernel, process};
use tokio_postgres::Client;

use crate::advice;
use crate::link::Link;

/// Settings that a comparison must hold fixed.
const HELD_FIXED: [(&str, &str); 4] = [
    ("fsync", decides::DURABILITY),
    ("synchronous_commit", decides::DURABILITY),
    ("full_page_writes", decides::DURABILITY),
    ("debug_io_direct", decides::DIRECT_IO),
];

/// The server as it describes itself.
pub fn describe(link: &Link) -> Result<Description> {
    let control = link.control()?;
    link.run("describing the server", async {
        let row = control.query_one(include_str!("../sql/describe.sql"), &[]).await?;
        let settings = control.query(include_str!("../sql/settings.sql"), &[]).await?;
        let bytes = |column: &str| row.get::<_, i64>(column).unsigned_abs();
        Ok(Description {
            engine_version: row.get("version"),
            block_bytes: bytes("block_bytes"),
            cache_bytes: Some(bytes("cache_bytes")),
            endpoints: link.server().endpoints(),
            facts: settings.iter().map(|setting| (setting.get("name"), setting.get("value"))).collect(),
            advice: advice::all(),
            held_fixed: HELD_FIXED.map(|(name, decides)| (name.to_owned(), decides.to_owned())).into(),
            ..Description::default()
        })
    })
}

/// Major version: 18.
pub async fn major(client: &Client) -> std::result::Result<u32, tokio_postgres::Error> {
    let row = client.query_one("SELECT current_setting('server_version_num')::integer / 10000", &[]).await?;
    Ok(row.get::<_, i32>(0).unsigned_abs())
}

/// Where the server's processes and files are, when they are here and may be seen.
pub fn host(link: &Link) -> HostView {
    let unseen = HostView::default();
    if !link.server().host_is_local(0) {
        return unseen;
    }
    let Ok(control) = link.control() else { return unseen };
    let found = link.run("looking for the server", async {
        let row = control.query_one(include_str!("../sql/whereabouts.sql"), &[]).await?;
        Ok((row.get::<_, i32>("pid").unsigned_abs(), row.get::<_, Vec<String>>("paths")))
    });
    let Ok((backend, paths)) = found else { return unseen };
    let postmaster = parent(backend);
    let data_paths: Vec<PathBuf> = paths.into_iter().map(PathBuf::from).filter(|path| path.exists()).collect();
    HostView { local: postmaster.is_some(), server_pid: postmaster, data_paths, in_process: false, private: false }
}

/// The parent of our own backend, if that process is a PostgreSQL one of this host and not of some container.
fn parent(backend: u32) -> Option<u32> {
    let stat = process::Stat::read(&Kernel::default(), backend).ok()?;
    stat.name.starts_with("postgres").then_some(stat.parent)
}
