//! The SQL of one session's work: the draws of [`mindful_core::workload`] as expressions, and the procedure around them.

use std::collections::BTreeSet;

use mindful_core::contract::slice::LONG_OP_US;
use mindful_core::plan::units::Share;
use mindful_core::workload::draws::{self, Draws, Streams};
use mindful_core::workload::schema_share::SchemaShare;
use mindful_core::workload::{self, Commit, Redo, Skew, ThinkTime, Workload};

use crate::names::{Namespace, TableKind};
use crate::template::{dollar_quote, render};

/// Buckets of a latency histogram: 128 whole microseconds, then half percents up to an hour.
pub(crate) const BUCKETS: usize = 3_600;

const MOST_IN_BATCH: &str = "1024";

pub(crate) struct Script<'a> {
    workload: &'a Workload,
    streams: Streams,
    namespace: &'a Namespace,
    spread: SchemaShare,
}

impl<'a> Script<'a> {
    /// The work of `session` (from 0), with `schema` (from 1) as its home unless the workload spreads sessions.
    pub(crate) fn new(workload: &'a Workload, session: u32, schema: u32, namespace: &'a Namespace) -> Self {
        let draws = Draws::new(workload, session, schema);
        Self { workload, streams: draws.streams, namespace, spread: draws.schema_share }
    }

    /// `CREATE PROCEDURE pg_temp.slice` with only the parts that this workload needs: an option that is off costs
    /// nothing.
    pub(crate) fn procedure(&self) -> String {
        let w = self.workload;
        let thinks = w.think_time.is_some();
        let all = BUCKETS.to_string();
        let buckets = |runs: bool| if runs { all.as_str() } else { "1" };
        let select = self.select(if thinks { "1" } else { MOST_IN_BATCH });
        let update = if w.update_pct.is_none() { String::new() } else { self.update() };
        let scan = if w.scan_pct.is_none() { String::new() } else { self.scan() };
        render(
            include_str!("../../sql/slice.sql"),
            &[
                ("quote", &dollar_quote(&[&*select, &*update, &*scan].concat())),
                ("select_buckets", buckets(w.update_pct < Share::ALL)),
                ("update_buckets", buckets(!w.update_pct.is_none())),
                ("scan_buckets", buckets(!w.scan_pct.is_none())),
                ("long_us", &LONG_OP_US.to_string()),
                ("think", if thinks { include_str!("../../sql/slice_think.sql") } else { "" }),
                ("mix", &self.mix()),
                ("update", &update),
                ("scan", &scan),
                ("select", &select),
            ],
        )
    }

    pub(crate) fn batch(&self, op: &str, todo: &str, deadline: &str) -> String {
        let w = self.workload;
        let [hot_spot, hot_schema, thinks] = self.conditions("i");
        let (mut chosen, mut choices) = (Vec::new(), Vec::new());
        let [mut carried, mut facts, mut by_facts] = ["", "0", ""];
        // Unused columns would be carried through every level for nothing.
        if self.chooses() {
            chosen.push(format!(", {hot_spot} AS hot, {hot_schema} AS hot_schema, {thinks} AS thinks"));
            // A draw is reused for the tally.
            choices.push(format!("hot, {} AS facts, ", self.cell(["hot", "hot_schema", "thinks"])));
            [carried, facts, by_facts] = ["facts, ", "facts", ", facts"];
        }
        if self.schemas().len() > 1 {
            chosen.push(format!(", {} AS own_schema", self.own_schema("i")));
            choices.push(format!("{} AS schema, ", self.or_hot_schema("hot_schema", "own_schema")));
        }
        render(
            include_str!("../../sql/select_batch.sql"),
            &[
                ("blocks", &self.blocks()),
                ("first_key", &self.first_key("i", w.work_unit)),
                ("chosen", &chosen.concat()),
                ("choices", &choices.concat()),
                ("carried", carried),
                ("facts", facts),
                ("by_facts", by_facts),
                ("op", op),
                ("todo", todo),
                ("deadline", deadline),
                ("last_bucket", &(BUCKETS - 1).to_string()),
            ],
        )
    }

    pub(crate) fn update_statement(&self, table: &str, op: &str) -> String {
        let template = match self.workload.redo {
            Redo::Light => include_str!("../../sql/update_light.sql"),
            Redo::Heavy => include_str!("../../sql/update_heavy.sql"),
        };
        let unit = self.workload.update_work_unit;
        render(
            template,
            &[
                ("table", table),
                ("first_key", &self.first_key(op, unit)),
                ("reach", &self.reach(unit, &self.hot_spot(op))),
            ],
        )
    }

    /// The blocks of one read, from the chosen table of the session.
    fn blocks(&self) -> String {
        let schemas = self.schemas();
        let reach = self.reach(self.workload.work_unit, "hot");
        let tables = schemas.iter().map(|schema| {
            let only = if schemas.len() > 1 { format!(" AND schema = {schema}") } else { String::new() };
            let table = self.namespace.table(TableKind::Blocks, *schema);
            render(
                include_str!("../../sql/select_blocks.sql"),
                &[("table", &table), ("reach", &reach), ("only", &only)],
            )
        });
        format!("({})", tables.collect::<Vec<_>>().join("\nUNION ALL "))
    }

    /// All schemas that its operations can visit, in order.
    pub(crate) fn schemas(&self) -> BTreeSet<u32> {
        let hot = (!self.workload.hot_schema.is_none()).then_some(1);
        self.spread.schemas().chain(hot).collect()
    }

    /// The schema of operation `op` unless it is a hot one: see [`SchemaShare::schema`].
    fn own_schema(&self, op: &str) -> String {
        let SchemaShare { before, pieces, pieces_per_schema: of_schema, stream } = self.spread;
        match self.spread.schemas() {
            own if own.start() == own.end() => own.start().to_string(),
            _ => format!("({before} + {} % {pieces}) / {of_schema} + 1", draw(op, stream)),
        }
    }

    /// The schema of an operation by two expressions: whether it is a hot one, and its schema otherwise.
    fn or_hot_schema(&self, hot: &str, own: &str) -> String {
        if self.workload.hot_schema.is_none() {
            own.to_owned()
        } else {
            format!("CASE WHEN {hot} THEN 1 ELSE {own} END")
        }
    }

    fn by_schema(&self, op: &str, on: impl Fn(u32) -> String) -> String {
        let schemas = self.schemas();
        let cases: Vec<_> = schemas.iter().map(|schema| format!("WHEN {schema} THEN {}; ", on(*schema))).collect();
        match schemas.first() {
            Some(only) if schemas.len() == 1 => format!("{};", on(*only)),
            _ => {
                let schema = self.or_hot_schema(&self.hot_schema(op), &self.own_schema(op));
                format!("CASE ({schema}) {}END CASE;", cases.concat())
            }
        }
    }

    /// Whether a read counts anything besides the key.
    fn chooses(&self) -> bool {
        let w = self.workload;
        w.hot_spot.is_some() || !w.hot_schema.is_none() || w.think_time.is_some()
    }

    pub(crate) fn home(&self) -> String {
        self.namespace.table(TableKind::Blocks, *self.spread.schemas().start())
    }

    fn mix(&self) -> String {
        let (w, s) = (self.workload, &self.streams);
        let (updates, phase) = (w.update_pct.hundredths().to_string(), s.update_phase.to_string());
        let mut text = String::new();
        if !w.update_pct.is_none() {
            text += &render(include_str!("../../sql/slice_mix.sql"), &[("share", &updates), ("phase", &phase)]);
        }
        if !w.scan_pct.is_none() {
            text += "\n        ";
            text += &render(
                include_str!("../../sql/slice_mix_scan.sql"),
                &[
                    ("updates_before", &format!("(op * {updates} + {phase}) / {}", Share::WHOLE)),
                    ("share", &w.scan_pct.hundredths().to_string()),
                    ("phase", &s.scan_phase.to_string()),
                ],
            );
        }
        text
    }

    fn select(&self, most: &str) -> String {
        render(
            include_str!("../../sql/slice_select.sql"),
            &[
                ("statement", &self.batch("op", "todo", "deadline")),
                ("most", most),
                ("long_us", &LONG_OP_US.to_string()),
                ("pause", &self.pause()),
            ],
        )
    }

    fn update(&self) -> String {
        // The row count has to be taken before anything else runs; CASE does not disturb it.
        let on = |schema| self.update_statement(&self.namespace.table(TableKind::Blocks, schema), "op");
        let statement = self.by_schema("op", on);
        let commit = match self.workload.commit {
            Commit::Each => "COMMIT;".to_owned(),
            Commit::Every(every) => format!(
                "uncommitted := uncommitted + 1; IF uncommitted >= {every} THEN COMMIT; uncommitted := 0; END IF;"
            ),
            Commit::Slice => String::new(),
        };
        self.single(include_str!("../../sql/slice_update.sql"), &statement, &commit)
    }

    fn scan(&self) -> String {
        let table = TableKind::scanned_by(self.workload.access);
        let count = |schema| format!("SELECT count(seq) INTO visited FROM {}", self.namespace.table(table, schema));
        self.single(include_str!("../../sql/slice_scan.sql"), &self.by_schema("op", count), "")
    }

    fn single(&self, template: &str, statement: &str, commit: &str) -> String {
        render(
            template,
            &[
                ("statement", statement),
                ("commit", commit),
                ("facts", &self.facts("op")),
                ("long_us", &LONG_OP_US.to_string()),
                ("pause", &self.pause()),
                ("last_bucket", &(BUCKETS - 1).to_string()),
            ],
        )
    }

    fn pause(&self) -> String {
        match self.workload.think_time {
            Some(think) => {
                render(include_str!("../../sql/slice_pause.sql"), &[("pause_us", &self.think_us(think, "op"))])
            }
            None => String::new(),
        }
    }

    /// See [`mindful_core::workload::draws::Draws::op`]: the same key for the same operation.
    fn first_key(&self, op: &str, unit: u64) -> String {
        let w = self.workload;
        let spread = self.spread_key(op, unit);
        match w.hot_spot {
            Some(spot) => {
                let starts = workload::count_starts(spot.blocks, unit.min(spot.blocks));
                let key = draw(op, self.streams.key);
                format!("CASE WHEN {} THEN {} + {key} % {starts} ELSE {spread} END", self.hot_spot(op), spot.offset + 1)
            }
            None => spread,
        }
    }

    fn spread_key(&self, op: &str, unit: u64) -> String {
        let spread = workload::count_starts(self.workload.scale, unit);
        let number = draw(op, self.streams.key);
        match self.workload.skew {
            Skew::Uniform => format!("(1 + {number} % {spread})"),
            Skew::Zipf(theta) => {
                let power = 1.0 - theta;
                let top = ((spread + 1) as f64).powf(power) - 1.0;
                let unit = draw_unit(op, self.streams.key);
                format!(
                    "greatest(1, least({spread}, floor(power({unit} * {}::float8 + 1, {}::float8))))::bigint",
                    exact(top),
                    exact(1.0 / power)
                )
            }
            Skew::HotSet { fraction, probability, moves_every } => {
                let hot = draws::hot_set_keys(spread, fraction);
                let base =
                    if moves_every == 0 { "0".to_owned() } else { format!("{op} / {moves_every} * {hot} % {spread}") };
                let step = if hot == spread {
                    format!("{number} % {hot}")
                } else {
                    let inside = drawn(op, self.streams.hot_set, probability);
                    format!("CASE WHEN {inside} THEN {number} % {hot} ELSE {hot} + {number} % {} END", spread - hot)
                };
                format!("(1 + ({base} + {step}) % {spread})")
            }
        }
    }

    /// Last key minus first key; `hot` is an expression: whether the operation visited the hot spot.
    fn reach(&self, unit: u64, hot: &str) -> String {
        match self.workload.hot_spot {
            Some(spot) if spot.blocks < unit => {
                format!("CASE WHEN {hot} THEN {} ELSE {} END", spot.blocks - 1, unit - 1)
            }
            _ => (unit - 1).to_string(),
        }
    }

    fn hot_spot(&self, op: &str) -> String {
        self.workload.hot_spot.map_or_else(|| "false".to_owned(), |spot| drawn(op, self.streams.hot_spot, spot.share))
    }

    fn hot_schema(&self, op: &str) -> String {
        drawn(op, self.streams.hot_schema, self.workload.hot_schema)
    }

    /// Whether an operation uses the hot spot, uses the hot schema, and is followed by a pause.
    fn conditions(&self, op: &str) -> [String; 3] {
        let thinks = self.workload.think_time.map(|think| format!("{} > 0", self.think_us(think, op)));
        [self.hot_spot(op), self.hot_schema(op), thinks.unwrap_or_else(|| "false".to_owned())]
    }

    /// The cell of the tally, apart from the kind.
    fn facts(&self, op: &str) -> String {
        self.cell(self.conditions(op).each_ref().map(String::as_str))
    }

    /// The cell by [`Script::conditions`]; a condition of a knob that is off is not evaluated.
    fn cell(&self, conditions: [&str; 3]) -> String {
        let w = self.workload;
        let on =
            [w.hot_spot.is_some_and(|spot| !spot.share.is_none()), !w.hot_schema.is_none(), w.think_time.is_some()];
        let bits = conditions.into_iter().zip([4, 8, 16]).zip(on).filter(|(_, on)| *on);
        let cases = bits.map(|((condition, bit), _)| format!(" + CASE WHEN {condition} THEN {bit} ELSE 0 END"));
        format!("0{}", cases.collect::<String>())
    }

    fn think_us(&self, think: ThinkTime, op: &str) -> String {
        let unit = draw_unit(op, self.streams.think_time);
        let (min, max) = (think.min.as_micros(), think.max.as_micros());
        let length = if think.exponential {
            format!("{max} * -ln(1 - {unit})")
        } else {
            format!("{min} + {} * {unit}", max.saturating_sub(min))
        };
        let sometimes = drawn(op, self.streams.think, think.share);
        format!("(CASE WHEN {sometimes} THEN {length} ELSE 0 END)::bigint")
    }
}

/// [`mindful_core::workload::draw::draw`].
fn draw(op: &str, stream: i64) -> String {
    format!("(hashint8extended(hashint8extended({op}, 0), '{stream}'::bigint) & 9223372036854775807)")
}

/// [`mindful_core::workload::draw::draw_unit`].
fn draw_unit(op: &str, stream: i64) -> String {
    format!("(({} >> 10) / 9007199254740992::float8)", draw(op, stream))
}

/// [`mindful_core::workload::drawn`].
fn drawn(op: &str, stream: i64, share: Share) -> String {
    if share.is_none() {
        return "false".to_owned();
    }
    format!("({} % {} < {})", draw(op, stream), Share::WHOLE, share.hundredths())
}

/// A float as a literal that reads back as the very same one.
fn exact(number: f64) -> String {
    format!("'{number:e}'")
}
