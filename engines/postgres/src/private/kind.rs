//! Static facts about PostgreSQL.

use mindful_instance::program::ServerKind;
use rustix::process::Signal;

use super::access;

pub(super) static KIND: ServerKind = ServerKind {
    name: "PostgreSQL",
    data: "pgdata",
    first_file: "PG_VERSION",
    plain_files: &["PG_VERSION", "postmaster.pid", "postgresql.conf", "postgresql.auto.conf", "global/pg_control"],
    own_files: &[access::RULES, access::USERS],
    socket: ".s.PGSQL.5432",
    pid_files: &["postmaster.pid"],
    beside_socket: Some(".s.PGSQL.5432.lock"),
    processes: &["postgres"],
    // Fast, which ends sessions; then immediate.
    stop: [Signal::INT, Signal::QUIT],
    crashes: &["PANIC:", "terminating any other active server processes"],
    has_recovered: "database system is ready to accept connections",
    // Without room a statement fails, and a PANIC ends the server.
    waits_for_room: &[],
    fixed: &[
        "listen_addresses",
        "port",
        "unix_socket_directories",
        "unix_socket_permissions",
        "unix_socket_group",
        "data_directory",
        "config_file",
        "hba_file",
        "ident_file",
        "external_pid_file",
        "logging_collector",
        "log_destination",
    ],
    separator: None,
    // As many segments as are kept however little is written (min_wal_size).
    least_log_bytes: 80 << 20,
    setting: "shared_buffers=64MB",
};
