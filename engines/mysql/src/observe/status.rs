//! The server's status variables, `SHOW GLOBAL STATUS`: readable by everybody.

use std::collections::BTreeMap;

use crate::connect::Conn;
use crate::error::Failure;

/// The numeric values of those `names` that the server has.
pub(crate) fn read(conn: &mut Conn, names: &[&str]) -> Result<BTreeMap<String, f64>, Failure> {
    let listed: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
    let sql = format!("SHOW GLOBAL STATUS WHERE Variable_name IN ({})", listed.join(", "));
    let rows: Vec<(String, String)> = conn.query(sql)?;
    Ok(rows.into_iter().filter_map(|(name, value)| Some((name, value.parse().ok()?))).collect())
}

/// Transactions with row versions that purge still has to remove; `None` if the role may not see the number.
pub(crate) fn history(conn: &mut Conn) -> Result<Option<f64>, Failure> {
    let name = "Innodb_history_list_length";
    if let Some(length) = read(conn, &[name])?.remove(name) {
        return Ok(Some(length));
    }
    let sql = "SELECT CAST(count AS DOUBLE) FROM information_schema.innodb_metrics WHERE name = 'trx_rseg_history_len'";
    match conn.query_first(sql) {
        Err(failure) if failure.lacks_right() => Ok(None),
        length => Ok(length?),
    }
}
