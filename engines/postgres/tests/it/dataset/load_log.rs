//! A load leaves no error in the server's log.

use crate::support::{NOTHING_WAITS, Server, load, programs, proof};

/// Log messages of a server about clients that left in the middle.
const COMPLAINTS: [&str; 4] = ["could not send", "could not receive", "connection to client lost", "unexpected EOF"];

#[test]
fn a_load_leaves_no_complaint_in_the_servers_log() {
    for bin in programs() {
        let server = Server::start(&bin, &NOTHING_WAITS);
        for schemas in [1, 3] {
            let target = server.target(&[]).unwrap();
            target.describe().unwrap();
            load(&*target, schemas, 15_000).unwrap();
            proof(&*target);
            target.describe().unwrap();
        }
        // The server may be a moment late.
        std::thread::sleep(std::time::Duration::from_millis(500));
        let log = server.log();
        let complaints: Vec<_> =
            log.lines().filter(|line| COMPLAINTS.iter().any(|complaint| line.contains(complaint))).collect();
        assert_eq!(complaints, Vec::<&str>::new());
    }
}
