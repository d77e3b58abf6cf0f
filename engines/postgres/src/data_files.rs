//! The files that hold the dataset's blocks, for reading them without the database.

use std::path::PathBuf;

use mindful_core::Result;

use crate::link::Link;
use crate::names::Namespace;
use crate::registry;

/// All segments of all tables, in order; those that cannot be seen from here are left out.
pub fn of(link: &Link, namespace: &Namespace) -> Result<Vec<PathBuf>> {
    let control = link.control()?;
    let rows = link.run("finding the data files", async {
        let tables = registry::tables(&control, namespace).await?;
        Ok(control.query(include_str!("../sql/data_files.sql"), &[&tables]).await?)
    })?;
    let first: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    Ok(first.iter().flat_map(|path| segments(path)).collect())
}

fn segments(first: &str) -> Vec<PathBuf> {
    let numbered = (1..).map(|number| PathBuf::from(format!("{first}.{number}")));
    std::iter::once(PathBuf::from(first)).chain(numbered).take_while(|path| path.exists()).collect()
}
