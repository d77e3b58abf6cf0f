//! The private server: mindful finds or fetches its programs. An [`Instance`] creates its data folder, starts, restarts
//! and stops it, and repairs it after a crash.
//!
//! It does not listen on TCP, and the socket is in a folder that only the server's user and mindful can enter.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use mindful_core::Result;
use mindful_core::contract::description::HostView;
use mindful_core::contract::event::Events;
use mindful_core::plan::Plan;
use mindful_instance::account::Account;
use mindful_instance::options::base;

mod help;
mod kind;
mod options;
mod program;
mod programs;
mod settings;

pub use mindful_instance::Instance;
pub use mindful_instance::program::{Chosen, Purpose};
pub(crate) use options::KEYS;
pub use options::Options;

use programs::Programs;

use crate::dataset::layout::{self, PAGE_BYTES};

/// The administrator of the private server, without a password: other users cannot enter the folder of the socket.
pub const USER: &str = "root";

/// Finds programs and folder, repairs the folder if necessary, and starts the server for [`Purpose::Run`].
pub fn open(options: &Options, sessions: u32, events: &Arc<dyn Events>) -> Result<Instance> {
    let server = &options.server;
    let account = Account::choose(server.run_as.as_deref())?;
    let base = base(&account)?;
    let programs = Programs::find(options, &base, &account, events.as_ref())?;
    help::check_settings(&programs, &server.set, &account)?;
    settings::check_cache(server.cache)?;
    let order = server.order(account, sessions, || default_folder(&base, &programs));
    let program = program::Server { programs, mode: server.mode, cache: server.cache, set: server.set.clone() };
    Instance::open(order, Arc::new(program), events)
}

/// The folder in which a server would be created; `None` if a server exists. Changes nothing and fetches nothing.
pub(crate) fn find_folder_to_make(options: &Options, events: &dyn Events) -> Result<Option<PathBuf>> {
    let mut options = options.clone();
    // Missing programs would be fetched.
    options.server.fetch = false;
    options.server.folder_to_make(kind::of_flavor(options.flavor), |base, account| {
        let here = Programs::find(&options, base, account, events);
        default_folder(base, &here.unwrap_or_else(|_| Programs::pinned(options.flavor)))
    })
}

/// The host view of a server that would be created in `folder`. Refuses in advance the errors of [`open`] and of a load
/// of `plan`.
pub(crate) fn check_unmade(options: &Options, folder: &Path, plan: &Plan) -> Result<HostView> {
    settings::check_cache(options.server.cache)?;
    let host = options.server.check_unmade(folder, kind::of_flavor(options.flavor))?;
    let wanted = plan.dataset(PAGE_BYTES)?;
    plan.workload(&wanted.expected(PAGE_BYTES))?;
    layout::check_room(folder, wanted.blocks()).map(|()| host)
}

/// One folder for each line of versions: another line cannot read its data.
fn default_folder(base: &Path, programs: &Programs) -> PathBuf {
    let version = &programs.version;
    let line = format!("{}-{}.{}", version.flavor.name().to_lowercase(), version.major, version.minor);
    base.join("embedded").join(line)
}
