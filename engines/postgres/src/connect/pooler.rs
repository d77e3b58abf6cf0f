//! Whether each connection has a server process of its own. With a pooler that lends them by transaction or by
//! statement, settings, prepared statements, locks and counters of a session would not last. Detected by behaviour, not
//! by a name.

use std::time::Duration;

use mindful_core::{Error, Result};

use crate::connect::link::Link;
use crate::connect::pooled;

/// How often both connections ask in turn. A pooler that takes the process used last gives them the same one at once; one
/// that draws among many could be lucky so often only by chance.
const ROUNDS: usize = 4;

/// Refuses a pooler that does not keep sessions, and one that has room for one only.
pub(crate) fn refuse(link: &Link) -> Result<()> {
    let first = link.control()?;
    let place = link.server().place(0);
    // A little less than a connection may take, for the error of that says nothing of a pooler.
    let within = link.server().patience().mul_f32(0.9);
    let second = link.wait(async { tokio::time::timeout(within, link.server().connect(0)).await });
    let second = match second {
        Ok(Ok(second)) => second,
        // Whatever it is, a second session will be refused.
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
