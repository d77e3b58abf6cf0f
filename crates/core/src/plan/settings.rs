//! Settings: text values by key, each with its origin, layered from built-in default to flag; and the bounds of values.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::contract::error::{Error, Result};
use crate::dataset::Extent;
use crate::plan::units;

/// A setting: as flag `--update-pct`, variable `MINDFUL_UPDATE_PCT`, or key `update_pct` of a plan file.
#[derive(Debug, Clone, Copy, PartialEq)]
#[must_use]
pub struct Key {
    /// Name in snake case.
    pub name: &'static str,
    /// The placeholder of the value in a usage line, such as `SIZE`. Empty for a switch.
    pub value: &'static str,
    /// Built-in default; `None` if it is unset or depends on other facts, which `help` then names.
    pub default: Option<&'static str>,
    /// One sentence for the reader of `--help`.
    pub help: &'static str,
    /// Effects of its value, which decide the sources that may set it.
    pub trust: Trust,
    pub bound: Bound,
    pub syntax: ValueSyntax,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueSyntax {
    /// As several values: `1..256`, `0,20,50`.
    List,
    /// As one: commas and dots are part of it.
    Single,
    /// `NAME=V1,V2` as several values of one setting.
    Setting,
}

/// Effects of a key's value, which decide the sources that may set it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trust {
    /// Figures and choices of a run: from anywhere.
    Value,
    /// It names a host, a file or a folder that is then used: not from a run that was made elsewhere.
    Place,
    /// The value is executed, names a program, or allows data to be destroyed. It is accepted only from a flag, a
    /// variable or a named plan of the command's user.
    Command,
}

/// Joins the keys of several `lists` in order; `N` is their number.
pub const fn join_keys<const N: usize>(lists: &[&[Key]]) -> [Key; N] {
    let mut keys = [Key::unset("", "", ""); N];
    let (mut list, mut key, mut at) = (0, 0, 0);
    while at < N {
        if key == lists[list].len() {
            (list, key) = (list + 1, 0);
        } else {
            keys[at] = lists[list][key];
            (key, at) = (key + 1, at + 1);
        }
    }
    keys
}

impl Key {
    pub const fn with_default(
        name: &'static str,
        value: &'static str,
        default: &'static str,
        help: &'static str,
    ) -> Self {
        Self { default: Some(default), ..Self::unset(name, value, help) }
    }

    pub const fn unset(name: &'static str, value: &'static str, help: &'static str) -> Self {
        Self { name, value, default: None, help, trust: Trust::Value, bound: Bound::Own, syntax: ValueSyntax::List }
    }

    /// The same, for a value that names a place.
    pub const fn place(self) -> Self {
        Self { trust: Trust::Place, syntax: ValueSyntax::Single, ..self }
    }

    /// The same, for a value that is executed, names a program, or destroys.
    pub const fn command(self) -> Self {
        Self { trust: Trust::Command, syntax: ValueSyntax::Single, ..self }
    }

    /// The same, for a value that contains commas and dots.
    pub const fn one_value(self) -> Self {
        Self { syntax: ValueSyntax::Single, ..self }
    }

    pub const fn setting_values(self) -> Self {
        Self { syntax: ValueSyntax::Setting, ..self }
    }

    pub const fn bounded(self, bound: Bound) -> Self {
        Self { bound, ..self }
    }

    /// Its help with bound and default. Bounds that are no more than a guard against nonsense are not shown.
    pub fn help_text(&self) -> String {
        let bound = if self.bound.is_worth_showing() { format!(" [{}]", self.bound) } else { String::new() };
        let default = self.default.map_or_else(String::new, |default| format!(" [default: {default}]"));
        format!("{}{bound}{default}", self.help)
    }

    /// The name as a flag, without the dashes in front.
    pub fn flag_name(&self) -> String {
        self.name.replace('_', "-")
    }

    pub fn variable_name(&self) -> String {
        format!("MINDFUL_{}", self.name.to_uppercase())
    }
}

/// Where a value comes from, lowest layer first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    Default,
    /// A plan file that was read without being named, by path.
    Found(String),
    /// A plan file that was named, by path.
    File(String),
    /// An environment variable, by name.
    Variable(String),
    Flag(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Found(name) | Self::File(name) | Self::Variable(name) | Self::Flag(name) => f.write_str(name),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    pub value: String,
    pub origin: Origin,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Settings(BTreeMap<String, Setting>);

impl Settings {
    pub fn defaults<'a>(keys: impl IntoIterator<Item = &'a Key>) -> Self {
        let mut settings = Self::default();
        for key in keys {
            if let Some(value) = key.default {
                settings.set(key.name, value, Origin::Default);
            }
        }
        settings
    }

    /// Sets `name`; a later call wins.
    pub fn set(&mut self, name: &str, value: impl Into<String>, origin: Origin) {
        self.0.insert(name.to_owned(), Setting { value: value.into(), origin });
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(|setting| setting.value.as_str())
    }

    /// The text of `name` if someone other than the built-in default gave it.
    pub fn given_text(&self, name: &str) -> Option<&str> {
        self.0.get(name).filter(|setting| setting.origin != Origin::Default).map(|setting| setting.value.as_str())
    }

    /// `name` parsed; errors name the key and the origin.
    pub fn parse<T>(&self, name: &str, parse: impl FnOnce(&str) -> Result<T>) -> Result<Option<T>> {
        match self.0.get(name) {
            None => Ok(None),
            Some(setting) => parse(&setting.value).map(Some).map_err(|error| error.at(self.describe_place(name))),
        }
    }

    /// `name` parsed, which has a default and so is always there.
    pub fn require<T>(&self, name: &str, parse: impl FnOnce(&str) -> Result<T>) -> Result<T> {
        self.parse(name, parse)?
            .ok_or_else(|| Error::plan(format!("{name} is not set"), format!("pass --{}", name.replace('_', "-"))))
    }

    /// Refuses values of `keys` beyond their bounds; errors name the key, its origin and the bound.
    pub fn check_bounds(&self, keys: &[Key]) -> Result<()> {
        keys.iter().try_for_each(|key| self.parse(key.name, |text| key.bound.check(text)).map(drop))
    }

    /// Name of this setting in messages: the flag, variable or file of its origin.
    pub fn describe_place(&self, name: &str) -> String {
        match self.0.get(name).map(|setting| &setting.origin) {
            Some(Origin::Found(path) | Origin::File(path)) => format!("{name} in {path}"),
            Some(Origin::Variable(variable)) => variable.clone(),
            Some(Origin::Flag(flag)) => flag.clone(),
            Some(Origin::Default) | None => name.to_owned(),
        }
    }

    /// The plan file that was read without being named, if any value comes from one.
    pub fn found_in(&self) -> Option<&str> {
        self.0.values().find_map(|setting| match &setting.origin {
            Origin::Found(path) => Some(path.as_str()),
            _ => None,
        })
    }

    pub fn remove(&mut self, name: &str) {
        self.0.remove(name);
    }

    /// All settings in order of name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Setting)> {
        self.0.iter().map(|(name, setting)| (name.as_str(), setting))
    }
}

/// `on` or `off`, and their like.
pub fn parse_switch(text: &str) -> Result<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "on" | "true" | "yes" | "1" | "" => Ok(true),
        "off" | "false" | "no" | "0" => Ok(false),
        _ => Err(Error::plan(format!("`{text}` is neither on nor off"), "write on or off")),
    }
}

/// One of some names, or an error that names the nearest.
pub fn parse_choice<T: Copy>(text: &str, choices: &[(&str, T)]) -> Result<T> {
    choices.iter().find(|(name, _)| *name == text).map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<_> = choices.iter().map(|(name, _)| *name).collect();
        Error::plan(format!("`{text}` is not known here"), format!("choose {}", names.join(", ")))
    })
}

/// The name in `names` that is most similar to `given`, if it is a probable misspelling.
pub fn nearest<'a>(given: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    names
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(given, name), name))
        .filter(|(distance, name)| *distance <= name.len().div_ceil(3))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

pub fn unknown_key<'a>(given: &str, place: &str, known: impl IntoIterator<Item = &'a str>) -> Error {
    let next = match nearest(given, known) {
        Some(name) => format!("did you mean `{name}`?"),
        None => "`mindful plan` lists the keys there are".to_owned(),
    };
    Error::plan(format!("{place}: unknown key `{given}`"), next)
}

/// The least and the greatest value of a setting, both allowed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bound {
    /// Any value that the setting's own parser accepts.
    Own,
    Count(u64, u64),
    Size(u64, u64),
    /// Bytes up to [`units::LARGEST`], or blocks up to [`Extent::MOST_BLOCKS`].
    Extent,
    Time(Duration, Duration),
    Number(f64, f64),
}

impl Bound {
    /// Any time that a plan may have, zero included.
    pub const ANY_TIME: Self = Self::Time(Duration::ZERO, units::LONGEST);

    /// A time of any length that something takes or is waited for.
    pub(crate) const SOME_TIME: Self = Self::Time(Duration::from_millis(1), units::LONGEST);

    /// Whether a reader of the help needs it: a limit near usual values, not one that only keeps nonsense out.
    pub(crate) fn is_worth_showing(self) -> bool {
        match self {
            Self::Own | Self::Extent | Self::Time(..) => false,
            Self::Count(_, most) => most <= 1_000_000,
            Self::Size(_, most) => most < units::LARGEST,
            Self::Number(..) => true,
        }
    }

    /// Refuses a `text` that is not such a value, or that is beyond the bound.
    pub fn check(self, text: &str) -> Result<()> {
        let within = match self {
            Self::Own => true,
            Self::Count(least, most) => (least..=most).contains(&units::parse_count(text)?),
            Self::Size(least, most) => (least..=most).contains(&units::parse_bytes(text)?),
            Self::Extent => Extent::parse(text).map(|_| true)?,
            Self::Time(least, most) => (least..=most).contains(&units::parse_duration(text)?),
            Self::Number(least, most) => (least..=most).contains(&units::parse_number(text)?),
        };
        if within { Ok(()) } else { Err(Error::plan(format!("`{text}` is out of range"), format!("give {self}"))) }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = |bytes| units::format_bytes(bytes).replace(' ', "");
        match *self {
            Self::Own => Ok(()),
            Self::Count(least, most) => write!(f, "{least} to {most}"),
            Self::Size(least, most) => write!(f, "{} to {}", size(least), size(most)),
            Self::Extent => write!(f, "0 to {} or {} blocks", size(units::LARGEST), Extent::MOST_BLOCKS),
            Self::Time(least, most) => write!(f, "{} to {}", time(least), time(most)),
            Self::Number(least, most) => write!(f, "{least} to {most}"),
        }
    }
}

/// A time as short as it can be written.
fn time(time: Duration) -> String {
    let hours = time.as_secs() / 3600;
    if hours > 0 && time == Duration::from_hours(hours) {
        return format!("{hours}h");
    }
    units::format_duration(time).replace(' ', "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_takes_its_ends_and_nothing_beyond() {
        let ends = [
            (Bound::Count(1, 64), ["1", "64"], ["0", "65"]),
            (Bound::Size(512, 1 << 20), ["512B", "1MiB"], ["511B", "1048577B"]),
            (Bound::Extent, ["0", "1099511627776"], ["-1", "1099511627777"]),
            (Bound::SOME_TIME, ["1ms", "168h"], ["999us", "604800001ms"]),
            (Bound::Number(1.0, 100.0), ["1", "1e2"], ["0.999", "NaN"]),
        ];
        for (bound, inside, outside) in ends {
            for text in inside {
                bound.check(text).unwrap();
            }
            for text in outside {
                let message = bound.check(text).unwrap_err().to_string();
                assert!(message.contains(text), "{message}");
            }
        }
    }

    #[test]
    fn a_bound_reads_as_its_values_are_written() {
        assert_eq!(Bound::SOME_TIME.to_string(), "1ms to 168h");
        assert_eq!(Bound::ANY_TIME.to_string(), "0s to 168h");
        assert_eq!(Bound::Size(512, 64 << 20).to_string(), "512B to 64MiB");
        assert_eq!(Bound::Number(0.5, 100.0).to_string(), "0.5 to 100");
    }
}
