//! Connections to the services of a target, and statements over them.

use std::sync::Arc;
use std::time::Duration;

use mindful_core::contract::slice::{Placement, session_name};
use mindful_core::{Error, Result, contract::clock};
use mindful_sql::connect::abort::AbortState;
use mindful_sql::connect::control::Control;

use crate::connect::abort::{self, Leavable};
use crate::connect::driver::{Bind, Connection, Done, Driver, Failure, Login, Row};
use crate::connect::{Doing, explain};

pub(crate) const QUESTION: Duration = Duration::from_mins(2);
/// Limit for a load or a proof of a table; a working network is not silent for longer.
pub(crate) const HEAVY: Duration = Duration::from_hours(7 * 24);

/// Module of mindful's sessions in V$SESSION.
const MODULE: &str = "mindful";

/// Keywords of a descriptor.
const DESCRIPTOR: &str = "DESCRIPTION ADDRESS_LIST ADDRESS PROTOCOL TCP TCPS HOST PORT CONNECT_DATA SERVICE_NAME SID SERVER \
                          DEDICATED POOLED SHARED";

pub(crate) struct Link {
    driver: &'static dyn Driver,
    /// One a service.
    logins: Vec<Login>,
    control: Control<Box<dyn Connection>>,
    /// Distinguishes the sessions of this process from those of another: the action, in addition to the module.
    pub tag: String,
    abort: Arc<AbortState>,
}

impl Link {
    /// A link to `logins`, one a service; connects to nothing yet.
    pub(crate) fn new(driver: &'static dyn Driver, logins: Vec<Login>) -> Self {
        let tag = format!("{}-{}", std::process::id(), clock::now_us());
        Self { driver, logins, control: Control::default(), tag, abort: Arc::default() }
    }

    pub(crate) fn endpoints(&self) -> u32 {
        self.logins.len() as u32
    }

    pub(crate) fn user(&self) -> &str {
        &self.logins[0].user
    }

    /// Names of accounts and addresses, and the parts of these, which a bug report must not contain; the longest first.
    pub(crate) fn names(&self) -> Vec<String> {
        let parts = |address: &str| -> Vec<String> {
            let words = address.split(|c: char| "/:@()=?,;\" ".contains(c));
            // Ports and keywords of a descriptor contain no name.
            let named = words.filter(|word| word.len() > 2 && !word.chars().all(|c| c.is_ascii_digit()));
            let is_keyword = |word: &str| DESCRIPTOR.split(' ').any(|keyword| keyword.eq_ignore_ascii_case(word));
            named.filter(|word| !is_keyword(word)).map(str::to_owned).collect()
        };
        let of = |login: &Login| [vec![login.address.clone(), login.user.clone()], parts(&login.address)].concat();
        let mut names: Vec<String> = self.logins.iter().flat_map(of).collect();
        names.sort_by_key(|name| std::cmp::Reverse(name.len()));
        names.dedup();
        names
    }

    pub(crate) fn address(&self) -> &str {
        &self.logins[0].address
    }

    /// Whether the first service is on this host by its address.
    pub(crate) fn is_local(&self) -> bool {
        let address = self.logins[0].address.trim_start_matches("tcps://").trim_start_matches("tcp://");
        ["localhost", "127.", "[::1]"].iter().any(|local| address.starts_with(local))
    }

    /// Shared with the threads of sessions, which end on request.
    pub(crate) fn abort_state(&self) -> &Arc<AbortState> {
        &self.abort
    }

    /// A new connection to service `endpoint`, named by `role`; its calls are abandoned after a stop request.
    pub(crate) fn connect(&self, endpoint: u32, role: &str) -> Result<Box<dyn Connection>> {
        let connection = self.open(endpoint, role)?;
        Ok(Box::new(Leavable::new(connection, Arc::clone(&self.abort))))
    }

    fn open(&self, endpoint: u32, role: &str) -> Result<Box<dyn Connection>> {
        let login = self.logins[endpoint as usize % self.logins.len()].clone();
        let place = format!("connecting to {}", login.address);
        let (driver, within) = (self.driver, login.within);
        let names = self.names_in_server(role);
        let connected = abort::done(&self.abort, move || {
            let mut connection = driver.connect(&login)?;
            connection.execute(include_str!("../../sql/client/enter.sql").trim_end(), &names, within)?;
            Ok(connection)
        });
        connected.and_then(|connected| connected).map_err(|failure| explain(&failure, Doing::Connect, &place))
    }

    /// Module and action of connections of `role`; measured sessions have no role.
    pub(crate) fn names_in_server(&self, role: &str) -> [(&'static str, Bind); 2] {
        let action = if role.is_empty() { self.tag.clone() } else { format!("{} {role}", self.tag) };
        [("module", Bind::Text(MODULE.to_owned())), ("action", Bind::Text(action))]
    }

    /// The connection of the session in `placement`, which has a separate thread for its calls.
    pub(crate) fn connect_session(&self, placement: Placement) -> Result<Box<dyn Connection>> {
        self.open(placement.endpoint, "").map_err(|error| error.at(session_name(placement.session)))
    }

    /// Queries over the connection for everything that is not measured.
    pub(crate) fn query(&self, place: &str, sql: &str, binds: &[(&'static str, Bind)]) -> Result<Vec<Row>> {
        self.query_within(place, sql, binds, QUESTION)
    }

    pub(crate) fn query_within(
        &self,
        place: &str,
        sql: &str,
        binds: &[(&'static str, Bind)],
        within: Duration,
    ) -> Result<Vec<Row>> {
        let asked = self.on_control(|connection| connection.query(sql, binds, within))?;
        asked.map_err(|failure| explain(&failure, Doing::Prepare, place))
    }

    /// The same with the failure as it came.
    pub(crate) fn ask(&self, sql: &str, binds: &[(&'static str, Bind)]) -> Result<Result<Vec<Row>, Failure>> {
        self.on_control(|connection| connection.query(sql, binds, QUESTION))
    }

    pub(crate) fn execute(&self, place: &str, sql: &str, binds: &[(&'static str, Bind)]) -> Result<Done> {
        self.execute_within(place, sql, binds, QUESTION)
    }

    pub(crate) fn execute_within(
        &self,
        place: &str,
        sql: &str,
        binds: &[(&'static str, Bind)],
        within: Duration,
    ) -> Result<Done> {
        let done = self.on_control(|connection| {
            let done = connection.execute(sql, binds, within)?;
            connection.commit()?;
            Ok(done)
        })?;
        done.map_err(|failure| explain(&failure, Doing::Prepare, place))
    }

    /// A connection that broke, or that was left to itself, is replaced for the next question.
    fn on_control<T>(
        &self,
        call: impl FnOnce(&mut dyn Connection) -> Result<T, Failure>,
    ) -> Result<Result<T, Failure>> {
        let mut control = self.control.get(|_| true, || self.connect(0, "control"))?;
        let called = call(&mut **control);
        if called.as_ref().is_err_and(Failure::ends_connection) {
            control.close();
        }
        Ok(called)
    }
}

pub(crate) fn clock_us(connection: &mut dyn Connection) -> Result<i64> {
    let rows = connection.query(include_str!("../../sql/client/clock.sql").trim_end(), &[], QUESTION);
    let rows = rows.map_err(|failure| explain(&failure, Doing::Prepare, "reading the clock"))?;
    let now = rows.first().and_then(|row| row.first()?.as_ref()?.parse().ok());
    now.ok_or_else(|| Error::target("the instance reported no time", "check that it is an Oracle Database"))
}

pub(crate) fn text(row: &Row, column: usize) -> Option<&str> {
    row.get(column)?.as_deref()
}

pub(crate) fn number(row: &Row, column: usize) -> Option<u64> {
    let text = text(row, column)?;
    text.parse().ok().or_else(|| text.parse::<f64>().ok().map(|number| number as u64))
}
