//! Properties of every rendezvous.

use std::time::Duration;

use mindful_core::ranks::rendezvous::{RankRow, Rendezvous};

const LEASE: Duration = Duration::from_mins(1);
const OVER: Duration = Duration::from_millis(1);

fn row(rank: u32, token: &str, body: &str) -> RankRow {
    RankRow { rank, token: token.to_owned(), body: body.to_owned() }
}

/// A place belongs to its owner until the lease ends. Rows and chunks are read back as they were written. Jobs are
/// isolated. Cleared rows are gone.
pub fn rows_and_chunks_are_kept_apart(meeting: &dyn Rendezvous, pause: &dyn Fn(Duration)) {
    let (first, second) = (row(0, "a", "one\nof 'two' {}"), row(1, "b", "x"));
    assert_eq!(meeting.claim_rank("j", &first, LEASE).unwrap(), None);
    assert_eq!(meeting.claim_rank("j", &second, LEASE).unwrap(), None);
    assert_eq!(meeting.claim_rank("k", &row(0, "other", "y"), LEASE).unwrap(), None, "another job");
    assert_eq!(meeting.claim_rank("j", &row(1, "c", "z"), LEASE).unwrap(), Some(second.clone()), "taken");
    assert_eq!(meeting.claim_rank("j", &second, LEASE).unwrap(), None, "one's own place is taken again");
    let seen = meeting.read_rows("j").unwrap();
    assert_eq!(
        seen.iter().map(|seen| (&seen.row, seen.expired)).collect::<Vec<_>>(),
        [(&first, false), (&second, false)]
    );

    assert!(!meeting.update_row("j", &row(1, "c", "z"), LEASE).unwrap(), "not its place");
    assert!(!meeting.update_row("j", &row(7, "c", "z"), LEASE).unwrap(), "a place without an owner");
    assert!(meeting.update_row("j", &row(1, "b", "said"), OVER).unwrap());
    pause(Duration::from_millis(60));
    let seen = meeting.read_row("j", 1).unwrap().unwrap();
    assert!(seen.expired && seen.row.body == "said", "{seen:?}");
    assert_eq!(meeting.claim_rank("j", &row(1, "c", "z"), LEASE).unwrap(), None, "its lease was over");
    assert!(!meeting.update_row("j", &second, LEASE).unwrap(), "its place was taken");
    assert_eq!(meeting.read_row("j", 2).unwrap(), None);

    // A row until the year 5138 is refused: ranks would wait for it forever.
    let absurd = row(1, "c", "until 5138");
    assert!(meeting.update_row("j", &absurd, Duration::from_hours(27_275_736)).unwrap());
    assert!(meeting.read_row("j", 1).unwrap().unwrap().expired);
    assert_eq!(meeting.claim_rank("j", &row(1, "d", "z"), LEASE).unwrap(), None, "its lease holds nothing");

    let bytes: Vec<u8> = (0..100_000_u32).map(|n| (n % 251) as u8).collect();
    assert_eq!(meeting.read_chunk("j", 1, 0).unwrap(), None);
    meeting.write_chunk("j", 1, 0, b"before").unwrap();
    meeting.write_chunk("j", 1, 0, &bytes).unwrap();
    meeting.write_chunk("j", 1, 1, &[]).unwrap();
    assert_eq!(meeting.read_chunk("j", 1, 0).unwrap().unwrap(), bytes);
    assert_eq!(meeting.read_chunk("j", 1, 1).unwrap(), Some(Vec::new()));

    meeting.remove_rows("j", Some(1)).unwrap();
    assert_eq!((meeting.read_rows("j").unwrap().len(), meeting.read_chunk("j", 1, 0).unwrap()), (1, None));
    meeting.remove_rows("j", None).unwrap();
    assert!(meeting.read_rows("j").unwrap().is_empty());
    assert_eq!(meeting.read_rows("k").unwrap().len(), 1, "of another job nothing goes");
    meeting.remove_rows("k", None).unwrap();
    let (before, after) = (meeting.now_us().unwrap(), meeting.now_us().unwrap());
    assert!(after >= before, "{before} {after}");
}
