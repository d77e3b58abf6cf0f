//! A single wait, and its fields, by which waits can be grouped and selected.

use std::cmp::Ordering;
use std::fmt::Write as _;

use mindful_core::plan::settings::nearest;
use mindful_core::{Error, Result};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait<'a> {
    pub cursor: u64,
    pub event: &'a [u8],
    pub ela_us: u64,
    /// Names and values of its three parameters; fewer where the line has fewer.
    pub parameters: [Option<(&'a [u8], u64)>; 3],
    pub object: Option<i64>,
    /// When it ended, us on the trace's clock.
    pub tim_us: Option<u64>,
}

impl Wait<'_> {
    /// The parameter of that name, or of that place in old traces, which number them.
    pub(crate) fn parameter(&self, names: &[&[u8]], place: usize) -> Option<u64> {
        let by_name = self.parameters.iter().flatten().find(|(name, _)| names.contains(name));
        let by_place = || self.parameters[place].filter(|(name, _)| name.len() == 2 && name[0] == b'p');
        by_name.copied().or_else(by_place).map(|(_, value)| value)
    }

    /// Bytes that it read, where Exadata shows these instead of blocks.
    pub(crate) fn bytes(&self) -> Option<u64> {
        let reads =
            [&b"cell single block p"[..], b"cell multiblock p"].iter().any(|begin| self.event.starts_with(begin));
        // cellhash#, diskhash#, bytes.
        self.parameter(&[b"bytes"], 2).filter(|bytes| reads && *bytes > 0)
    }

    /// The length of a block if the wait shows it: the bytes of a read of one.
    pub(crate) fn block_bytes(&self) -> Option<u64> {
        self.bytes().filter(|_| self.event.starts_with(b"cell single block p"))
    }

    /// Blocks that it read; `None` if the event reads none, or shows bytes and the length of a block is unknown.
    pub(crate) fn blocks(&self, block_bytes: Option<u64>) -> Option<u64> {
        match self.event {
            event if event.starts_with(b"cell multiblock p") => {
                let (bytes, block) = self.bytes().zip(block_bytes)?;
                bytes.is_multiple_of(block).then(|| bytes / block)
            }
            b"db file parallel read" => self.parameter(&[b"blocks"], 1),
            event if event.starts_with(b"cell list of blocks") => self.parameter(&[b"blocks"], 1),
            event if event.starts_with(b"cell single block") => Some(1),
            event if event.starts_with(b"db file s") || event.starts_with(b"direct path ") => {
                self.parameter(&[b"blocks", b"block cnt"], 2)
            }
            _ => None,
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Field {
    pub(crate) name: &'static str,
    /// Its figure in a wait; `None` if the line does not contain it, or it is a text.
    figure: fn(&Wait<'_>, Option<u64>) -> Option<i64>,
}

const EVENT: &str = "event";
const FIELDS: [Field; 11] = [
    Field { name: EVENT, figure: |_, _| None },
    Field { name: "file", figure: |wait, _| whole(wait.parameter(&[b"file#", b"file number"], 0)) },
    Field { name: "object", figure: |wait, _| wait.object },
    Field { name: "blocks", figure: |wait, block_bytes| whole(wait.blocks(block_bytes)) },
    Field { name: "block", figure: |wait, _| whole(wait.parameter(&[b"block#", b"first dba"], 1)) },
    Field { name: "cursor", figure: |wait, _| whole(Some(wait.cursor)) },
    // Of the trace's clock.
    Field { name: "second", figure: |wait, _| whole(wait.tim_us.map(|us| us / 1_000_000)) },
    Field { name: "ela", figure: |wait, _| whole(Some(wait.ela_us)) },
    Field { name: "p1", figure: |wait, _| whole(wait.parameters[0].map(|(_, value)| value)) },
    Field { name: "p2", figure: |wait, _| whole(wait.parameters[1].map(|(_, value)| value)) },
    Field { name: "p3", figure: |wait, _| whole(wait.parameters[2].map(|(_, value)| value)) },
];

fn whole(value: Option<u64>) -> Option<i64> {
    i64::try_from(value?).ok()
}

impl Field {
    /// Fields by their names, separated by commas.
    pub fn parse_list(text: &str) -> Result<Vec<Self>> {
        text.split(',').map(|name| Self::parse(name.trim())).collect()
    }

    fn parse(text: &str) -> Result<Self> {
        let names = || FIELDS.iter().map(|field| field.name);
        FIELDS.into_iter().find(|field| field.name == text).ok_or_else(|| {
            let next = match nearest(text, names()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("choose among {}", names().collect::<Vec<_>>().join(", ")),
            };
            Error::plan(format!("a wait has no field `{text}`"), next)
        })
    }

    pub(crate) fn is_event(self) -> bool {
        self.name == EVENT
    }

    /// Appends its value in `wait` to `text`; `-` where the line does not show it.
    pub(crate) fn write(self, wait: &Wait<'_>, block_bytes: Option<u64>, text: &mut String) {
        // Writing to a string cannot fail.
        let _ = match (self.figure)(wait, block_bytes) {
            _ if self.is_event() => write!(text, "{}", String::from_utf8_lossy(wait.event)),
            Some(figure) => write!(text, "{figure}"),
            None => write!(text, "-"),
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
        let fits = if field.is_event() { ["=", "!=", "~"].contains(&symbol) } else { figure.is_some() };
        if value.is_empty() || !fits {
            return Err(bad());
        }
        Ok(Self { field, compare, text: value, figure })
    }

    fn holds(&self, wait: &Wait<'_>, block_bytes: Option<u64>) -> bool {
        let figures = || (self.field.figure)(wait, block_bytes).zip(self.figure);
        match (self.field.is_event(), self.compare) {
            (true, Some(is)) => is(wait.event.cmp(self.text.as_bytes())),
            (true, None) => memchr::memmem::find(wait.event, self.text.as_bytes()).is_some(),
            (false, Some(is)) => figures().is_some_and(|(figure, wanted)| is(figure.cmp(&wanted))),
            (false, None) => figures().is_some_and(|(figure, _)| figure.to_string().contains(&self.text)),
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
