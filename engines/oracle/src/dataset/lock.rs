//! Exclusive and shared use of the tables: a run holds them exclusively unless `--shared` is set; a load and a cleanup
//! always hold them exclusively. It is a lock on the registry, held by a separate connection, so it ends with mindful
//! on every path.

use std::sync::{Mutex, PoisonError};

use mindful_core::Result;
use mindful_sql::dataset::run_lock;

use crate::connect::driver::Connection;
use crate::connect::link::{Link, QUESTION};
use crate::connect::{Doing, explain};
use crate::names::Namespace;
use crate::work::statement;

const BUSY: u32 = 54;

#[derive(Default)]
pub(crate) struct RunLock(Mutex<Option<Box<dyn Connection>>>);

impl RunLock {
    /// Holds a share until [`RunLock::release`] or the end; refuses when others hold one too, unless `shared`.
    pub(crate) fn hold(&self, link: &Link, namespace: &Namespace, shared: bool) -> Result<()> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if held.is_some() {
            return Ok(());
        }
        let mut connection = link.connect(0, "lock")?;
        if !shared {
            acquire(&mut *connection, include_str!("../../sql/lock/alone.sql"), namespace)?;
        }
        // The commit in between frees the lock for a moment; another that takes it exclusively then finds this share.
        let failed = |failure| explain(&failure, Doing::Prepare, "locking the tables");
        connection.commit().map_err(failed)?;
        acquire(&mut *connection, include_str!("../../sql/lock/share.sql"), namespace)?;
        *held = Some(connection);
        Ok(())
    }

    pub(crate) fn release(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Does `work`, which changes the dataset, while no other process uses it; `registered` if there is a registry.
pub(crate) fn with_exclusive_lock<T>(
    link: &Link,
    namespace: &Namespace,
    registered: bool,
    work: impl FnOnce() -> Result<T>,
) -> Result<T> {
    if registered {
        let mut connection = link.connect(0, "lock")?;
        acquire(&mut *connection, include_str!("../../sql/lock/alone.sql"), namespace)?;
    }
    work()
}

fn acquire(connection: &mut dyn Connection, template: &str, namespace: &Namespace) -> Result<()> {
    let sql = statement::of_registry(template, namespace);
    match connection.execute(&sql, &[], QUESTION) {
        Ok(_) => Ok(()),
        Err(failure) if failure.code() == Some(BUSY) => Err(run_lock::in_use_error(&namespace.registry())),
        Err(failure) => Err(explain(&failure, Doing::Prepare, "locking the tables")),
    }
}
