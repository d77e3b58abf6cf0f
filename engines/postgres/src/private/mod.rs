//! The private PostgreSQL server: mindful finds or fetches its binaries. An [`Instance`] creates its data directory,
//! starts, restarts and stops it, and repairs it after a crash.
//!
//! Only the user of mindful can connect: it does not listen on TCP, the socket is in a folder closed to others, and the
//! kernel identifies the client to the server.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use mindful_core::Result;
use mindful_core::contract::description::HostView;
use mindful_core::contract::event::Events;
use mindful_core::plan::Plan;
use mindful_instance::account::Account;
use mindful_instance::options::base;

mod access;
mod binaries;
mod cluster;
mod kind;
mod options;
mod settings;

pub use access::USER;
pub use cluster::{DATABASE, PORT};
pub use mindful_instance::Instance;
pub use mindful_instance::program::{Chosen, Purpose};
pub use options::{KEYS, Options};
pub(crate) use settings::is_direct_io;

use binaries::Binaries;
use cluster::Cluster;

use crate::dataset::space;

/// Finds binaries and folder, repairs the folder if necessary, and starts the server for [`Purpose::Run`].
pub fn open(options: &Options, sessions: u32, events: &Arc<dyn Events>) -> Result<Instance> {
    let server = &options.server;
    let account = Account::choose(server.run_as.as_deref())?;
    let base = base(&account)?;
    let binaries = Binaries::find(options, &base, &account, events.as_ref())?;
    binaries.check_settings(&server.set, &account)?;
    settings::check_cache(server.cache)?;
    let order = server.order(account, sessions, || default_folder(&base, binaries.major));
    let cluster = Cluster { binaries, mode: server.mode, cache: server.cache, set: server.set.clone() };
    Instance::open(order, Arc::new(cluster), events)
}

/// The folder of the programs that [`open`] would start, fetched where they are nowhere.
pub fn programs(options: &Options, events: &dyn Events) -> Result<PathBuf> {
    let account = Account::choose(options.server.run_as.as_deref())?;
    Ok(Binaries::find(options, &base(&account)?, &account, events)?.bin)
}

/// The folder in which a server would be created; `None` if a server exists. Changes nothing and fetches nothing.
pub(crate) fn find_folder_to_make(options: &Options, events: &dyn Events) -> Result<Option<PathBuf>> {
    let mut options = options.clone();
    // Missing binaries would be fetched in the requested version.
    options.server.fetch = false;
    options.server.folder_to_make(&kind::KIND, |base, account| {
        let here = Binaries::find(&options, base, account, events);
        default_folder(base, here.map_or(options.version.major, |binaries| binaries.major))
    })
}

/// The host view of a server that would be created in `folder`. Refuses in advance the errors of [`open`] and of a load
/// of `plan`.
pub(crate) fn check_unmade(options: &Options, folder: &Path, plan: &Plan) -> Result<HostView> {
    settings::check_cache(options.server.cache)?;
    let host = options.server.check_unmade(folder, &kind::KIND)?;
    let wanted = plan.dataset(space::BLOCK_BYTES)?;
    plan.workload(&wanted.expected(space::BLOCK_BYTES))?;
    space::check_unlogged(folder, &wanted).map(|()| host)
}

fn default_folder(base: &Path, major: u32) -> PathBuf {
    base.join("embedded").join(major.to_string())
}
