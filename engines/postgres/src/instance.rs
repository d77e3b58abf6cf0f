//! The folder of the private server as something to remove: goes only where nothing in it is of others.

use mindful_core::Result;
use mindful_core::engine::OwnedObject;

use crate::connect::Server;
use crate::embedded::{DATABASE, Embedded, USER};
use crate::link::Link;
use crate::names::Namespace;

/// The databases that initdb makes and that others may have used.
const COMMON: [&str; 2] = ["postgres", "template1"];

/// The folder, with the reason why it stays if anything but `namespace` is in the server or the folder.
pub fn of(private: &Embedded, link: &Link, namespace: &Namespace) -> Result<OwnedObject> {
    let mut foreign = private.foreign_files()?;
    foreign.extend(objects(link, namespace)?);
    for database in COMMON {
        let server = Server::from_socket(&private.socket_dir(), private.port(), USER, database);
        foreign.extend(objects(&Link::new(server)?, namespace)?);
    }
    foreign.sort();
    foreign.dedup();
    Ok(OwnedObject {
        name: private.folder().display().to_string(),
        bytes: Some(private.bytes()),
        kept_because: foreign.first().map(|first| match foreign.len() {
            1 => format!("it also holds {first}, not mindful's"),
            more => format!("it also holds {first} and {} more, not mindful's", more - 1),
        }),
    })
}

fn objects(link: &Link, namespace: &Namespace) -> Result<Vec<String>> {
    let control = link.control()?;
    link.run("looking for what is not mindful's", async {
        let sql = include_str!("../sql/foreign_in_cluster.sql");
        let rows = control.query(sql, &[&namespace.name, &DATABASE]).await?;
        Ok(rows.iter().map(|row| row.get("name")).collect())
    })
}
