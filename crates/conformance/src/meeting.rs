//! What each place where ranks meet must hold.

use std::time::Duration;

use mindful_core::ranks::meeting::{Meeting, Row};

const LEASE: Duration = Duration::from_mins(10);
const OVER: Duration = Duration::from_millis(1);

fn row(rank: u32, token: &str, body: &str) -> Row {
    Row { rank, token: token.to_owned(), body: body.to_owned() }
}

/// A place belongs to whoever took it until its lease is over; rows and chunks come back as they were left; jobs do not see
/// each other; what is cleared is gone.
pub fn rows_and_chunks_are_kept_apart(meeting: &dyn Meeting, pause: &dyn Fn(Duration)) {
    let (first, second) = (row(0, "a", "one\nof 'two' {}"), row(1, "b", "x"));
    assert_eq!(meeting.join("j", &first, LEASE).expect("it answers"), None);
    assert_eq!(meeting.join("j", &second, LEASE).expect("it answers"), None);
    assert_eq!(meeting.join("k", &row(0, "other", "y"), LEASE).expect("it answers"), None, "another job");
    assert_eq!(meeting.join("j", &row(1, "c", "z"), LEASE).expect("it answers"), Some(second.clone()), "taken");
    assert_eq!(meeting.join("j", &second, LEASE).expect("it answers"), None, "one's own place is taken again");
    let seen = meeting.look("j").expect("it answers");
    assert_eq!(
        seen.iter().map(|seen| (&seen.row, seen.expired)).collect::<Vec<_>>(),
        [(&first, false), (&second, false)]
    );

    assert!(!meeting.post("j", &row(1, "c", "z"), LEASE).expect("it answers"), "not its place");
    assert!(!meeting.post("j", &row(7, "c", "z"), LEASE).expect("it answers"), "nobody's place");
    assert!(meeting.post("j", &row(1, "b", "said"), OVER).expect("it answers"));
    pause(Duration::from_millis(60));
    let seen = meeting.look_at("j", 1).expect("it answers").expect("it is there");
    assert!(seen.expired && seen.row.body == "said", "{seen:?}");
    assert_eq!(meeting.join("j", &row(1, "c", "z"), LEASE).expect("it answers"), None, "its lease was over");
    assert!(!meeting.post("j", &second, LEASE).expect("it answers"), "its place was taken");
    assert_eq!(meeting.look_at("j", 2).expect("it answers"), None);

    let bytes: Vec<u8> = (0..100_000_u32).map(|n| (n % 251) as u8).collect();
    assert_eq!(meeting.take("j", 1, 0).expect("it answers"), None);
    meeting.send("j", 1, 0, b"before").expect("it answers");
    meeting.send("j", 1, 0, &bytes).expect("it answers");
    meeting.send("j", 1, 1, &[]).expect("it answers");
    assert_eq!(meeting.take("j", 1, 0).expect("it answers").expect("it is there"), bytes);
    assert_eq!(meeting.take("j", 1, 1).expect("it answers"), Some(Vec::new()));

    meeting.clear("j", Some(1)).expect("it answers");
    assert_eq!((meeting.look("j").expect("it answers").len(), meeting.take("j", 1, 0).expect("it answers")), (1, None));
    meeting.clear("j", None).expect("it answers");
    assert!(meeting.look("j").expect("it answers").is_empty());
    assert_eq!(meeting.look("k").expect("it answers").len(), 1, "of another job nothing goes");
    meeting.clear("k", None).expect("it answers");
    let (before, after) = (meeting.now_us().expect("it answers"), meeting.now_us().expect("it answers"));
    assert!(after >= before, "{before} {after}");
}
