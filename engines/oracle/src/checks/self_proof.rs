//! First contact: verifies the engine's claims on this server. A line a claim: PASS, FAIL, or NOT SEEN if the account
//! lacks a privilege. Creates its own tables and removes them.

use std::fmt::Write as _;
use std::sync::Arc;

use mindful_core::contract::event::Silent;
use mindful_core::contract::slice::{Placement, SliceOrder, SliceReport};
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::contract::{Proven, SelfProof};
use mindful_core::dataset::{Content, DatasetPlan};
use mindful_core::plan::secret::MASK;
use mindful_core::plan::units::{Share, format_counted};
use mindful_core::workload::{OpKind, Workload};
use mindful_core::{Error, Result, Session};
use mindful_oracle_terms::statistic;

use crate::connect::abort::LeavableSession;
use crate::connect::driver::Bind;
use crate::connect::link::{self, Link};
use crate::connect::{Doing, explain};
use crate::dataset::{load, lock, registry, verify};
use crate::names::{Namespace, TableKind};
use crate::observe::describe::{self, PARAMETERS, Version};
use crate::observe::own::{self, Own, SOURCES, Values};
use crate::options::Options;
use crate::work::session::ServerLoop;
use crate::work::{prepare, statement};

const NAMESPACE: &str = "mindful_doctor";
const BLOCKS: u64 = 2_000;
const SCAN_BLOCKS: u64 = 32;
const UNIT: u64 = 8;
/// Duration of each kind of work, us.
const SPAN_US: i64 = 2_000_000;
/// A session that begins later than this is late, us.
const LATE_US: i64 = 5_000;

/// Proves the engine on the server of `link`.
pub(crate) fn prove(link: &Arc<Link>, options: &Options, version: &Version, stop: &StopFlag) -> Result<SelfProof> {
    let namespace = Namespace::parse(NAMESPACE)?;
    let options = Options { namespace, ..options.clone() };
    let mut proof = Proof { link, lines: Vec::new(), options, version, own: Arc::default() };
    proof.add_line("the server returns its release", Ok(Some(version.banner.clone())));
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
    Ok(SelfProof { bundle: proof.bundle(), lines: proof.lines })
}

struct Proof<'a> {
    link: &'a Arc<Link>,
    lines: Vec<(Proven, String)>,
    options: Options,
    version: &'a Version,
    own: Arc<Own>,
}

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
        self.add_line(claim, if holds { Ok(Some(figure)) } else { Err(Error::run(figure, "")) });
    }

    /// Each text that reads a view, and so each of its columns.
    fn views(&mut self) {
        let names = self.link.names_in_server("");
        for source in SOURCES {
            let [all, mine] = source.statements();
            self.read(&all, &names);
            self.read(&mine, &[]);
        }
        self.read(include_str!("../../sql/counters/waits.sql"), &names);
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
            self.read(&statement::of_names(template, PARAMETERS.split(' ')), &[]);
        }
    }

    fn read(&mut self, sql: &str, binds: &[(&'static str, Bind)]) {
        let claim = format!("text {} is read", statement::name(sql).unwrap_or_default());
        match self.link.ask(sql.trim_end(), binds) {
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
        let loaded = self.clean_up().and_then(|()| {
            lock::with_exclusive_lock(self.link, &self.options.namespace, false, || {
                load::load(self.link, &self.options, &plan(), &Silent, stop)
            })
        });
        if !self.add_line("tables are made and filled", loaded.map(|()| None)) {
            return;
        }
        self.read(
            &statement::of_registry(include_str!("../../sql/describe/data_files.sql"), &self.options.namespace),
            &[],
        );
        let layout = verify::of_all(self.link, &self.options.namespace, &plan().expected(8_192), stop);
        let layout = layout.and_then(|proof| match proof.failure() {
            Some(failure) => Err(Error::run(failure, "")),
            None => Ok(Some(format!("{} in as many blocks", format_counted(BLOCKS, "row")))),
        });
        self.add_line("one row a block, in random order", layout);
        let paths = prepare::paths(self.link, &mixed(), &self.options.namespace);
        let shapes = paths.map(|paths| Some(paths.into_iter().map(|path| path.shape).collect::<Vec<_>>().join("; ")));
        self.add_line("the server's plans are the method's", shapes);
        let cost = describe::clock_cost_us(self.link).map(|us| Some(format!("{us:.2} us a call, one an operation")));
        self.add_line("cost of SYSTIMESTAMP", cost);
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

    /// A slice of `workload`, and the growth of our session's statistics; `None` if they may not be read.
    fn slice(&self, workload: &Workload) -> Result<(SliceOrder, SliceReport, Option<Values>)> {
        let mut monitors = own::monitors(self.link, "doctor")?;
        let mut counted = || self.own.read(self.link, &mut monitors, &own::STATISTICS).ok();
        let placement = Placement { session: 0, sessions: 1, schema: 1, endpoint: 0 };
        let (link, own, work) = (Arc::clone(self.link), Arc::clone(&self.own), workload.clone());
        let (namespace, major) = (self.options.namespace.clone(), self.version.major);
        let (abort, place) = (self.link.abort_state(), "the doctor's session".to_owned());
        let mut session = LeavableSession::open(abort, Arc::new(Silent), place, move || {
            ServerLoop::open(&link, &own, &work, placement, &namespace, major)
        })?;
        let mut connection = self.link.connect(0, "doctor")?;
        let begin_us = link::clock_us(&mut *connection)? + 300_000;
        let before = counted();
        let end_us = begin_us + SPAN_US;
        let order = SliceOrder { index: 0, begin_us, end_us, first_op: 0, max_ops: None };
        let report = session.run_slice(&order)?;
        let after = counted();
        let grown = before.zip(after).map(|(before, mut after)| {
            for (name, value) in &mut after {
                *value -= before.get(name).copied().unwrap_or(0.0);
            }
            after
        });
        Ok((order, report, grown))
    }

    fn judge(&mut self, what: &str, order: &SliceOrder, report: &SliceReport, grown: Option<&Values>) {
        let kind = if what == "reads" { OpKind::Select } else { OpKind::Update };
        let op = report.op(kind);
        let mut claim = |claim: &str, holds, figure| self.claim(&format!("{what}: {claim}"), holds, figure);
        let late = report.begin_us - order.begin_us;
        claim("the slice begins when it is reported", (0..LATE_US).contains(&late), format!("{late} us late"));
        let visited =
            format!("{} of {UNIT} visited {}", format_counted(op.ops, "operation"), format_counted(op.blocks, "block"));
        claim("blocks are operations times unit", op.ops > 0 && op.blocks == op.ops * UNIT, visited);
        let span_ns = (report.end_us - report.begin_us).max(1) as f64 * 1_000.0;
        let busy = op.latency.sum_ns as f64 / span_ns;
        let figure = format!("{busy:.3} of it");
        claim("latencies fill the time (Little's law)", (0.5..1.01).contains(&busy), figure);
        let Some(grown) = grown else {
            let text = format!("{what}: counters of our session: grant V_$SESSION, V_$SESSTAT, V_$STATNAME");
            return self.lines.push((Proven::NotSeen, text));
        };
        let by = |name: &str| grown.get(name).copied().unwrap_or(0.0) as u64;
        let logical = by(statistic::LOGICAL_READS);
        claim("each block is a logical read", logical >= op.blocks, format_counted(logical, "logical read"));
        let prefetched = by(statistic::READS_PREFETCHED);
        claim("nothing is prefetched", prefetched == 0, format_counted(prefetched, "block"));
        let (read, requests) = (by(statistic::BLOCKS_READ), by(statistic::READ_REQUESTS));
        let figure = format!("{} by {}", format_counted(read, "block"), format_counted(requests, "request"));
        claim("a request reads one block", read == requests, figure);
        if kind == OpKind::Update {
            let (waits, commits) = (by(statistic::SYNCH_WRITES), by(statistic::COMMITS));
            let counted = [(op.ops, "update"), (commits, "commit"), (waits, "wait")];
            let figure = counted.map(|(count, what)| format_counted(count, what)).join(", ") + " for redo";
            claim("each commits and waits for redo", commits == op.ops && waits == commits, figure);
        }
    }

    fn clean_up(&self) -> Result<()> {
        registry::cleanup(self.link, &self.options.namespace)?;
        match registry::entries(self.link, &self.options.namespace)? {
            None => Ok(()),
            Some(_) => Err(Error::run("a table was left", format!("`mindful cleanup --namespace {NAMESPACE}`"))),
        }
    }

    /// Contents of a bug report, without names of hosts, services and accounts.
    fn bundle(&self) -> String {
        let banner = &self.version.banner;
        let mut text =
            format!("mindful {}, engine oracle, experimental\nserver: {banner}\n\n", env!("CARGO_PKG_VERSION"));
        for (proven, line) in &self.lines {
            let _ = writeln!(text, "{proven:<8} {line}");
        }
        let slots = [1].into();
        let table = self.options.namespace.table(TableKind::Blocks, 1);
        let layout = statement::layout(&plan(), BLOCKS, 1);
        for sql in [
            statement::slice(&mixed(), &slots, &self.options.namespace, self.version.major),
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
