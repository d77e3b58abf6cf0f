//! The control connection of a target: one connection for everything that is not measured. It is made when it is first
//! needed, and again after it broke.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};

use mindful_core::Result;

#[derive(Debug)]
pub struct Control<C>(Mutex<Option<C>>);

/// The control connection, held exclusively.
#[derive(Debug)]
pub struct ControlGuard<'a, C>(MutexGuard<'a, Option<C>>);

impl<C> Default for Control<C> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<C> Control<C> {
    /// Waits until the connection is free; connects if it is missing or not `alive`.
    pub fn get(
        &self,
        alive: impl FnOnce(&mut C) -> bool,
        connect: impl FnOnce() -> Result<C>,
    ) -> Result<ControlGuard<'_, C>> {
        let mut held = self.held();
        if !held.as_mut().is_some_and(alive) {
            // The old one ends before a new one takes its place among the connections of the server.
            *held = None;
            *held = Some(connect()?);
        }
        Ok(ControlGuard(held))
    }

    pub fn release(&self) {
        *self.held() = None;
    }

    fn held(&self) -> MutexGuard<'_, Option<C>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<C> ControlGuard<'_, C> {
    pub fn close(mut self) {
        *self.0 = None;
    }
}

impl<C> Deref for ControlGuard<'_, C> {
    type Target = C;

    fn deref(&self) -> &C {
        self.0.as_ref().expect("connected before it is handed out")
    }
}

impl<C> DerefMut for ControlGuard<'_, C> {
    fn deref_mut(&mut self) -> &mut C {
        self.0.as_mut().expect("connected before it is handed out")
    }
}
