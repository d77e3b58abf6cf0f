//! Comparisons as text, as JUnit XML, and as the rows of a page or a picture; histories and noise floors as text.

mod history;
mod junit;
pub(crate) mod ranking;
mod text;
mod verdict;

pub use history::{history_suite, history_text, noise_text};
pub use junit::comparison_suite;
pub use ranking::{ranking_csv, ranking_markdown, ranking_suite, ranking_text};
pub use text::{comparison_text, differences};
pub use verdict::{Difference, Differences, gate_line};
pub(crate) use verdict::{change, interval_words};
