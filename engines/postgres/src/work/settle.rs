//! Work between steps, so that a step does not pay for an earlier one.

use mindful_core::Result;
use mindful_core::contract::event::{Events, emit_note};

use crate::connect::link::Link;
use crate::error::lacks_right;

/// Writes everything back that a load left in memory.
pub(crate) fn after_load(link: &Link, events: &dyn Events) -> Result<()> {
    let control = link.control()?;
    link.run_on_tables("settling the load", async {
        match control.batch_execute("CHECKPOINT").await {
            Err(error) if lacks_right(&error) => {
                emit_note(events, "no privilege for CHECKPOINT: the server writes the loaded blocks when it chooses");
                Ok(())
            }
            other => Ok(other?),
        }
    })
}

/// Before a step that only reads `tables`, given by their oids: cleans up the row versions left by updates. Otherwise
/// the reads would do that and write.
pub(crate) fn before_reads(link: &Link, tables: &[u32], events: &dyn Events) -> Result<()> {
    let control = link.control()?;
    link.run_on_tables("settling after updates", async {
        let rows = control.query(include_str!("../../sql/left_by_updates.sql"), &[&tables]).await?;
        if rows.is_empty() {
            return Ok(());
        }
        emit_note(events, "settling: cleaning up after updates, so that reads do not write");
        for row in rows {
            let name: String = row.get("name");
            control.batch_execute(&format!("VACUUM (FREEZE, INDEX_CLEANUP OFF, TRUNCATE OFF) {name}")).await?;
        }
        match control.batch_execute("CHECKPOINT").await {
            Err(error) if lacks_right(&error) => Ok(()),
            other => Ok(other?),
        }
    })
}
