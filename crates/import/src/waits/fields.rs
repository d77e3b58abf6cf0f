//! Fields by which waits can be grouped and selected.

use std::cmp::Ordering;
use std::fmt::Write as _;

use mindful_core::plan::settings::nearest;
use mindful_core::{Error, Result};

use super::wait::Wait;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    Event,
    File,
    Object,
    Blocks,
    Block,
    Cursor,
    /// Second of the trace's clock.
    Second,
    Ela,
    /// The first, second or third parameter.
    Parameter(usize),
}

const NAMES: [(&str, Field); 11] = [
    ("event", Field::Event),
    ("file", Field::File),
    ("object", Field::Object),
    ("blocks", Field::Blocks),
    ("block", Field::Block),
    ("cursor", Field::Cursor),
    ("second", Field::Second),
    ("ela", Field::Ela),
    ("p1", Field::Parameter(0)),
    ("p2", Field::Parameter(1)),
    ("p3", Field::Parameter(2)),
];

impl Field {
    /// Fields by their names, separated by commas.
    pub fn parse_list(text: &str) -> Result<Vec<Self>> {
        text.split(',').map(|name| Self::parse(name.trim())).collect()
    }

    fn parse(text: &str) -> Result<Self> {
        if let Some((_, field)) = NAMES.iter().find(|(name, _)| *name == text) {
            return Ok(*field);
        }
        let names = || NAMES.iter().map(|(name, _)| *name);
        let next = match nearest(text, names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("choose among {}", names().collect::<Vec<_>>().join(", ")),
        };
        Err(Error::plan(format!("a wait has no field `{text}`"), next))
    }

    pub(crate) fn name(self) -> &'static str {
        NAMES.iter().find(|(_, field)| *field == self).map_or("", |(name, _)| name)
    }

    /// Its figure in `wait`; `None` if the line does not contain it, or it is a text.
    fn figure(self, wait: &Wait<'_>, block_bytes: Option<u64>) -> Option<i64> {
        let whole = |value: u64| i64::try_from(value).ok();
        match self {
            Self::Event => None,
            Self::File => wait.parameter(&[b"file#", b"file number"], 0).and_then(whole),
            Self::Block => wait.parameter(&[b"block#", b"first dba"], 1).and_then(whole),
            Self::Object => wait.object,
            Self::Blocks => wait.blocks(block_bytes).and_then(whole),
            Self::Cursor => whole(wait.cursor),
            Self::Second => wait.tim_us.and_then(|us| whole(us / 1_000_000)),
            Self::Ela => whole(wait.ela_us),
            Self::Parameter(place) => wait.parameters[place].and_then(|(_, value)| whole(value)),
        }
    }

    /// Appends its value in `wait` to `text`; `-` where the line does not show it.
    pub(crate) fn write(self, wait: &Wait<'_>, block_bytes: Option<u64>, text: &mut String) {
        // Writing to a string cannot fail.
        let _ = match (self, self.figure(wait, block_bytes)) {
            (Self::Event, _) => {
                text.push_str(&String::from_utf8_lossy(wait.event));
                Ok(())
            }
            (_, Some(figure)) => write!(text, "{figure}"),
            (_, None) => write!(text, "-"),
        };
    }
}

/// Which waits are counted: all conditions must hold.
#[derive(Debug, Clone, Default)]
pub struct Filter(Vec<Condition>);

/// Whether a figure passes, by its order to that of the condition.
type Comparison = fn(Ordering) -> bool;

#[derive(Debug, Clone)]
struct Condition {
    field: Field,
    /// `None` for `~`.
    compare: Option<Comparison>,
    text: String,
    figure: Option<i64>,
}

/// Longer ones first, so that `>=` is not read as `>`.
const OPERATORS: [(&str, Option<Comparison>); 7] = [
    ("!=", Some(Ordering::is_ne)),
    ("<=", Some(Ordering::is_le)),
    (">=", Some(Ordering::is_ge)),
    ("=", Some(Ordering::is_eq)),
    ("<", Some(Ordering::is_lt)),
    (">", Some(Ordering::is_gt)),
    ("~", None),
];

impl Filter {
    /// Conditions such as `event = db file sequential read and ela > 10000`, joined by `and`; `~` is "holds".
    pub fn parse(text: &str) -> Result<Self> {
        let conditions = text.split(" and ").filter(|part| !part.trim().is_empty());
        conditions.map(|part| Condition::parse(part.trim())).collect::<Result<_>>().map(Self)
    }

    /// Whether `wait` passes; a condition on a missing field does not hold.
    pub(crate) fn passes(&self, wait: &Wait<'_>, block_bytes: Option<u64>) -> bool {
        self.0.iter().all(|condition| condition.holds(wait, block_bytes))
    }
}

impl Condition {
    fn parse(text: &str) -> Result<Self> {
        let bad = || {
            Error::plan(
                format!("invalid condition `{text}`"),
                "write FIELD=VALUE with =, !=, <, <=, >, >= or ~, such as 'event~read and ela>10000'",
            )
        };
        let at = text.find(['=', '!', '<', '>', '~']).ok_or_else(bad)?;
        let (symbol, compare) =
            OPERATORS.into_iter().find(|(symbol, _)| text[at..].starts_with(symbol)).ok_or_else(bad)?;
        let field = Field::parse(text[..at].trim())?;
        let value = text[at + symbol.len()..].trim().trim_matches(['\'', '"']).to_owned();
        let figure = value.parse().ok();
        let texts = ["=", "!=", "~"].contains(&symbol);
        if value.is_empty() || (figure.is_none() && field != Field::Event) || (field == Field::Event && !texts) {
            return Err(bad());
        }
        Ok(Self { field, compare, text: value, figure })
    }

    fn holds(&self, wait: &Wait<'_>, block_bytes: Option<u64>) -> bool {
        let figures = || self.field.figure(wait, block_bytes).zip(self.figure);
        match (self.field, self.compare) {
            (Field::Event, Some(is)) => is(wait.event.cmp(self.text.as_bytes())),
            (Field::Event, None) => memchr::memmem::find(wait.event, self.text.as_bytes()).is_some(),
            (_, Some(is)) => figures().is_some_and(|(figure, wanted)| is(figure.cmp(&wanted))),
            (_, None) => figures().is_some_and(|(figure, _)| figure.to_string().contains(&self.text)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read_and_mistakes_named() {
        assert_eq!(Filter::parse("event = 'db file sequential read' and ela>=10000").unwrap().0.len(), 2);
        assert!(Filter::parse("").unwrap().0.is_empty());
        let wrong = |text: &str| Filter::parse(text).unwrap_err().to_string();
        assert!(wrong("fiel=7").contains("did you mean `file`?"));
        for text in ["file", "file=", "file=x", "event>7", "file!7"] {
            assert!(wrong(text).contains("invalid condition"), "{text}: {}", wrong(text));
        }
    }
}
