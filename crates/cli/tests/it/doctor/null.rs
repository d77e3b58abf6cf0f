//! What `mindful doctor` prints last, and its exit code.

use crate::mindful::{Mindful, printed};

#[test]
fn the_doctor_counts_its_findings_and_may_fail_a_script() {
    let mindful = Mindful::new();
    let text = mindful.text("doctor --target null:");
    assert!(text.lines().last().unwrap().starts_with("0 errors, "), "{text}");
    // The null engine simulates its reads, which is for information.
    let on_info = mindful.run("doctor --target null: --fail-on info");
    let counted = printed(&on_info);
    let nothing = counted.contains("0 errors, 0 warnings, 0 for information");
    assert_eq!(on_info.status.code(), Some(i32::from(!nothing)), "{counted}");
    mindful.refusal("doctor --target null: --fail-on nothing");
    mindful.succeed("doctor --target raw:on-tmpfs --scale 1MiB --fail-on error");
}
