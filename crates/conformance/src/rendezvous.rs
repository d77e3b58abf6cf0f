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
    assert_eq!(meeting.claim_rank("j", &first, LEASE).expect("it answers"), None);
    assert_eq!(meeting.claim_rank("j", &second, LEASE).expect("it answers"), None);
    assert_eq!(meeting.claim_rank("k", &row(0, "other", "y"), LEASE).expect("it answers"), None, "another job");
    assert_eq!(meeting.claim_rank("j", &row(1, "c", "z"), LEASE).expect("it answers"), Some(second.clone()), "taken");
    assert_eq!(meeting.claim_rank("j", &second, LEASE).expect("it answers"), None, "one's own place is taken again");
    let seen = meeting.read_rows("j").expect("it answers");
    assert_eq!(
        seen.iter().map(|seen| (&seen.row, seen.expired)).collect::<Vec<_>>(),
        [(&first, false), (&second, false)]
    );

    assert!(!meeting.update_row("j", &row(1, "c", "z"), LEASE).expect("it answers"), "not its place");
    assert!(!meeting.update_row("j", &row(7, "c", "z"), LEASE).expect("it answers"), "a place without an owner");
    assert!(meeting.update_row("j", &row(1, "b", "said"), OVER).expect("it answers"));
    pause(Duration::from_millis(60));
    let seen = meeting.read_row("j", 1).expect("it answers").expect("it is there");
    assert!(seen.expired && seen.row.body == "said", "{seen:?}");
    assert_eq!(meeting.claim_rank("j", &row(1, "c", "z"), LEASE).expect("it answers"), None, "its lease was over");
    assert!(!meeting.update_row("j", &second, LEASE).expect("it answers"), "its place was taken");
    assert_eq!(meeting.read_row("j", 2).expect("it answers"), None);

    // A row until the year 5138 is refused: ranks would wait for it forever.
    let absurd = row(1, "c", "until 5138");
    assert!(meeting.update_row("j", &absurd, Duration::from_hours(27_275_736)).expect("it answers"));
    assert!(meeting.read_row("j", 1).expect("it answers").expect("it is there").expired);
    assert_eq!(meeting.claim_rank("j", &row(1, "d", "z"), LEASE).expect("it answers"), None, "its lease holds nothing");

    let bytes: Vec<u8> = (0..100_000_u32).map(|n| (n % 251) as u8).collect();
    assert_eq!(meeting.read_chunk("j", 1, 0).expect("it answers"), None);
    meeting.write_chunk("j", 1, 0, b"before").expect("it answers");
    meeting.write_chunk("j", 1, 0, &bytes).expect("it answers");
    meeting.write_chunk("j", 1, 1, &[]).expect("it answers");
    assert_eq!(meeting.read_chunk("j", 1, 0).expect("it answers").expect("it is there"), bytes);
    assert_eq!(meeting.read_chunk("j", 1, 1).expect("it answers"), Some(Vec::new()));

    meeting.remove_rows("j", Some(1)).expect("it answers");
    assert_eq!(
        (meeting.read_rows("j").expect("it answers").len(), meeting.read_chunk("j", 1, 0).expect("it answers")),
        (1, None)
    );
    meeting.remove_rows("j", None).expect("it answers");
    assert!(meeting.read_rows("j").expect("it answers").is_empty());
    assert_eq!(meeting.read_rows("k").expect("it answers").len(), 1, "of another job nothing goes");
    meeting.remove_rows("k", None).expect("it answers");
    let (before, after) = (meeting.now_us().expect("it answers"), meeting.now_us().expect("it answers"));
    assert!(after >= before, "{before} {after}");
}
