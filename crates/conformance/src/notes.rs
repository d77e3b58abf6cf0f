//! Remarks and findings that are made while something is done, kept for a test.

use std::sync::{Mutex, PoisonError};

use mindful_core::contract::event::{Event, Events};

#[derive(Debug, Default)]
pub struct Notes(Mutex<Vec<String>>);

impl Events for Notes {
    fn emit(&self, event: Event) {
        let line = match event {
            Event::Note { text } => text,
            Event::Finding(finding) => format!("{}: {} ({})", finding.code, finding.text, finding.evidence),
            _ => return,
        };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    }
}

impl Notes {
    pub fn all(&self) -> String {
        self.lines().join("\n")
    }

    pub fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn tell(&self, part: &str) -> bool {
        self.find(part).is_some()
    }

    pub fn find(&self, part: &str) -> Option<String> {
        self.lines().into_iter().find(|line| line.contains(part))
    }
}
