//! Owners that die at any moment.
