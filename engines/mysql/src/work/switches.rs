//! Optimizer switches, so that a read visits exactly its own rows.

use crate::connect::Conn;
use crate::error::Failure;
use crate::flavor::Flavor;

/// InnoDB fetches rows in groups of eight after the first four. It stops at the end of a range only if the condition is
/// pushed down. Otherwise it also visits up to eight rows after the range, and reads their pages. MariaDB would also
/// cache the result of a key, and plan a row filter that it never uses.
const fn switches(flavor: Flavor) -> &'static str {
    match flavor {
        Flavor::MariaDb => "index_condition_pushdown=on,subquery_cache=off,rowid_filter=off",
        Flavor::MySql => "index_condition_pushdown=on",
    }
}

pub(crate) fn set(conn: &mut Conn, flavor: Flavor) -> Result<(), Failure> {
    conn.query_drop(format!("SET SESSION optimizer_switch = '{}'", switches(flavor)))
}
