//! Log lines of a server, for a message.

use mindful_instance::log::{first_with, last_with};

/// The first error, which causes the later ones, else the last line; without its time, thread and subsystem.
pub(super) fn complaint(said: &str) -> Option<String> {
    let line = first_with(said, &["[ERROR] "]).or_else(|| last_with(said, &[""]))?;
    let mut rest = line.as_str();
    while let Some((_, behind)) = rest.strip_prefix('[').and_then(|inner| inner.split_once("] ")) {
        rest = behind;
    }
    Some(rest.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_error_is_shown_without_internal_details() {
        let mysql = "2026-11-22T11:00:00.1Z 0 [System] [MY-010116] [Server] starting\n\
                     2026-11-22T11:00:00.2Z 0 [ERROR] [MY-000067] [Server] unknown variable 'a=b'.\n\
                     2026-11-22T11:00:00.2Z 0 [ERROR] [MY-010119] [Server] Aborting\n";
        assert_eq!(complaint(mysql).as_deref(), Some("unknown variable 'a=b'."));
        let maria = "2026-11-22 11:52:45 0 [Note] InnoDB: x\n2026-11-22 11:52:45 0 [ERROR] InnoDB: no space\n";
        assert_eq!(complaint(maria).as_deref(), Some("InnoDB: no space"));
        let loader = "bin/mysqld: error while loading shared libraries: libaio.so.1: cannot open\n";
        assert_eq!(complaint(loader).as_deref(), Some(loader.trim()));
        assert_eq!(complaint(""), None);
    }
}
