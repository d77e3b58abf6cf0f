//! The thread of this host that serves a connection.

use mindful_host::{Kernel, process};

use crate::connect::Conn;
use crate::flavor::Flavor;

/// The thread that serves only `connection`; `None` if it is not visible, not on this host, or shared.
pub(crate) fn of_connection(connection: &mut Conn, flavor: Flavor) -> Option<u32> {
    let asked = match flavor {
        Flavor::MariaDb => include_str!("../../sql/thread_mariadb.sql"),
        Flavor::MySql => include_str!("../../sql/thread_mysql.sql"),
    };
    let answer = connection.query_first::<Option<u32>>(asked).ok()??;
    answer.filter(|thread| server_of(&Kernel::default(), *thread).is_some())
}

/// The server process of a thread of this host; `None` if another program's thread has its number here.
pub(crate) fn server_of(kernel: &Kernel, thread: u32) -> Option<u32> {
    let process = process::of_thread(kernel, thread)?;
    let name = process::name(kernel, process)?;
    (name.starts_with("mariadbd") || name.starts_with("mysqld")).then_some(process)
}
