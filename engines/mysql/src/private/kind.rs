//! Static facts about the servers.

use mindful_instance::program::ServerKind;
use rustix::process::Signal;

use super::settings::SMALLEST_LOG_MIB;
use crate::flavor::Flavor;

pub(super) const SOCKET: &str = "mysql.sock";

/// Written last into a new data folder: which version made it.
pub(super) const MADE_BY: &str = "made-by";

pub(super) const PID_FILE: &str = "server.pid";

/// Settings on which mindful's own connection or the safety of the folder depends, and those that load or run foreign
/// code.
const FIXED: &[&str] = &[
    "basedir",
    "bind_address",
    "character_sets_dir",
    "chroot",
    "core_file",
    "datadir",
    "defaults_extra_file",
    "defaults_file",
    "early_plugin_load",
    "init_connect",
    "init_file",
    "init_replica",
    "init_slave",
    "innodb_data_home_dir",
    "innodb_directories",
    "innodb_log_group_home_dir",
    "innodb_temp_tablespaces_dir",
    "innodb_undo_directory",
    "lc_messages_dir",
    "log_error",
    "mysqlx",
    "pid_file",
    "plugin_dir",
    "plugin_load",
    "plugin_load_add",
    "port",
    "secure_file_priv",
    "skip_grant_tables",
    "skip_networking",
    "socket",
    "tmpdir",
    "user",
];

/// Which of these the server reads, or mindful before it runs.
const PLAIN_FILES: &[&str] = &[MADE_BY, "ibdata1", "auto.cnf", "ib_logfile0", "aria_log_control", PID_FILE];

/// The binary log, temporary tables and tables of MyISAM and Aria wait for room instead of failing: a minute, and again.
const WAITS_FOR_ROOM: &[&str] = &["Waiting for someone to free space", "waiting for someone to free some space"];

static MARIADB: ServerKind = OF_MARIADB;

const OF_MARIADB: ServerKind = ServerKind {
    name: "MariaDB",
    data: "data",
    first_file: MADE_BY,
    plain_files: PLAIN_FILES,
    own_files: &[],
    socket: SOCKET,
    pid_files: &[PID_FILE],
    beside_socket: None,
    processes: &["mariadbd", "mysqld"],
    // InnoDB loses nothing by KILL, and to it QUIT is the same as TERM.
    stop: [Signal::TERM, Signal::KILL],
    // A crash ends the server.
    crashes: &[],
    has_recovered: "ready for connections",
    waits_for_room: WAITS_FOR_ROOM,
    fixed: FIXED,
    // Of tmpdir.
    separator: Some(':'),
    least_log_bytes: SMALLEST_LOG_MIB << 20,
    setting: "innodb_buffer_pool_size=64M",
};

static MYSQL: ServerKind =
    ServerKind { name: "MySQL", beside_socket: Some("mysql.sock.lock"), processes: &["mysqld"], ..OF_MARIADB };

pub(super) fn of_flavor(flavor: Flavor) -> &'static ServerKind {
    match flavor {
        Flavor::MariaDb => &MARIADB,
        Flavor::MySql => &MYSQL,
    }
}
