//! The opened server.

use std::sync::Arc;

use mindful_core::dataset::{Dataset, DatasetPlan, LayoutProof};
use mindful_core::engine::{AccessPath, Description, HostView, OwnedObject, Stop};
use mindful_core::event::Events;
use mindful_core::metric::Sampler;
use mindful_core::slice::Placement;
use mindful_core::workload::Workload;
use mindful_core::{Error, Result, Session, Target};

use crate::connect::Server;
use crate::link::Link;
use crate::options::Options;
use crate::server::Private;

/// A MariaDB or MySQL server, shared by all threads.
pub struct MysqlTarget {
    link: Arc<Link>,
    /// The private server, where it is one; stops with the target.
    private: Option<Private>,
}

impl MysqlTarget {
    /// Connects to `server` and looks what it is.
    pub fn open(
        server: Server,
        private: Option<Private>,
        _options: Options,
        _events: &Arc<dyn Events>,
    ) -> Result<Self> {
        let link = Arc::new(Link::new(server));
        let version = link.version()?;
        if !version.is_supported() {
            let (major, minor) = version.flavor.oldest();
            return Err(Error::target(
                format!("the server is {version}"),
                format!("mindful needs {} {major}.{minor} or newer", version.flavor.name()),
            ));
        }
        Ok(Self { link, private })
    }
}

fn not_yet<T>(what: &str) -> Result<T> {
    Err(Error::target(format!("{what}: this build does not do that yet"), "measure by another engine"))
}

impl Target for MysqlTarget {
    fn describe(&self) -> Result<Description> {
        Ok(Description {
            engine_version: self.link.version()?.to_string(),
            block_bytes: 16_384,
            endpoints: 1,
            ..Description::default()
        })
    }

    fn host(&self) -> HostView {
        let Some(private) = &self.private else { return HostView::default() };
        HostView {
            local: true,
            server_pid: Some(private.pid()).filter(|pid| *pid != 0),
            data_paths: vec![private.data_dir()],
            in_process: false,
            private: true,
        }
    }

    fn dataset(&self) -> Result<Option<Dataset>> {
        Ok(None)
    }

    fn load(&self, _: &DatasetPlan, _: &dyn Events, _: &Stop) -> Result<Dataset> {
        not_yet("loading")
    }

    fn verify(&self, _: &Stop) -> Result<LayoutProof> {
        not_yet("proving a layout")
    }

    fn prepare(&self, _: &Workload, _: u32) -> Result<Vec<AccessPath>> {
        not_yet("a run")
    }

    fn session(&self, _: &Workload, _: Placement) -> Result<Box<dyn Session>> {
        not_yet("a session")
    }

    fn samplers(&self) -> Result<Vec<Box<dyn Sampler>>> {
        Ok(Vec::new())
    }

    fn interrupt(&self) {
        self.link.interrupt();
    }

    fn give_up(&self) {
        self.link.give_up();
    }

    fn inventory(&self) -> Result<Vec<OwnedObject>> {
        Ok(Vec::new())
    }

    fn cleanup(&self) -> Result<Vec<OwnedObject>> {
        self.inventory()
    }
}
