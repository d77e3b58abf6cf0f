//! Detects a pooler that does not keep sessions by its behaviour, not by a name.

use std::time::Duration;

use mindful_core::{Error, Result};

use super::link::Link;
use super::pooled;

/// Rounds of queries on both connections in turn. A pooler that assigns the last used process is detected at once. One
/// that draws among many could escape several rounds only by chance.
const ROUNDS: usize = 4;

/// Refuses a pooler that does not keep sessions, and one that has room for one only.
pub(crate) fn refuse_pooler(link: &Link) -> Result<()> {
    let first = link.control()?;
    let place = link.server().place(0);
    // Slightly less than a connection may take, because the error of that does not mention a pooler.
    let within = link.server().patience().mul_f32(0.9);
    let second = link.wait(async { tokio::time::timeout(within, link.server().connect(0)).await });
    let second = match second {
        Ok(Ok(second)) => second,
        // For any reason, a second session will be refused.
        Ok(Err(_)) => return Ok(()),
        Err(_) => return Err(no_room(within).at(place)),
    };
    if first.backend().is_some() && first.backend() == second.backend() {
        return Err(pooled().at(place));
    }
    link.run("looking for a pooler", async {
        for _ in 0..ROUNDS {
            first.refuse_if_moved().await?;
            second.refuse_if_moved().await?;
        }
        Ok(())
    })
}

fn no_room(within: Duration) -> Error {
    Error::target(
        format!("a second session gets no answer in {} s while a first one is open", within.as_secs()),
        "give the pooler a pool larger than --sessions and three more (PgBouncer: default_pool_size), or name the \
         server's own port",
    )
}
