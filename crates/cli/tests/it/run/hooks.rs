//! Hooks around a run and a sweep.

use std::time::{Duration, Instant};

use crate::mindful::{HOOKS, Mindful, assert_hooks_ran, id, null};
use crate::run::outcomes::judged;

#[test]
fn hooks_are_waited_for_and_their_output_is_stored() {
    let mindful = Mindful::new();
    let hook = "echo $MINDFUL_PHASE of $MINDFUL_RUN_ID";
    let (code, ran) = judged(&mindful, format!("--hook-before '{hook}' --hook-after 'sleep 0.3; exit 0'"));
    assert_eq!(code, Some(0), "{ran:#}");
    let folder = mindful.run_folder(&ran);
    assert_eq!(std::fs::read_to_string(folder.join("hook-before.out")).unwrap(), format!("before of {}\n", id(&ran)));
    assert!(folder.join("hook-after.out").exists());
}

#[test]
fn a_failed_hook_fails_the_run_or_warns_as_the_plan_says() {
    let mindful = Mindful::new();
    let (code, ran) = judged(&mindful, "--hook-before 'exit 3'");
    assert_eq!((code, &ran["validity"]), (Some(1), &"invalid".into()), "{ran:#}");
    let (code, ran) = judged(&mindful, "--hook-before 'exit 3' --hook-failure warn");
    assert_eq!((code, &ran["validity"]), (Some(0), &"suspect".into()), "{ran:#}");
    let began = Instant::now();
    let (code, _) = judged(&mindful, "--hook-before 'sleep 60' --hook-timeout 500ms");
    assert_eq!(code, Some(1));
    assert!(began.elapsed() < Duration::from_secs(30));
}

#[test]
fn hooks_are_called_around_a_sweep_too() {
    let mindful = Mindful::new();
    let ladder = "--sessions 1,2 --warmup 200ms";
    mindful.succeed(null("sweep", (&ladder, HOOKS)));
    assert_hooks_ran(&mindful.runs().read_dir().unwrap().next().unwrap().unwrap().path());
    let lines = mindful.text("export --as jsonl");
    assert_eq!(lines.matches("{\"event\":\"hook\",\"moment\":\"").count(), 2, "before and after all steps: {lines}");
    let picture = mindful.text("export --as svg --chart timeline");
    assert_eq!(picture.matches(">H</text>").count(), 2, "{picture}");
    assert!(!mindful.run(null("sweep", (&ladder, "--hook-before 'exit 3'"))).status.success());
}
