//! Comparisons as text, as JUnit XML, and as the rows of a page or a picture; histories and noise floors as text.

pub mod difference;
mod history;
mod junit;
mod noise;
pub(crate) mod ranking;
mod rows;
mod text;
mod verdict;

pub use history::{history_suite, history_text};
pub use junit::comparison_suite;
pub use noise::noise_text;
pub use ranking::{ranking_csv, ranking_markdown, ranking_suite, ranking_text};
pub use rows::differences;
pub use text::comparison_text;
pub use verdict::gate_line;
