//! Speed of the loop and the load, as ratios to older ways on the same private server in the same minutes: `cargo run
//! --release -p mindful-postgres --features benchmarks --example ratios [DATA_DIR]`. Takes about two minutes and 5 GiB.
//! The word `load` measures only the load, the word `knobs` the cost of the options of the work loop while they are off.

mod knobs;
mod load;
mod work;

use std::sync::Arc;

use mindful_conformance::place;
use mindful_core::contract::event::{Events, Silent};
use mindful_core::plan::settings::{Origin, Settings};
use mindful_core::plan::{KEYS, Plan};
use mindful_core::workload::Workload;
use mindful_core::{Engine, Error, Result, Target};
use mindful_postgres::ENGINE;
use mindful_postgres::connect::{Connection, Server};
use mindful_postgres::private::{self, Instance, Purpose};
use tokio::runtime::{Builder, Runtime};

/// Schemas and blocks of the dataset: 2 GiB.
const SCHEMAS: u32 = 4;
const BLOCKS: u64 = 65_536;

struct Bench {
    private: Instance,
    runtime: Runtime,
    settings: Settings,
    events: Arc<dyn Events>,
}

impl Bench {
    fn server(&self) -> Server {
        Server::from_socket(self.private.socket_folder(), private::PORT, private::USER, private::DATABASE)
    }

    fn connect(&self) -> Result<Connection> {
        self.runtime.block_on(self.server().connect(0))
    }

    fn target(&self) -> Result<Box<dyn Target>> {
        ENGINE
            .parse_options(&self.server().redacted(), &self.settings)
            .and_then(|options| options.open(0, &self.events))
    }

    /// The workload of `settings` on the loaded dataset.
    fn workload(target: &dyn Target, settings: &[(&str, &str)]) -> Result<Workload> {
        let mut all = Settings::defaults(KEYS);
        for (name, value) in settings {
            all.set(name, *value, Origin::Default);
        }
        let dataset = target.dataset()?.ok_or_else(|| Error::run("nothing is loaded", ""))?;
        Plan::from_settings(&all)?.workload(&dataset)
    }

    fn sql(&self, client: &Connection, sql: &str) -> Result<()> {
        self.runtime.block_on(client.batch_execute(sql)).map_err(|error| client.explain(&error))
    }
}

#[expect(clippy::print_stdout, reason = "the figures are the result")]
fn main() -> Result<()> {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let chosen = words.first().filter(|word| ["knobs", "load"].contains(&word.as_str())).cloned();
    let folder = words.drain(..).nth(usize::from(chosen.is_some()));
    let mut settings = Settings::defaults(ENGINE.options());
    settings.set("mode", "lio", Origin::Default);
    let scratch = place();
    let data = folder.map_or_else(|| scratch.path().join("data"), Into::into);
    settings.set("data_dir", data.to_string_lossy(), Origin::Default);
    let events: Arc<dyn Events> = Arc::new(Silent);
    let private = private::open(&private::Options::parse(&settings)?, 0, &events)?;
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.map_err(|error| Error::run(error.to_string(), "raise the limit of processes"))?;
    println!("PostgreSQL {}", private.version());
    let bench = Bench { private, runtime, settings, events };
    bench.private.serve(Purpose::Load)?;
    if chosen.as_deref() == Some("knobs") {
        // The cache is sized by the dataset at the begin of the run.
        knobs::load(&bench)?;
        bench.private.serve(Purpose::Run)?;
        knobs::compare(&bench)?;
    } else {
        println!("{SCHEMAS} schemas of {BLOCKS} blocks");
        load::compare(&bench)?;
        if chosen.is_some() {
            return bench.private.destroy();
        }
        bench.private.serve(Purpose::Run)?;
        work::compare(&bench)?;
    }
    bench.private.destroy()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
