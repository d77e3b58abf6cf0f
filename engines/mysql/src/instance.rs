//! The folder of the private server as something to remove: goes only where nothing in it is of others.

use mindful_core::Result;
use mindful_core::engine::OwnedObject;

use crate::link::Link;
use crate::names::Namespace;
use crate::registry;
use crate::server::Private;

/// The folder, with the reason why it stays if anything but `namespace` is in the server or the folder.
pub fn of(private: &Private, link: &Link, namespace: &Namespace) -> Result<OwnedObject> {
    let mut foreign = private.foreign_files()?;
    foreign.extend(registry::foreign_databases(link, namespace)?);
    Ok(OwnedObject {
        name: private.folder().display().to_string(),
        bytes: Some(private.bytes()),
        kept_because: foreign.first().map(|first| match foreign.len() {
            1 => format!("it also holds {first}, not mindful's"),
            more => format!("it also holds {first} and {} more, not mindful's", more - 1),
        }),
    })
}
