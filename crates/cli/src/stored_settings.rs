//! The settings of a run that is resumed or repeated: the trusted settings of its record.

use clap::ArgMatches;
use mindful_core::plan::secret::MASK;
use mindful_core::plan::settings::{Key, Origin, Settings, Trust};
use mindful_core::record::run::RunHead;
use mindful_core::{Error, Result};

use crate::{exit, layers, targets};

/// The settings in `head`, for a run that is resumed or repeated (`what`). Settings that were stored without their
/// secret must be given again. If the run is not our `own`, commands and places come only from this command line.
pub(crate) fn settings(head: &RunHead, own: bool, what: &str, matches: &ArgMatches) -> Result<Settings> {
    let (mut settings, mut left_out) = (head.settings.clone(), Vec::new());
    for key in layers::keys() {
        let stored = settings.get(key.name).map(str::to_owned);
        let masked = stored.as_ref().is_some_and(|value| value.contains(MASK));
        let foreign = !own && key.trust != Trust::Value;
        let given = match key.name {
            "target" => targets::given(matches),
            name => matches.try_get_one::<String>(name).ok().flatten().cloned(),
        };
        match given {
            // A target is always stored without its password.
            Some(value) if masked || foreign || key.name == "target" => {
                settings.set(key.name, value, Origin::Flag(format!("--{}", key.flag_name())));
            }
            Some(_) => {
                return Err(Error::plan(
                    format!("--{} cannot change a run that is {what}", key.flag_name()),
                    "drop it, or start a new run or sweep",
                ));
            }
            None if foreign && key.name == "target" => {
                return Err(Error::plan(
                    format!("run {} was made elsewhere, or others can write it: its target is not used", head.id),
                    "pass --target",
                ));
            }
            None if foreign => left_out.extend(reset(&mut settings, key).then_some(key.name)),
            None if masked => {
                return Err(Error::plan(
                    format!("{} is stored without its secret", key.name),
                    format!("pass --{} again", key.flag_name()),
                ));
            }
            None => {}
        }
    }
    if !left_out.is_empty() {
        exit::tell(&format!(
            "run {} was made elsewhere, or others can write it; ignored settings: {}",
            head.id,
            left_out.join(", ")
        ));
    }
    Ok(settings)
}

/// Resets `key` to its default; returns whether that changed anything.
fn reset(settings: &mut Settings, key: &Key) -> bool {
    let changes = settings.get(key.name) != key.default;
    settings.remove(key.name);
    if let Some(default) = key.default {
        settings.set(key.name, default, Origin::Default);
    }
    changes
}
