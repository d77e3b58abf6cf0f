//! The layers of settings, lowest first: built-in defaults, plan file, `MINDFUL_*` variables, flags.

use std::path::PathBuf;

use clap::ArgMatches;
use mindful_core::plan;
use mindful_core::plan::settings::{self, Key, Origin, Settings, Trust};
use mindful_core::plan::units::with_article;
use mindful_core::{Engine, Error, Result};
use mindful_runner::hooks;

use crate::plan_file::PlanFile;
use crate::{exit, io_keys, prices, registry, service_variables, targets};

/// A variable that is not a plan key, like those of hooks.
const STORE_VARIABLE: &str = "MINDFUL_STORE";

/// All settings for a verb that takes the plan and measures the target that they name.
pub(crate) fn settings(matches: &ArgMatches) -> Result<Settings> {
    let given = given(matches)?;
    let engine = registry::of(&above_defaults(plan::KEYS, &given))?;
    for_engine(engine, &given)
}

/// The settings for a verb that always measures by `engine`.
#[cfg(feature = "raw")]
pub(crate) fn settings_of(engine: &dyn Engine, matches: &ArgMatches) -> Result<Settings> {
    for_engine(engine, &given(matches)?)
}

/// Only the settings of a plan file, above the defaults.
pub(crate) fn of_file(path: &str) -> Result<Settings> {
    let mut given = Settings::default();
    let keys: Vec<&'static Key> = plan::KEYS.iter().chain(registry::options()).collect();
    read_file(&PlanFile::Named(PathBuf::from(path)), &keys, &mut given)?;
    targets::read_list(&mut given)?;
    for_engine(registry::of(&above_defaults(plan::KEYS, &given))?, &given)
}

pub(crate) fn keys() -> Vec<&'static Key> {
    plan::KEYS.iter().chain(registry::options()).chain(plan::SWEEP_KEYS).chain(io_keys::KEYS).collect()
}

/// Settings from plan file, variables and flags.
fn given(matches: &ArgMatches) -> Result<Settings> {
    let (keys, mut given) = (keys(), Settings::default());
    if let Some(file) = PlanFile::of(matches) {
        read_file(&file, &keys, &mut given)?;
    }
    let variables = std::env::vars_os().filter_map(|(k, v)| Some((k.into_string().ok()?, v)));
    let ignored = read_variables(variables, &keys, &mut given)?;
    if !ignored.is_empty() {
        exit::tell(&format!("ignored variables of a Kubernetes service: {}", ignored.join(", ")));
    }
    for key in &keys {
        if let Some(value) = matches.try_get_one::<String>(key.name).ok().flatten() {
            given.set(key.name, value, Origin::Flag(format!("--{}", key.flag_name())));
        }
    }
    if let Some(all) = targets::given(matches) {
        given.set("target", all, Origin::Flag("--target".to_owned()));
    }
    targets::read_list(&mut given)?;
    Ok(given)
}

/// The part of `given` that belongs to the plan and the options of `engine`, above their defaults. A flag of another
/// engine is refused. Plan files and variables may serve several targets, so such an option there is reported and
/// omitted.
fn for_engine(engine: &dyn Engine, given: &Settings) -> Result<Settings> {
    let keys: Vec<&Key> =
        plan::KEYS.iter().chain(engine.options()).chain(plan::SWEEP_KEYS).chain(io_keys::KEYS).collect();
    let (mut own, mut left_out) = (Settings::default(), Vec::new());
    for (name, setting) in given.iter() {
        let place = given.describe_place(name);
        if keys.iter().any(|key| key.name == name) {
            own.set(name, setting.value.as_str(), setting.origin.clone());
        } else if matches!(setting.origin, Origin::Flag(_)) {
            return Err(Error::plan(
                format!("{place} is an option of {}, but the target uses {}", registry::owners(name), engine.name()),
                "drop it, or choose another --target; see `mindful engines NAME`",
            ));
        } else {
            left_out.push(format!("{place} (of {})", registry::owners(name)));
        }
    }
    if !left_out.is_empty() {
        exit::tell(&format!("ignored, because the target uses {}: {}", engine.name(), left_out.join(", ")));
    }
    Ok(above_defaults(keys, &own))
}

fn above_defaults<'a>(keys: impl IntoIterator<Item = &'a Key>, given: &Settings) -> Settings {
    let mut settings = Settings::defaults(keys);
    for (name, setting) in given.iter() {
        settings.set(name, setting.value.as_str(), setting.origin.clone());
    }
    settings
}

fn read_file(file: &PlanFile, keys: &[&Key], settings: &mut Settings) -> Result<()> {
    let place = file.path().display().to_string();
    let text = file.text()?;
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        let line = error.span().map_or(1, |span| text[..span.start].lines().count().max(1));
        Error::plan(
            format!("{place} line {line}: {}", error.message()),
            "a plan contains lines such as update_pct = 20",
        )
    })?;
    for (name, value) in table {
        let Some(key) = keys.iter().find(|key| key.name == name) else {
            return Err(settings::unknown_key(&name, &place, keys.iter().map(|key| key.name)));
        };
        if matches!(file, PlanFile::Found(_)) && key.trust == Trust::Command {
            return Err(Error::plan(
                format!("{place}: {name} is not allowed in a plan that was found automatically"),
                format!("pass --{} or --plan mindful.toml", key.flag_name()),
            ));
        }
        let value = match value {
            toml::Value::String(text) => text,
            toml::Value::Integer(number) => number.to_string(),
            toml::Value::Float(number) => number.to_string(),
            toml::Value::Array(all) if key.name == "target" && all.iter().all(toml::Value::is_str) => {
                all.iter().filter_map(toml::Value::as_str).collect::<Vec<_>>().join("\n")
            }
            toml::Value::Table(price) if key.name == "price" => {
                prices::text(&price).map_err(|error| error.at(format_args!("{place}: [price]")))?
            }
            toml::Value::Boolean(on) => if on { "on" } else { "off" }.to_owned(),
            other => {
                return Err(Error::plan(
                    format!("{place}: {name} is {}", with_article(other.type_str())),
                    "write a string, a number, true or false",
                ));
            }
        };
        settings.set(key.name, value, file.origin());
    }
    Ok(())
}

/// Reads all our variables; returns the names of those that belong to a Kubernetes service with our name.
fn read_variables(
    variables: impl Iterator<Item = (String, std::ffi::OsString)>,
    keys: &[&Key],
    settings: &mut Settings,
) -> Result<Vec<String>> {
    let mut ignored = Vec::new();
    for (name, value) in variables {
        if !name.starts_with("MINDFUL_") || name == STORE_VARIABLE || hooks::VARIABLES.contains(&name.as_str()) {
            continue;
        }
        let Some(key) = keys.iter().find(|key| key.variable_name() == name) else {
            if service_variables::is_one(&name, &value.to_string_lossy()) {
                ignored.push(name);
                continue;
            }
            let names: Vec<_> = keys.iter().map(|key| key.variable_name()).collect();
            return Err(settings::unknown_key(&name, "environment", names.iter().map(String::as_str)));
        };
        // As in other programs, an empty variable is one that is not set.
        if value.is_empty() {
            continue;
        }
        let value = value.into_string().map_err(|_| Error::plan(format!("{name} is not UTF-8"), "set it again"))?;
        settings.set(key.name, value, Origin::Variable(name));
    }
    ignored.sort_unstable();
    Ok(ignored)
}

#[cfg(test)]
mod tests {
    use mindful_core::plan::settings::ValueSyntax;

    use super::*;

    #[test]
    fn an_empty_variable_is_one_that_is_not_set() {
        let keys = keys();
        let variables = keys.iter().map(|key| (key.variable_name(), "".into()));
        let mut settings = Settings::default();
        read_variables(variables, &keys, &mut settings).unwrap();
        assert_eq!(settings, Settings::default());
    }

    #[test]
    fn no_list_and_nothing_executed_is_taken_for_a_ladder() {
        let texts = ["URL", "COMMAND", "DIR", "LIST"];
        for key in keys().iter().filter(|key| texts.contains(&key.value) || key.trust != Trust::Value) {
            assert_ne!(key.syntax, ValueSyntax::List, "{} of a sweep would be split at its commas", key.name);
        }
    }

    /// Each key has a decision on its effects. A new key must be in one of these lists.
    #[test]
    fn every_key_decides_from_where_it_may_be_taken() {
        let of = |trust| keys().iter().filter(|key| key.trust == trust).map(|key| key.name).collect::<Vec<_>>();
        let oracle = if cfg!(feature = "oracle") { &["password_file", "tns_admin", "wallet"][..] } else { &[] };
        assert_eq!(of(Trust::Place), [&["target", "node_exporter", "meet"], oracle, &["csv"]].concat());
        let executes = ["hook_before", "hook_after", "hook_end", "hook_timeout", "hook_failure"];
        let server =
            ["trust_owner", "pg_bin", "fetch_dir", "fetch_url", "data_dir", "log_dir", "run_as", "set", "mysql_bin"];
        assert_eq!(of(Trust::Command), [&executes[..], &server[..], &["destroy_data"]].concat());
        // The others are figures and choices: none may be named like a command, a program, a file or a folder.
        for key in keys().iter().filter(|key| key.trust == Trust::Value) {
            let place = ["COMMAND", "DIR", "FILE", "PATH", "URL", "PREFIX", "DEVICE", "USER"];
            assert!(!place.contains(&key.value), "{} takes a {} and is trusted as a figure", key.name, key.value);
        }
    }
}
