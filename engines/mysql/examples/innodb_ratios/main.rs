//! How fast load and loop are, as ratios to older ways on the same private MariaDB in the same minutes:
//! `cargo run --release -p mindful-mysql --features benchmarks --example innodb_ratios [load | loop] [DATA_DIR]`. Takes about five minutes and 6 GiB.

mod load;
mod work;

use std::path::Path;
use std::sync::Arc;

use mindful_core::contract::event::{Event, Events, Silent};
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::dataset::{Content, DatasetPlan};
use mindful_core::plan::settings::{Origin, Settings};
use mindful_core::{Engine, Error, Result, Target};
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

    fn server_cpu_s(&self) -> Result<f64> {
        let path = format!("/proc/{}/stat", self.private.pid());
        let stat = std::fs::read_to_string(&path).map_err(|error| failed(&path, &error))?;
        // From the state on, after the name.
        let words: Vec<&str> = stat.rsplit_once(") ").map_or("", |(_, rest)| rest).split(' ').collect();
        let ticks: f64 = words.iter().skip(11).take(2).filter_map(|word| word.parse::<f64>().ok()).sum();
        Ok(ticks / rustix::param::clock_ticks_per_second() as f64)
    }
}

struct Quiet;

impl Events for Quiet {
    fn emit(&self, _: Event) {}
}

#[expect(clippy::print_stdout, reason = "the figures are the result")]
fn main() -> Result<()> {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let chosen = words.first().filter(|word| ["load", "loop"].contains(&word.as_str())).cloned();
    let folder = words.drain(..).nth(usize::from(chosen.is_some()));
    let mut settings = Settings::defaults(ENGINE.options());
    let scratch = tempfile::Builder::new().prefix("mindful-ratios-").tempdir();
    let scratch = scratch.map_err(|error| failed("making a folder", &error))?;
    let data = folder.map_or_else(|| scratch.path().join("db"), Into::into);
    open_to_all(scratch.path())?;
    let events: Arc<dyn Events> = Arc::new(Quiet);
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
        // The cache is sized by what is there when the run begins.
        bench.private.serve(Purpose::Run)?;
        work::compare(&bench)?;
    }
    bench.private.destroy()
}

/// The server may run as another user that needs to pass.
fn open_to_all(folder: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755))
        .map_err(|error| failed("opening the folder", &error))
}

fn one<T: FromRow>(conn: &mut Conn, sql: &str) -> Result<T> {
    let row = conn.query_first(sql).map_err(|error| failed(sql, &error))?;
    row.ok_or_else(|| Error::run(format!("{sql}: no row"), "read the server's log"))
}

/// Each statement of `script`, each in its own transaction.
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
