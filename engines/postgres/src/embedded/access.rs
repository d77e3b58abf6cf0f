//! Who may connect: the user of mindful, by the word of the kernel, and nobody else.

use std::fs::Permissions;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use mindful_instance::account::Account;
use mindful_instance::files::own_file;

use super::cluster::USER;
use super::folder::Folder;

/// The files that the server reads for it. They stand in the folder that only mindful writes, not in the data directory.
#[derive(Debug, Clone)]
pub struct Access {
    /// In the format of pg_hba.conf.
    pub rules: PathBuf,
    /// In the format of pg_ident.conf.
    pub users: PathBuf,
}

impl Access {
    /// Writes both anew.
    pub fn write(folder: &Folder) -> io::Result<Self> {
        let access = Self { rules: folder.path().join("access.conf"), users: folder.path().join("users.conf") };
        let me = Account::mine().name.replace('"', "\"\"");
        let texts = [
            (&access.rules, format!("local all {USER} peer map=mindful\n")),
            (&access.users, format!("mindful \"{me}\" {USER}\n")),
        ];
        for (path, text) in texts {
            let mut file = own_file(path)?;
            file.set_len(0)?;
            file.write_all(text.as_bytes())?;
            // The folder is closed; within it the server's user has to read them.
            file.set_permissions(Permissions::from_mode(0o644))?;
        }
        Ok(access)
    }
}
