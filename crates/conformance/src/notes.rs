//! Collects notes for a test.

use std::sync::{Mutex, PoisonError};

use mindful_core::contract::event::{Event, Events};

#[derive(Debug, Default)]
pub struct Notes(Mutex<Vec<String>>);

impl Events for Notes {
    fn emit(&self, event: Event) {
        if let Event::Note { text } = event {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(text);
        }
    }
}

impl Notes {
    pub fn all(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).join("\n")
    }

    pub fn tell(&self, part: &str) -> bool {
        self.find(part).is_some()
    }

    pub fn find(&self, part: &str) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().find(|text| text.contains(part)).cloned()
    }
}
