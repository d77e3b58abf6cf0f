//! Runs in lists, the label of an old kit's arithmetic in every report, and deletion.

use crate::mindful::{Mindful, assert_has, ended, kill, null, wait_until};

#[test]
fn an_old_kits_arithmetic_is_labelled_in_every_report() {
    let mindful = Mindful::new();
    let old = "--warmup 500ms --duration 2s --like slob --sessions 2 --tag old";
    let ran = mindful.measured(old);
    assert_eq!(ran["steps"][0]["like"], "slob", "{ran:#}");
    assert_ne!(ran["validity"], "invalid", "{ran:#}");
    assert!(mindful.text(null("sweep", "--sessions 1,2 --like pgio")).contains("pgio 1.0"));
    let again = mindful.measured([old, "er"].concat());
    assert_ne!(again["validity"], "invalid", "{again:#}");
    let reports: [&str; 4] = ["show old", "list", "export old", "compare old older"];
    for report in reports {
        mindful.shows(report, "SLOB 2.5.4");
    }
}

#[test]
fn runs_are_listed_by_kind_and_deleted_after_a_question() {
    let mindful = Mindful::new();
    mindful.measured("--tag one");
    let swept = mindful.run(null("sweep", "--warmup 100ms --sessions 1,2 --tag two"));
    assert!(ended(&swept), "{swept:?}");
    let listed = |args: &str| mindful.text(("list", args));
    let all = listed("");
    assert_has(&all, "  run  …sweep, 3 steps");
    assert!(!listed("--last 1").contains(" one") && listed("--last 1").contains(" two"));
    assert!(listed("--tag one").contains(" one") && !listed("--tag one").contains(" two"));
    assert_eq!(mindful.run("list --last many").status.code(), Some(2));

    let unasked = mindful.run("delete one");
    assert_eq!(unasked.status.code(), Some(2), "{unasked:?}");
    let unknown = mindful.run("delete one three --yes");
    assert_eq!(unknown.status.code(), Some(2), "{unknown:?}");
    assert_eq!(listed(""), all);
    let mut child = mindful.start(null("run", "--duration 5m --tag going-on"));
    wait_until("it is not listed", || listed("").contains("going-on"));
    let written = mindful.run("delete going-on --yes");
    kill(&mut child);
    assert_eq!(written.status.code(), Some(2), "{written:?}");

    mindful.shows("delete one two going-on --yes", "3 deleted");
    assert_eq!(listed(""), "no runs\n");
}
