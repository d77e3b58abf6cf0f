//! First contact: verifies the engine's claims on this server. A line a claim: PASS, FAIL, or NOT SEEN if the account
//! lacks a privilege. Creates its own tables and removes them.

use std::fmt::Write as _;

use mindful_core::contract::event::Silent;
use mindful_core::contract::slice::{Placement, SliceOrder, SliceReport};
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::contract::{Proven, SelfProof};
use mindful_core::dataset::{Content, DatasetPlan, LayoutProof};
use mindful_core::plan::secret::MASK;
use mindful_core::plan::units::{Share, format_counted};
use mindful_core::workload::{OpKind, Workload};
use mindful_core::{Error, Result, Session};
use mindful_oracle_terms::statistic;

use crate::connect::abort::Apart;
use crate::connect::driver::Bind;
use crate::connect::link::{self, Link, MODULE};
use crate::connect::{Doing, explain};
use crate::dataset::{load, lock, registry, verify};
use crate::names::{Namespace, TableKind};
use crate::observe::describe::{self, PARAMETERS};
use crate::observe::own::{self, Own, Source};
use crate::options::Options;
use crate::work::session::ServerLoop;
use crate::work::{prepare, statement};
use std::collections::BTreeMap;
use std::sync::Arc;

const NAMESPACE: &str = "mindful_doctor";
const BLOCKS: u64 = 2_000;
const SCAN_BLOCKS: u64 = 32;
const UNIT: u64 = 8;
/// Duration of each kind of work, us.
const SPAN_US: i64 = 2_000_000;
/// A session that begins later than this is late, us.
const LATE_US: i64 = 5_000;

/// Proves the engine on the server of `link`.
pub(crate) fn prove(
    link: &Arc<Link>,
    options: &Options,
    major: u32,
    banner: &str,
    stop: &StopFlag,
) -> Result<SelfProof> {
    let namespace = Namespace::parse(NAMESPACE)?;
    let options = Options { namespace: namespace.clone(), ..options.clone() };
    let mut proof = Proof { link, lines: Vec::new(), namespace, options, major, own: Arc::default() };
    proof.add_line("the server returns its release", Ok(Some(banner.to_owned())));
    proof.views();
    proof.work(stop);
    let cleaned = proof.clean_up();
    if stop.is_requested() {
        return Err(Error::interrupted(match cleaned {
            Ok(()) => "the proof was interrupted; its tables are removed".to_owned(),
            Err(error) => format!("the proof was interrupted, and its tables remain ({error})"),
        }));
    }
    proof.add_line("its own tables are gone", cleaned.map(|()| None));
    let bundle = proof.bundle(banner);
    Ok(SelfProof { lines: proof.lines, bundle })
}

struct Proof<'a> {
    link: &'a Arc<Link>,
    lines: Vec<(Proven, String)>,
    namespace: Namespace,
    options: Options,
    major: u32,
    own: Arc<Own>,
}

type Values = BTreeMap<String, f64>;

impl Proof<'_> {
    /// A claim that holds, with a figure; or the evidence against it.
    fn add_line(&mut self, claim: &str, held: Result<Option<String>>) -> bool {
        let (proven, text) = match held {
            Ok(None) => (Proven::Pass, claim.to_owned()),
            Ok(Some(figure)) => (Proven::Pass, format!("{claim}: {figure}")),
            Err(error) => (Proven::Fail, format!("{claim}: {error}")),
        };
        self.lines.push((proven, text));
        proven == Proven::Pass
    }

    fn claim(&mut self, claim: &str, holds: bool, figure: String) {
        let held = if holds { Ok(Some(figure)) } else { Err(Error::run(figure, "")) };
        self.add_line(claim, held);
    }

    /// Each text that reads a view, and so each of its columns.
    fn views(&mut self) {
        let names = [("module", Bind::Text(MODULE.to_owned())), ("action", Bind::Text(self.link.action("")))];
        let mut asked: Vec<(String, bool)> = Vec::new();
        for source in Source::ALL {
            let [all, mine] = source.statements();
            asked.extend([(all, true), (mine, false)]);
        }
        asked.push((include_str!("../../sql/counters/waits.sql").to_owned(), true));
        for template in [
            include_str!("../../sql/counters/instance.sql"),
            include_str!("../../sql/counters/histogram.sql"),
            include_str!("../../sql/counters/host.sql"),
            include_str!("../../sql/counters/files.sql"),
            include_str!("../../sql/counters/disks.sql"),
            include_str!("../../sql/describe/parameters.sql"),
            include_str!("../../sql/describe/sga.sql"),
            include_str!("../../sql/describe/pools.sql"),
            include_str!("../../sql/describe/instance.sql"),
            include_str!("../../sql/describe/database.sql"),
            include_str!("../../sql/describe/identity.sql"),
        ] {
            asked.push((statement::of_names(template, PARAMETERS), false));
        }
        for (sql, of_sessions) in asked {
            self.read(sql.trim_end(), if of_sessions { &names } else { &[] });
        }
    }

    fn read(&mut self, sql: &str, binds: &[(&str, Bind)]) {
        let claim = format!("text {} is read", statement::name(sql).unwrap_or_default());
        match self.link.ask(sql, binds) {
            Ok(Ok(rows)) => drop(self.add_line(&claim, Ok(Some(format_counted(rows.len(), "row"))))),
            Ok(Err(failure)) if failure.lacks_right() => {
                let text = format!("{claim}: `mindful engines oracle --grants` prints the missing grants");
                self.lines.push((Proven::NotSeen, text));
            }
            Ok(Err(failure)) => drop(self.add_line(&claim, Err(explain(&failure, Doing::Prepare, "it")))),
            Err(error) => drop(self.add_line(&claim, Err(error))),
        }
    }

    /// Dataset, plans, and the effect of slices of reads and of updates on counters.
    fn work(&mut self, stop: &StopFlag) {
        let loaded = self.clean_up().and_then(|()| self.load(stop));
        if !self.add_line("tables are made and filled", loaded.map(|()| None)) {
            return;
        }
        self.read(&statement::of_registry(include_str!("../../sql/describe/data_files.sql"), &self.namespace), &[]);
        let layout = self.layout(stop);
        let holds = layout.as_ref().is_ok_and(|proof| proof.failure().is_none());
        let figure = layout.map(|proof| {
            proof.failure().unwrap_or_else(|| format!("{} in as many blocks", format_counted(BLOCKS, "row")))
        });
        match figure {
            Ok(figure) => self.claim("one row a block, in random order", holds, figure),
            Err(error) => drop(self.add_line("one row a block, in random order", Err(error))),
        }
        let paths = prepare::paths(self.link, &mixed(), &self.namespace);
        let shapes = paths.map(|paths| Some(paths.into_iter().map(|path| path.shape).collect::<Vec<_>>().join("; ")));
        self.add_line("the server's plans are the method's", shapes);
        self.clock();
        if stop.is_requested() {
            return;
        }
        for (what, update_pct) in [("reads", Share::NONE), ("updates", Share::ALL)] {
            let workload = Workload { update_pct, ..Workload::reads_only(1, BLOCKS, UNIT) };
            match self.slice(&workload) {
                Ok((order, report, grown)) => self.judge(what, &order, &report, grown.as_ref()),
                Err(error) => drop(self.add_line(&format!("a slice of {what} goes through"), Err(error))),
            }
        }
    }

    fn load(&self, stop: &StopFlag) -> Result<()> {
        lock::with_exclusive_lock(self.link, &self.namespace, false, || {
            load::load(self.link, &self.options, &plan(), &Silent, stop)
        })
    }

    fn layout(&self, stop: &StopFlag) -> Result<LayoutProof> {
        verify::of_all(self.link, &self.namespace, &plan().expected(8_192), stop)
    }

    fn clock(&mut self) {
        let cost = describe::clock_cost_us(self.link);
        let figure = cost.map(|us| Some(format!("{us:.2} us a call, one an operation")));
        self.add_line("cost of SYSTIMESTAMP", figure);
    }

    /// A slice of `workload`, and the growth of our session's statistics; `None` if they may not be read.
    fn slice(&self, workload: &Workload) -> Result<(SliceOrder, SliceReport, Option<Values>)> {
        let mut monitors = own::monitors(self.link, "doctor")?;
        let mut counted = || self.own.read(self.link, &mut monitors, Source::Statistics).ok();
        let placement = Placement { session: 0, sessions: 1, schema: 1, endpoint: 0 };
        let (link, own, work) = (Arc::clone(self.link), Arc::clone(&self.own), workload.clone());
        let (namespace, major) = (self.namespace.clone(), self.major);
        let mut session = Apart::open(
            Arc::clone(self.link.abort_state()),
            Arc::new(Silent),
            "the doctor's session".to_owned(),
            move || ServerLoop::open(&link, &own, &work, placement, &namespace, major),
        )?;
        let mut connection = self.link.connect(0, "doctor")?;
        let begin_us = link::clock_us(&mut *connection)? + 300_000;
        let before = counted();
        let end_us = begin_us + SPAN_US;
        let order = SliceOrder { index: 0, begin_us, end_us, first_op: 0, max_ops: None };
        let report = session.run_slice(&order)?;
        let after = counted();
        let grown = before.zip(after).map(|(before, after)| {
            let by = |(name, value): (String, f64)| {
                let grown = value - before.get(&name).copied().unwrap_or(0.0);
                (name, grown)
            };
            after.into_iter().map(by).collect()
        });
        Ok((order, report, grown))
    }

    fn judge(&mut self, what: &str, order: &SliceOrder, report: &SliceReport, grown: Option<&Values>) {
        let kind = if what == "reads" { OpKind::Select } else { OpKind::Update };
        let op = report.op(kind);
        let late = report.begin_us - order.begin_us;
        self.claim(
            &format!("{what}: the slice begins when it is reported"),
            (0..LATE_US).contains(&late),
            format!("{late} us late"),
        );
        let visited =
            format!("{} of {UNIT} visited {}", format_counted(op.ops, "operation"), format_counted(op.blocks, "block"));
        self.claim(
            &format!("{what}: blocks are operations times unit"),
            op.ops > 0 && op.blocks == op.ops * UNIT,
            visited,
        );
        let span_ns = (report.end_us - report.begin_us).max(1) as f64 * 1_000.0;
        let busy = op.latency.sum_ns as f64 / span_ns;
        self.claim(
            &format!("{what}: latencies fill the time (Little's law)"),
            (0.5..1.01).contains(&busy),
            format!("{busy:.3} of it"),
        );
        let Some(grown) = grown else {
            self.lines.push((
                Proven::NotSeen,
                format!("{what}: counters of our session: grant V_$SESSION, V_$SESSTAT, V_$STATNAME"),
            ));
            return;
        };
        let by = |name: &str| grown.get(name).copied().unwrap_or(0.0) as u64;
        let logical = by(statistic::LOGICAL_READS);
        self.claim(
            &format!("{what}: each block is a logical read"),
            logical >= op.blocks,
            format_counted(logical, "logical read"),
        );
        let prefetched = by(statistic::READS_PREFETCHED);
        self.claim(&format!("{what}: nothing is prefetched"), prefetched == 0, format_counted(prefetched, "block"));
        let (read, requests) = (by(statistic::BLOCKS_READ), by(statistic::READ_REQUESTS));
        self.claim(
            &format!("{what}: a request reads one block"),
            read == requests,
            format!("{} by {}", format_counted(read, "block"), format_counted(requests, "request")),
        );
        if kind == OpKind::Update {
            let (waits, commits) = (by(statistic::SYNCH_WRITES), by(statistic::COMMITS));
            let figure = format!(
                "{}, {}, {} for redo",
                format_counted(op.ops, "update"),
                format_counted(commits, "commit"),
                format_counted(waits, "wait")
            );
            self.claim("updates: each commits and waits for redo", commits == op.ops && waits == commits, figure);
        }
    }

    fn clean_up(&self) -> Result<()> {
        registry::cleanup(self.link, &self.namespace)?;
        match registry::entries(self.link, &self.namespace)? {
            None => Ok(()),
            Some(_) => Err(Error::run("a table was left", format!("`mindful cleanup --namespace {NAMESPACE}`"))),
        }
    }

    /// Contents of a bug report, without names of hosts, services and accounts.
    fn bundle(&self, banner: &str) -> String {
        let mut text =
            format!("mindful {}, engine oracle, experimental\nserver: {banner}\n\n", env!("CARGO_PKG_VERSION"));
        for (proven, line) in &self.lines {
            let _ = writeln!(text, "{proven:<8} {line}");
        }
        let slots = [1].into();
        let table = self.namespace.table(TableKind::Blocks, 1);
        let layout = statement::layout(&plan(), BLOCKS, 1);
        for sql in [
            statement::slice(&mixed(), &slots, &self.namespace, self.major),
            statement::blocks(&table, &layout, &plan(), 1, 8_192, &self.options.storage),
            statement::prove_schema(&table),
        ] {
            let _ = write!(text, "\n{sql}\n/\n");
        }
        without(text, &self.link.names())
    }
}

/// `text` without `names`, each as a whole word, in capitals or not.
fn without(text: String, names: &[String]) -> String {
    names.iter().filter(|name| !name.is_empty()).fold(text, |text, name| {
        let (lower, wanted) = (text.to_ascii_lowercase(), name.to_ascii_lowercase());
        let part_of_word = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
        let (mut kept, mut from) = (String::with_capacity(text.len()), 0);
        for (at, _) in lower.match_indices(&wanted) {
            let behind = at + wanted.len();
            let alone = !part_of_word(lower[..at].chars().next_back()) && !part_of_word(lower[behind..].chars().next());
            if alone {
                kept += &text[from..at];
                kept += MASK;
                from = behind;
            }
        }
        kept + &text[from..]
    })
}

/// Work of all kinds.
fn mixed() -> Workload {
    let half = Share::from_hundredths(5_000).unwrap_or(Share::NONE);
    Workload { update_pct: half, scan_pct: half, ..Workload::reads_only(1, BLOCKS, UNIT) }
}

fn plan() -> DatasetPlan {
    DatasetPlan {
        schemas: 1,
        blocks_per_schema: BLOCKS,
        scan_blocks: SCAN_BLOCKS,
        content: Content::INCOMPRESSIBLE,
        seed: 1,
        load_streams: 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_masked_only_as_whole_words() {
        let names = ["db.example.com".to_owned(), "free".to_owned(), "bench".to_owned()];
        let text = "ORA-12514: FREE of DB.example.com; BENCH.T, freepdb1, MINDFUL_BENCH, free buffer waits".to_owned();
        let masked = format!("ORA-12514: {MASK} of {MASK}; {MASK}.T, freepdb1, MINDFUL_BENCH, {MASK} buffer waits");
        assert_eq!(without(text, &names), masked);
    }
}
