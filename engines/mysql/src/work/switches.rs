//! What the optimizer must do, and must not, for a read to visit its own rows and no others.

use mysql::Conn;
use mysql::prelude::Queryable;

use crate::error::Failure;
use crate::flavor::Flavor;

/// InnoDB hands rows on by eight once it has handed on four. It stops at the end of a range only if the condition is
/// pushed down. Otherwise it also visits up to eight rows after the range, and reads their pages. MariaDB would also
/// keep what a key had and look it up there the next time, and plan for a filter of rows that it never takes.
const fn switches(flavor: Flavor) -> &'static str {
    match flavor {
        Flavor::MariaDb => "index_condition_pushdown=on,subquery_cache=off,rowid_filter=off",
        Flavor::MySql => "index_condition_pushdown=on",
    }
}

pub(crate) fn set(conn: &mut Conn, flavor: Flavor) -> Result<(), Failure> {
    Ok(conn.query_drop(format!("SET SESSION optimizer_switch = '{}'", switches(flavor)))?)
}
