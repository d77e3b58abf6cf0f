//! Width, level of detail, and colour.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Columns; text uses at most a hundred, tables all.
    pub width: usize,
    /// Whether to add colour. Colour never carries information alone.
    pub colour: bool,
    /// Whether pictures use only ASCII.
    pub ascii: bool,
}

impl Default for Style {
    fn default() -> Self {
        Self { width: Self::MOST_COLUMNS, colour: false, ascii: false }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// The most important part: about 25 lines.
    Short,
    Full,
}

/// Meaning of a colour; the words have the same meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Good,
    Doubtful,
    Bad,
    /// The main figure.
    Strong,
    Faint,
}

impl Style {
    /// Columns beyond which a line is hard to read.
    pub(crate) const MOST_COLUMNS: usize = 100;
    pub(crate) const FEWEST_COLUMNS: usize = 60;

    pub(crate) fn columns(&self) -> usize {
        self.width.clamp(Self::FEWEST_COLUMNS, Self::MOST_COLUMNS)
    }

    pub(crate) fn table_columns(&self) -> usize {
        self.width.max(Self::FEWEST_COLUMNS)
    }

    pub(crate) fn paint(&self, tone: Tone, text: &str) -> String {
        if !self.colour {
            return text.to_owned();
        }
        let code = match tone {
            Tone::Good => "1;32",
            Tone::Doubtful => "1;33",
            Tone::Bad => "1;31",
            Tone::Strong => "1",
            Tone::Faint => "2",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}
