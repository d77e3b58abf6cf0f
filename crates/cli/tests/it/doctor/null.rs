//! What `mindful doctor` prints last, and its exit code.

use crate::mindful::Mindful;

#[test]
fn the_doctor_counts_what_it_found_and_may_fail_a_script() {
    let mindful = Mindful::new();
    let text = mindful.text(&["doctor", "--target", "null:"]);
    assert!(text.lines().last().unwrap().contains("errors, "), "{text}");
    let unreadable = ["doctor", "--target", "null:", "--fail-on", "nothing"];
    assert_eq!(mindful.run(&unreadable).status.code(), Some(2));
    let raw = format!("raw:{}", mindful.path("on-tmpfs").display());
    let quiet = mindful.run(&["doctor", "--target", &raw, "--fail-on", "error"]);
    assert_eq!(quiet.status.code(), Some(0), "{quiet:?}");
}
