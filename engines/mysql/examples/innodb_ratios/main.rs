//! How fast load and loop are, as ratios to older ways on the same private MariaDB in the same minutes:
//! `cargo run --release -p mindful-mysql --features benchmarks --example innodb_ratios [load | loop] [DATA_DIR]`. Takes about five minutes and 6 GiB.

mod load;
mod work;

use std::sync::Arc;

use mindful_conformance::place;
use mindful_core::contract::event::{Events, Silent};
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::dataset::{Content, DatasetPlan};
use mindful_core::plan::settings::{Origin, Settings};
use mindful_core::{Engine, Error, Result, Target};
use mindful_host::Kernel;
use mindful_host::process::{Stat, tick_us};
use mindful_mysql::private::{self, Instance, Purpose, USER};
use mindful_mysql::{ENGINE, Flavor};
use mysql::prelude::{FromRow, Queryable};
use mysql::{Conn, OptsBuilder};

/// The dataset: 2 GiB of pages.
const DATASET: DatasetPlan = DatasetPlan {
    schemas: 4,
    blocks_per_schema: 32_768,
    scan_blocks: 0,
    content: Content::INCOMPRESSIBLE,
    seed: 1,
    load_streams: 2,
};

struct Bench {
    private: Instance,
    settings: Settings,
    events: Arc<dyn Events>,
}

impl Bench {
    fn connect(&self) -> Result<Conn> {
        let socket = self.private.socket().display().to_string();
        let options = OptsBuilder::new().socket(Some(socket)).user(Some(USER)).prefer_socket(false);
        Conn::new(options).map_err(|error| failed("connecting", &error))
    }

    fn target(&self) -> Result<Box<dyn Target>> {
        let url = format!("mysql://{USER}@localhost?socket={}", self.private.socket().display());
        ENGINE.parse_options(&url, &self.settings).and_then(|options| options.open(0, &self.events))
    }

    fn server_cpu_s(&self) -> f64 {
        let server = Stat::read(&Kernel::default(), self.private.pid());
        server.map_or(f64::NAN, |stat| (stat.user_ticks + stat.system_ticks) as f64 * tick_us() / 1e6)
    }
}

#[expect(clippy::print_stdout, reason = "the figures are the result")]
fn main() -> Result<()> {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let chosen = words.first().filter(|word| ["load", "loop"].contains(&word.as_str())).cloned();
    let folder = words.drain(..).nth(usize::from(chosen.is_some()));
    let mut settings = Settings::defaults(ENGINE.options());
    let scratch = place();
    let data = folder.map_or_else(|| scratch.path().join("db"), Into::into);
    let events: Arc<dyn Events> = Arc::new(Silent);
    let mut of_server = settings.clone();
    of_server.set("data_dir", data.to_string_lossy(), Origin::Default);
    of_server.set("mode", "lio", Origin::Default);
    let private = private::open(&private::Options::parse(&of_server, Flavor::MariaDb)?, 0, &events)?;
    // Both loops of a pair are open at a time.
    settings.set("shared", "on", Origin::Default);
    let bench = Bench { private, settings, events };
    let version: String = one(&mut bench.connect()?, "SELECT VERSION()")?;
    println!("{version}: {} schemas of {} pages", DATASET.schemas, DATASET.blocks_per_schema);
    bench.private.serve(Purpose::Load)?;
    if chosen.as_deref() == Some("loop") {
        bench.target()?.load(&DATASET, &Silent, &StopFlag::default())?;
    } else {
        load::compare(&bench)?;
    }
    if chosen.as_deref() != Some("load") {
        // The cache is sized by the dataset at the begin of the run.
        bench.private.serve(Purpose::Run)?;
        work::compare(&bench)?;
    }
    bench.private.destroy()
}

fn one<T: FromRow>(conn: &mut Conn, sql: &str) -> Result<T> {
    let row = conn.query_first(sql).map_err(|error| failed(sql, &error))?;
    row.ok_or_else(|| Error::run(format!("{sql}: no row"), "read the server's log"))
}

/// Runs each statement of `script` in a separate transaction.
fn run(conn: &mut Conn, script: &str) -> Result<()> {
    let statements = script.split(';').map(str::trim).filter(|statement| !statement.is_empty());
    for statement in statements {
        conn.query_drop(statement).map_err(|error| failed(statement, &error))?;
    }
    Ok(())
}

fn failed(what: &str, why: &dyn std::fmt::Display) -> Error {
    Error::run(format!("{what}: {why}"), "free some space, or name a DATA_DIR")
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The middle value with the smallest and the largest.
fn spread(values: &[f64]) -> String {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    format!("{:.2} (rounds: {least:.2} to {most:.2})", median(values.to_vec()))
}
