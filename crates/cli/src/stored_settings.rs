//! The settings of a run that goes on or is made again: those it began with, as far as they are stored and may be believed.

use clap::ArgMatches;
use mindful_core::plan::secret::MASK;
use mindful_core::plan::settings::{Key, Origin, Settings, Trust};
use mindful_core::record::run::RunHead;
use mindful_core::{Error, Result};

use crate::{exit, layers, targets};

/// The settings in `head`, for `what` is done with it. What is stored without its secret has to be given again; of a run that is not our `own`, what
/// is executed and where it goes comes from this command line alone.
pub fn settings(head: &RunHead, own: bool, what: &str, matches: &ArgMatches) -> Result<Settings> {
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
            // A target is stored without its password, wherever in the URL that stood.
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
                    format!("run {} was made elsewhere: the target it names is not taken over", head.id),
                    "give --target",
                ));
            }
            None if foreign => left_out.extend(reset(&mut settings, key).then_some(key.name)),
            None if masked => {
                return Err(Error::plan(
                    format!("{} is stored without its secret", key.name),
                    format!("give --{} again", key.flag_name()),
                ));
            }
            None => {}
        }
    }
    if !left_out.is_empty() {
        exit::tell(&format!("run {} was made elsewhere, left out of it: {}", head.id, left_out.join(", ")));
    }
    Ok(settings)
}

/// Sets `key` back to what it is unasked; whether that changes anything.
fn reset(settings: &mut Settings, key: &Key) -> bool {
    let changes = settings.get(key.name) != key.default;
    settings.remove(key.name);
    if let Some(default) = key.default {
        settings.set(key.name, default, Origin::Default);
    }
    changes
}
