//! `mindful check`: do the figures of a pack follow from its record?

use std::fmt::Write as _;

use clap::ArgMatches;
use mindful_core::plan::units::format_counted;
use mindful_core::{Error, Result};
use mindful_report::export::unproven::UnprovenNumbers;
use mindful_report::{escape, figure};
use serde_json::{Value, json};

use crate::args::flags::old_files;
use crate::commands::import::files::{self, Named};
use crate::context;
use crate::exit::Exit;
use crate::intake::{self, PassingStore};
use crate::verb::{Action, Verb};

pub(crate) const VERB: Verb = Verb {
    name: "check",
    about: "Check that the figures of packs follow from their records",
    details: "Check derives every figure, verdict and finding again from the record, and exits with 1 if a file of a pack differs. It cannot detect an invented record.",
    example: "mindful check 'results/*.tar.zst'",
    page: "docs/repository.md",
    plan: None,
    arguments: || vec![old_files("Packs, run folders, folders of them, or patterns")],
    action: Action::Run(check),
};

/// A pack or run folder that was checked.
struct Checked {
    path: String,
    /// Id and validity; `None` if it cannot be read.
    run: Option<(String, &'static str)>,
    differences: Vec<String>,
    not_compared: Vec<String>,
    numbers: Option<UnprovenNumbers>,
}

fn check(matches: &ArgMatches) -> Result<Exit> {
    let mut all = Vec::new();
    for named in files::named(matches)? {
        if files::is_run(&named) || matches!(named, Named::File { sure: true, .. }) {
            all.push(checked(&named)?);
        }
    }
    if all.is_empty() {
        return Err(Error::plan("no packs and no run folders were named", "pack a run: `mindful pack RUN`"));
    }
    context::print(&if context::wants_json(matches) {
        format!("{:#}\n", Value::from(all.iter().map(object).collect::<Vec<_>>()))
    } else {
        text(&all)
    })?;
    Ok(if all.iter().all(|checked| checked.differences.is_empty()) { Exit::Ok } else { Exit::Invalid })
}

fn checked(named: &Named) -> Result<Checked> {
    let (Named::Pack(path) | Named::Run(path) | Named::File { path, .. }) = named;
    let path = escape(&path.display().to_string());
    let passing = PassingStore::new()?;
    let taken = match intake::take_in(&passing.store, named) {
        Ok(taken) => taken,
        Err(error) => {
            let differences = vec![escape(&error.to_string())];
            return Ok(Checked { path, run: None, differences, not_compared: Vec::new(), numbers: None });
        }
    };
    let mut numbers = UnprovenNumbers::of_run(&taken.run, &taken.analysis);
    passing.store.each_line(&taken.id, &mut |line| {
        numbers.add_line(line);
        Ok(())
    })?;
    Ok(Checked {
        path,
        run: Some((escape(&taken.id), taken.analysis.summary.validity.name())),
        differences: taken.differences,
        not_compared: taken.not_compared,
        numbers: Some(numbers),
    })
}

fn object(checked: &Checked) -> Value {
    let Checked { path, run, differences, not_compared, numbers } = checked;
    let (id, validity) = run.as_ref().map(|(id, validity)| (id, validity.to_lowercase())).unzip();
    json!({
        "path": path,
        "id": id,
        "validity": validity,
        "differences": differences,
        "not_compared": not_compared,
        "numbers": numbers.as_ref().map(|numbers| numbers.all),
        "not_provable": numbers.as_ref().map(|numbers| &numbers.unproven),
    })
}

fn text(all: &[Checked]) -> String {
    let mut text = String::new();
    for Checked { path, run, differences, not_compared, numbers } in all {
        let of_run = run.as_ref().map_or_else(String::new, |(id, validity)| format!(" run {id}, {validity}:"));
        let outcome =
            if differences.is_empty() { "follows from its record" } else { "DOES NOT FOLLOW from its record" };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{path}:{of_run} {outcome}");
        for line in differences {
            let _ = writeln!(text, "  {line}");
        }
        for line in not_compared {
            let _ = writeln!(text, "  not compared: {line}");
        }
        if let Some(numbers) = numbers {
            let [unproven, all] =
                [numbers.unproven.values().sum(), numbers.all].map(|count| figure::number(count as f64));
            let _ = writeln!(
                text,
                "  {unproven} of {all} numbers of the record are not provable: they may enter no figure"
            );
        }
    }
    let differ = all.iter().filter(|checked| !checked.differences.is_empty()).count();
    let packs = format_counted(all.len(), "pack");
    let outcome = if differ == 0 { "none differs".to_owned() } else { format!("{differ} of them differ") };
    let _ = writeln!(text, "{packs} checked, {outcome}. A record does not prove that it was measured (not audited).");
    text
}
