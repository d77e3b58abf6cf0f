//! The little of shell syntax that configurations are written in, read as data: assignments, comments, quotes.

use mindful_core::contract::error::one_line;
use mindful_core::{Error, Result};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Script {
    /// Assignments in order: line number, name, value.
    pub assignments: Vec<(usize, String, String)>,
    /// Lines that are not assignments: line number, text.
    pub commands: Vec<(usize, String)>,
}

impl Script {
    /// The value of `name`: the last assignment counts, as in a shell. An empty value counts as unset.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let (.., value) = self.assignments.iter().rfind(|(_, known, _)| known == name)?;
        Some(value.as_str()).filter(|value| !value.is_empty())
    }
}

/// Parses `text` of the file `name`. Refuses text that only a shell could evaluate.
pub(crate) fn parse(name: &str, text: &str) -> Result<Script> {
    let mut script = Script::default();
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        let line = line.trim();
        let exported = line.strip_prefix("export ");
        let body = exported.unwrap_or(line).trim_start();
        // `export A B C` names variables without setting them.
        let names_only = exported.is_some() && body.split_whitespace().all(is_name);
        if body.is_empty() || body.starts_with('#') || names_only {
            continue;
        }
        match assignment(body).map_err(|error| error.at(format_args!("{name} line {number}")))? {
            Some((key, value)) => script.assignments.push((number, key, value)),
            None => script.commands.push((number, one_line(line))),
        }
    }
    Ok(script)
}

fn is_name(word: &str) -> bool {
    let mut chars = word.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn assignment(body: &str) -> Result<Option<(String, String)>> {
    let Some((key, rest)) = body.split_once('=').filter(|(key, _)| is_name(key)) else {
        return Ok(None);
    };
    let (value, rest) = word(rest)?;
    let rest = rest.trim_start();
    if rest.is_empty() || rest.starts_with('#') || rest.starts_with(';') {
        return Ok(Some((key.to_owned(), value)));
    }
    // `A=1 command` sets nothing for the rest of the file.
    Ok(None)
}

/// One shell word: its value without quotes, and the rest.
fn word(text: &str) -> Result<(String, &str)> {
    let mut value = String::new();
    let mut quote: Option<char> = None;
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match (quote, c) {
            (None, c) if c.is_whitespace() || c == ';' => return Ok((value, &text[at..])),
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            (None | Some('"'), '`' | '$') | (None, '|' | '&' | '<' | '>' | '(' | ')') => {
                return Err(evaluated(c));
            }
            (None | Some('"'), '\\') => value.extend(chars.next().map(|(_, escaped)| escaped)),
            (_, c) => value.push(c),
        }
    }
    match quote {
        None => Ok((value, "")),
        Some(open) => Err(Error::plan(format!("the quote {open} is not closed"), "close it on the same line")),
    }
}

/// The value may be a secret: it is not shown.
fn evaluated(c: char) -> Error {
    Error::plan(
        format!("a shell would evaluate the value from `{c}` on, and nothing in the file is executed"),
        "write the value itself, in single quotes",
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn value(text: &str) -> String {
        parse("t", text).unwrap().get("A").unwrap_or("").to_owned()
    }

    #[test]
    fn quotes_and_comments_are_read_as_a_shell_reads_them() {
        assert_eq!(value("A=1 # one"), "1");
        assert_eq!(value("export A='x # y'"), "x # y");
        assert_eq!(value("A=\"a\\\"b\"c"), "a\"bc");
        assert_eq!(value("A=1\nA=2"), "2");
        assert_eq!(value("#A=1"), "");
        assert_eq!(value("A='$HOME'"), "$HOME");
    }

    #[test]
    fn commands_are_reported_not_run() {
        let script = parse("t", "A=1\ntouch /tmp/x\nexport A B\nB=2 env").unwrap();
        assert_eq!(parse("t", "A=1\rB=2\r\nA=3").unwrap().get("A"), Some("3"));
        assert_eq!(script.commands, [(2, "touch /tmp/x".to_owned()), (4, "B=2 env".to_owned())]);
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "(?s).{0,80}") {
            let _ = parse("t", &text);
        }
    }
}
