//! Prices in files: the table `[price]` of a plan, and the file of `--prices`.

use std::collections::BTreeMap;
use std::path::Path;

use mindful_analyze::compare::{NamedSide, comparable};
use mindful_core::plan::units::with_article;
use mindful_core::plan::{PRICE_PARTS, Price};
use mindful_core::{Error, Result};
use mindful_record::file;
use toml::{Table, Value};

use crate::plan_file::MOST_BYTES;

/// The table of a price in one line, as `--price` has it.
pub(crate) fn text(table: &Table) -> Result<String> {
    let string = |name: &str| match table.get(name) {
        None | Some(Value::Datetime(_)) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.as_str())),
        Some(other) => {
            Err(Error::plan(format!("{name} is {}", with_article(other.type_str())), "write it as a string"))
        }
    };
    let mut parts = Vec::new();
    for (name, value) in table {
        let amount = match value {
            _ if ["currency", "date", "source"].contains(&name.as_str()) => continue,
            _ if !PRICE_PARTS.contains(&name.as_str()) => {
                let next = format!("it has {}, currency, date and source", PRICE_PARTS.join(", "));
                return Err(Error::plan(format!("a price has no `{name}`"), next));
            }
            Value::Integer(number) => number.to_string(),
            Value::Float(number) => number.to_string(),
            Value::String(text) => text.clone(),
            other => {
                let next = "write a number per hour, or '92/month'";
                return Err(Error::plan(format!("{name} is {}", with_article(other.type_str())), next));
            }
        };
        parts.push(format!("{name} {amount}"));
    }
    let date = match table.get("date") {
        Some(Value::Datetime(date)) => Some(date.to_string()),
        _ => string("date")?.map(str::to_owned),
    };
    let origin: Vec<String> = [date, string("source")?.map(str::to_owned)].into_iter().flatten().collect();
    let sum = format!("{} {}", parts.join(" + "), string("currency")?.unwrap_or_default());
    Ok(std::iter::once(sum).chain(origin).collect::<Vec<_>>().join(", "))
}

pub(crate) struct Prices(BTreeMap<String, Price>);

impl Prices {
    /// Reads a file of lines `NAME = "1.92 EUR"` and tables `[NAME]`.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let place = path.display();
        let next = "write lines such as NAME = \"1.92 EUR\", or tables as [price] in a plan";
        let text_of_file = file::open(path)
            .and_then(|file| file::text(file, MOST_BYTES))
            .map_err(|error| Error::plan(format!("cannot read {place}: {error}"), "pass another --prices FILE"))?;
        let table: Table = text_of_file
            .parse()
            .map_err(|error: toml::de::Error| Error::plan(format!("{place}: {}", error.message()), next))?;
        let price = |(name, value): (String, Value)| {
            let written = match value {
                Value::String(text) => Ok(text),
                Value::Table(table) => text(&table),
                other => Err(Error::plan(format!("it is {}", with_article(other.type_str())), next)),
            };
            let price = written.and_then(|text| Price::parse(&text));
            price.map(|price| (name.clone(), price)).map_err(|error| error.at(format_args!("{place}: {name}")))
        };
        table.into_iter().map(price).collect::<Result<_>>().map(Self)
    }

    /// Attaches the prices to the runs of `side` that they name, by its name, their tag, id or machine.
    pub(crate) fn attach(&self, side: &mut NamedSide) {
        for (run, analysis) in &mut side.runs {
            let names = [Some(&side.name), run.head.plan.tag.as_ref(), Some(&run.head.id)];
            let machine = comparable::machine(run);
            let mut names = names.into_iter().flatten().chain(machine.as_ref());
            if let Some(price) = names.find_map(|name| self.0.get(name)) {
                run.head.plan.price = Some(price.clone());
                *analysis = mindful_analyze::analyze(run);
            }
        }
    }
}
