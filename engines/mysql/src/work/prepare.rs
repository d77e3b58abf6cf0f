//! Checks before sessions start: an unsupported workload is refused with the next step.

use mindful_core::workload::{Access, Workload};
use mindful_core::{Error, Result};
use mysql_common::value::Value;

use crate::connect::Conn;
use crate::connect::link::Link;
use crate::dataset::registry;
use crate::error::Failure;
use crate::flavor::Flavor;
use crate::names::{MARK, NUMBERS, Namespace};
use crate::work::server_time;
use crate::work::statement::{self, Reach};

const NUMBERS_AT_A_TIME: u64 = 1_000;

/// Refuses work that contradicts itself, or that this engine has no form of.
pub(crate) fn refuse_contradictions(workload: &Workload, sessions: u32) -> Result<()> {
    if workload.access == Access::Bitmap || (!workload.access.is_index() && !workload.update_pct.is_none()) {
        return Err(Error::plan(
            format!("access {} is not supported on InnoDB", workload.access),
            "omit --access: mindful reads InnoDB by its index",
        ));
    }
    workload.refuse_contradictions(sessions)
}

/// Refuses a loop in the server if its visited pages are unknown.
pub(crate) fn refuse_server_loop(link: &Link) -> Result<()> {
    match link.storage()?.other() {
        None => Ok(()),
        Some(other) => Err(Error::plan(
            format!("{}: the loop in the server needs InnoDB", other.what),
            "pass --loop client, which measures operations only: layout, pages and physical reads are unknown",
        )),
    }
}

/// The probe of the clock, with its sleep.
const PROBE: &str = "SELECT SYSDATE(6), SLEEP(0.002), SYSDATE(6)";

/// Refuses a server with a SYSDATE that does not move within a statement: every latency would be zero.
pub(crate) fn refuse_standing_clock(link: &Link) -> Result<()> {
    let probed: Option<(Value, Value, Value)> =
        link.run("probing the server's clock", |conn| conn.exec_first(PROBE, ()))?;
    let moves = probed.is_some_and(|(before, _, behind)| server_time::us(&behind) > server_time::us(&before));
    if moves {
        return Ok(());
    }
    Err(Error::target(
        "SYSDATE does not move within a statement (sysdate-is-now), so operations cannot be timed in the server",
        "start the server without --sysdate-is-now, or run with --loop client",
    ))
}

/// Sets the private server's commits as `workload` needs them, unless its user chose others; refuses any other server with
/// different ones. `given` are the names of the settings that the user gave to the private server.
pub(crate) fn commits(link: &Link, workload: &Workload, given: Option<&[String]>) -> Result<()> {
    if workload.update_pct.is_none() {
        return Ok(());
    }
    if let Some(other) = link.storage()?.other() {
        let what = format!("{}: mindful cannot set whether its commits wait", other.what);
        return if workload.commit_wait { Ok(()) } else { Err(Error::plan(what, "omit --commit-wait")) };
    }
    let wanted = if workload.commit_wait { 1 } else { 2 };
    // It is the server's and no session's: on one that others use it is theirs to change.
    let right = match link.version()?.flavor {
        Flavor::MariaDb => "SUPER",
        Flavor::MySql => "SYSTEM_VARIABLES_ADMIN",
    };
    let name = "innodb_flush_log_at_trx_commit";
    link.run("reading how the server commits", |conn| {
        let is: Option<i64> = conn.query_first(format!("SELECT @@GLOBAL.{name}"))?;
        match is {
            Some(is) if (is == 1) == workload.commit_wait => Ok(()),
            _ if workload.commit_wait && given.is_some_and(|given| given.iter().any(|given| given == name)) => Ok(()),
            _ if given.is_some() => conn.query_drop(format!("SET GLOBAL {name} = {wanted}")),
            is => Err(Error::target(
                format!("the server's commits differ from the plan: {name} is {}", is.map_or(-1, |is| is)),
                format!(
                    "SET GLOBAL {name} = {wanted} (this needs GRANT {right} ON *.*), or run with --commit-wait {}",
                    if workload.commit_wait { "off" } else { "on" }
                ),
            )
            .into()),
        }
    })
}

/// The way in which reads of `workload` reach their pages; creates the objects for it in the namespace.
pub(crate) fn reach(link: &Link, workload: &Workload, namespace: &Namespace) -> Result<Reach> {
    if statement::is_single(workload) {
        return Ok(Reach::Key);
    }
    let flavor = link.version()?.flavor;
    link.run("preparing reads of several pages", |conn| {
        if functions(conn, workload, namespace)? {
            return Ok(Reach::Function);
        }
        if flavor == Flavor::MariaDb {
            return Ok(Reach::Sequence);
        }
        numbers(conn, namespace, statement::longest(workload))?;
        Ok(Reach::Numbers)
    })
}

/// Creates the function of each schema if it is missing; `false` if the role may not.
fn functions(conn: &mut Conn, workload: &Workload, namespace: &Namespace) -> Result<bool, Failure> {
    let sql = "SELECT routine_definition FROM information_schema.routines \
               WHERE routine_schema = ? AND routine_name = ? AND routine_type = 'FUNCTION'";
    for schema in 1..=workload.schemas {
        let create = statement::create_function(namespace, schema);
        let stands: Option<Option<String>> = conn.exec_first(sql, (&namespace.name, format!("visit_{schema}")))?;
        let body = create.find("RETURN (").map_or("", |at| create[at..].trim_end());
        match stands {
            // A role that may not see the existing function may not replace it either.
            Some(None) => return Ok(false),
            // A function with another body would run foreign code.
            Some(Some(stands)) if stands.trim_end() == body => continue,
            Some(_) => conn.query_drop(format!("DROP FUNCTION {}", statement::function(namespace, schema)))?,
            None => {}
        }
        match conn.query_drop(create) {
            Err(failure) if failure.lacks_right() => return Ok(false),
            made => made?,
        }
    }
    Ok(true)
}

/// Ensures that the table of numbers durably contains 0 to `count` less one: a table in memory is empty after a
/// restart, and reads would visit nothing.
fn numbers(conn: &mut Conn, namespace: &Namespace, count: u64) -> Result<(), Failure> {
    let table = namespace.qualified(NUMBERS);
    conn.query_drop(format!(
        "CREATE TABLE IF NOT EXISTS {table} (n INT UNSIGNED NOT NULL PRIMARY KEY) ENGINE = InnoDB COMMENT = '{MARK}'"
    ))?;
    registry::refuse_other_numbers(conn, namespace)?;
    let held: Option<u64> = conn.query_first(format!("SELECT COUNT(*) FROM {table} WHERE n < {count}"))?;
    if held == Some(count) {
        return Ok(());
    }
    for first in (0..count).step_by(NUMBERS_AT_A_TIME as usize) {
        let some = (first..count.min(first + NUMBERS_AT_A_TIME)).map(|n| format!("({n})")).collect::<Vec<_>>();
        conn.query_drop(format!("INSERT IGNORE INTO {table} VALUES {}", some.join(", ")))?;
    }
    Ok(())
}
