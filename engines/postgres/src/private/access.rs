//! Access rules: only the user of mindful may connect, as identified by the kernel.

use std::fs::Permissions;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use mindful_instance::account::Account;
use mindful_instance::files::own_file;

pub const USER: &str = "mindful";

/// The users that may connect, in the format of pg_hba.conf.
pub(super) const RULES: &str = "access.conf";

/// The system user of that name, in the format of pg_ident.conf.
pub(super) const USERS: &str = "users.conf";

/// Writes both files again. They are in `folder`, which only mindful writes, not in the data directory.
pub(super) fn write(folder: &Path) -> io::Result<()> {
    let me = Account::mine().name.replace('"', "\"\"");
    let texts =
        [(RULES, format!("local all {USER} peer map=mindful\n")), (USERS, format!("mindful \"{me}\" {USER}\n"))];
    for (name, text) in texts {
        let mut file = own_file(&folder.join(name))?;
        file.set_len(0)?;
        file.write_all(text.as_bytes())?;
        // The folder is closed; within it the server's user has to read them.
        file.set_permissions(Permissions::from_mode(0o644))?;
    }
    Ok(())
}
