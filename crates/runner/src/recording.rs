//! Events on their way: to the terminal at once, and to the run folder as soon as there is one.

use std::sync::Arc;

use mindful_core::contract::event::{Event, Events};
use mindful_core::result::Finding;
use mindful_core::{Error, Result};
use mindful_record::RunWriter;
use parking_lot::Mutex;

/// Shows events live and keeps them until, and then in, a run folder.
pub struct Recording {
    live: Arc<dyn Events>,
    sink: Mutex<Sink>,
}

enum Sink {
    /// Nothing is stored yet: a refused plan leaves no trace.
    Waiting(Vec<Event>),
    Writing(Arc<RunWriter>),
    /// Without a record.
    Closed,
}

impl Recording {
    /// A recording without a run folder yet.
    pub(crate) fn new(live: Arc<dyn Events>) -> Arc<Self> {
        Arc::new(Self { live, sink: Mutex::new(Sink::Waiting(Vec::new())) })
    }

    /// Sends events to `writer` from now on, buffered ones first.
    pub(crate) fn write_to(&self, writer: &Arc<RunWriter>) {
        let mut sink = self.sink.lock();
        if let Sink::Waiting(waiting) = std::mem::replace(&mut *sink, Sink::Writing(Arc::clone(writer))) {
            for event in waiting {
                writer.emit(event);
            }
        }
    }

    /// Ends the record: everything is on storage, or an error explains why not.
    pub(crate) fn close(&self) -> Result<()> {
        match std::mem::replace(&mut *self.sink.lock(), Sink::Closed) {
            Sink::Writing(writer) => writer.close(),
            _ => Ok(()),
        }
    }

    /// The first error of the record so far.
    pub(crate) fn fault(&self) -> Option<Error> {
        match &*self.sink.lock() {
            Sink::Writing(writer) => writer.fault(),
            _ => None,
        }
    }

    /// Findings so far, before a run folder exists.
    pub fn findings(&self) -> Vec<Finding> {
        let Sink::Waiting(waiting) = &*self.sink.lock() else { return Vec::new() };
        let found = |event: &Event| if let Event::Finding(finding) = event { Some(finding.clone()) } else { None };
        waiting.iter().filter_map(found).collect()
    }

    /// A line for live views, not for the record.
    pub fn tell(&self, text: &str) {
        self.show(Event::Note { text: text.to_owned() });
    }

    /// An event for live views, not for the record.
    pub fn show(&self, event: Event) {
        self.live.emit(event);
    }
}

impl Events for Recording {
    fn emit(&self, event: Event) {
        self.live.emit(event.clone());
        match &mut *self.sink.lock() {
            Sink::Waiting(waiting) => {
                if !matches!(event, Event::Progress { .. }) {
                    waiting.push(event);
                }
            }
            Sink::Writing(writer) => writer.emit(event),
            Sink::Closed => {}
        }
    }

    fn quiet(&self) {
        self.live.quiet();
    }
}
