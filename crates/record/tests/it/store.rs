//! The store as its users see it.

use std::fs;
use std::path::Path;
use std::str::FromStr;

use jiff::SignedDuration;
use mindful_core::ErrorKind;
use mindful_core::contract::event::{Event, Events};
use mindful_core::contract::slice::SliceReport;
use mindful_core::record::run::{Run, RunHead, StepRecord};
use mindful_core::result::Summary;
use mindful_record::{Store, read_run};

use crate::sample;

fn store() -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path().join("store"));
    (dir, store)
}

fn write_as(store: &Store, id: &str, tag: Option<&str>) {
    let mut head = sample::head(tag);
    id.clone_into(&mut head.id);
    store.create(head).unwrap().close().unwrap();
}

#[test]
fn runs_of_one_second_keep_their_order() {
    let (_dir, store) = store();
    let made: Vec<String> = (0..40).map(|_| sample::written(&store, None)).collect();
    let mut newest_first = store.ids().unwrap();
    newest_first.reverse();
    assert_eq!(newest_first, made);
    // Date and time in UTC, and three letters for the part of the second.
    let began = jiff::Timestamp::from_str(&store.head(&made[0]).unwrap().started_at).unwrap();
    let dates = [0, 1].map(|late| (began + SignedDuration::from_secs(late)).strftime("%Y%m%d-%H%M%S-").to_string());
    assert!(dates.iter().any(|date| made[0].len() == date.len() + 3 && made[0].starts_with(date)), "{made:?}");
    assert_eq!(store.resolve("latest").unwrap(), made[made.len() - 1]);
}

fn summary(run: &Run) -> Summary {
    let figures = serde_json::json!({
        "format": run.head.format,
        "id": run.head.id,
        "started_at": run.head.started_at,
        "finished": true,
        "engine": "postgres",
        "target": run.head.target,
        "hardware": mindful_core::result::Hardware::default(),
        "target_settings": {},
        "seed": 1,
        "validity": "valid",
        "findings": [],
        "steps": [],
    });
    serde_json::from_value(figures).unwrap()
}

fn log(store: &Store, id: &str) -> std::path::PathBuf {
    store.run_dir(id).join("run.jsonl")
}

fn reports(step: &StepRecord) -> usize {
    step.unmerged.len() + step.merged.slices.iter().map(|merged| merged.reports).sum::<usize>()
}

fn append(file: &Path, text: &str) {
    let mut whole = fs::read_to_string(file).unwrap();
    whole.push_str(text);
    fs::write(file, whole).unwrap();
}

#[test]
fn a_written_run_is_read_back() {
    let (_dir, store) = store();
    let id = sample::written(&store, Some("first"));
    let run = store.read(&id).unwrap();
    assert!(run.finished && !run.interrupted);
    assert_eq!(run.head.plan.tag.as_deref(), Some("first"));
    assert_eq!((run.steps.len(), reports(&run.steps[0]), run.steps[0].series[0].readings.len()), (1, 4, 3));
    assert_eq!(run.steps[0].series[0].readings[1].values, [None]);
    let mut step = StepRecord::new(run.steps[0].head.clone());
    for event in sample::events() {
        step.add(event).unwrap();
    }
    assert_eq!(run.steps, [step]);
}

#[test]
fn no_file_of_a_run_holds_the_password_of_its_url() {
    let (_dir, store, id, _) = sample::stored();
    store.write_summary(&summary(&store.read(&id).unwrap())).unwrap();
    let files: Vec<_> = fs::read_dir(store.run_dir(&id)).unwrap().map(|file| file.unwrap().path()).collect();
    assert_eq!(files.len(), 2);
    for file in files {
        assert!(!fs::read_to_string(&file).unwrap().contains(sample::SECRET), "{}", file.display());
    }
}

#[test]
fn no_run_takes_the_place_of_another() {
    let (_dir, store) = store();
    write_as(&store, "nightly", None);
    let before = fs::read(log(&store, "nightly")).unwrap();
    let mut head = sample::head(None);
    "nightly".clone_into(&mut head.id);
    let refused = store.create(head).err().unwrap().to_string();
    assert!(refused.contains("nightly"), "{refused}");
    assert_eq!(fs::read(log(&store, "nightly")).unwrap(), before);
    for bad in ["..", "a/b", "a\\b", "/etc", "a\0", "-rf", "a b", "latest"] {
        let refused = store.create(RunHead { id: bad.to_owned(), ..sample::head(None) }).err().unwrap().to_string();
        assert!(refused.contains("cannot name a run"), "{refused}");
    }
}

#[test]
fn a_corrupt_line_is_named_by_file_and_number() {
    let (_dir, store, id, log) = sample::stored();
    let text = fs::read_to_string(&log).unwrap();
    let mut lines: Vec<_> = text.lines().collect();
    lines[4] = "{\"event\":\"loa";
    fs::write(&log, lines.join("\n") + "\n").unwrap();
    let error = store.read(&id).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Run);
    assert!(error.to_string().contains("run.jsonl line 5 is corrupt"), "{error}");
}

#[test]
fn a_newer_format_is_refused_with_the_version_that_reads_it() {
    let (_dir, store, id, log) = sample::stored();
    fs::write(&log, "{\"event\":\"head\",\"format\":2,\"mindful_version\":\"9.1.0\",\"moved\":{}}\n").unwrap();
    let error = store.read(&id).unwrap_err().to_string();
    assert!(error.contains("run format 2") && error.contains("mindful 9.1.0 or newer"), "{error}");
    assert_eq!(store.list().unwrap()[0].fault.as_deref(), Some(error.as_str()));
}

#[test]
fn an_unknown_event_of_this_format_is_passed_over_and_reported() {
    let (_dir, store, id, log) = sample::stored();
    let plain = store.read(&id).unwrap();
    append(&log, "{\"event\":\"solar_flare\",\"kp\":9}\n");
    let mut run = store.read(&id).unwrap();
    assert!(run.notes.pop().unwrap().starts_with("skipped 1 line of a kind"));
    assert_eq!(run, plain);
}

#[test]
fn every_event_of_this_version_is_known_to_the_reader() {
    let (_dir, store, id, log) = sample::stored();
    for event in sample::events() {
        let name = serde_json::to_value(&event).unwrap()["event"].clone();
        append(&log, &format!("{{\"event\":{name},\"nonsense\":1}}\n"));
        // A known name with another shape is corrupt, never skipped (a step's end has no mandatory field).
        let text = fs::read_to_string(&log).unwrap();
        let read = store.read(&id);
        assert!(read.is_err() || !read.unwrap().notes.iter().any(|note| note.contains("skipped")), "{name}");
        let kept: Vec<_> = text.lines().collect();
        fs::write(&log, kept[..kept.len() - 1].join("\n") + "\n").unwrap();
    }
}

#[test]
fn a_run_is_named_by_id_prefix_tag_or_latest() {
    let (_dir, store) = store();
    assert!(store.resolve("latest").unwrap_err().to_string().contains("no runs"));
    for (id, tag) in
        [("20260101-000000-abc", Some("base")), ("20260101-000001-abc", None), ("20260202-000000-xyz", None)]
    {
        write_as(&store, id, tag);
    }
    let tagged = sample::written(&store, Some("base"));
    assert_eq!(store.resolve("latest").unwrap(), tagged);
    assert_eq!(store.resolve("20260202").unwrap(), "20260202-000000-xyz");
    assert_eq!(store.resolve("20260101-000000-abc").unwrap(), "20260101-000000-abc");
    assert_eq!(store.resolve("base").unwrap(), tagged, "the newest run with a tag");
    let ambiguous = store.resolve("20260101").unwrap_err();
    assert_eq!(ambiguous.kind, ErrorKind::Plan);
    assert!(ambiguous.to_string().contains("20260101-000001-abc, 20260101-000000-abc"), "{ambiguous}");
    let unknown = store.resolve("../../etc").unwrap_err().to_string();
    assert!(unknown.contains("\"../../etc\"") && unknown.contains(&tagged), "{unknown}");
}

#[test]
fn a_corrupt_folder_never_hides_the_others() {
    let (_dir, store) = store();
    let good = sample::written(&store, None);
    store.write_summary(&summary(&store.read(&good).unwrap())).unwrap();
    fs::create_dir(store.run_dir("20200101-000000-bad")).unwrap();
    fs::create_dir(store.run_dir("20200102-000000-bad")).unwrap();
    fs::write(log(&store, "20200102-000000-bad"), [0xff, 0xfe, b'\n']).unwrap();
    let list = store.list().unwrap();
    assert_eq!(list.iter().map(|l| l.fault.is_some()).collect::<Vec<_>>(), [false, true, true]);
    assert_eq!(list[0].summary.as_ref().map(|s| s.id.as_str()), Some(good.as_str()));
}

#[test]
fn removing_a_run_removes_nothing_else() {
    let (_dir, store) = store();
    let (one, two) = (sample::written(&store, None), sample::written(&store, None));
    store.remove(&one).unwrap();
    assert_eq!(store.ids().unwrap(), [two]);
    assert!(store.remove("..").is_err() && store.remove(&one).is_err());
}

#[test]
fn an_imported_run_is_the_run_it_was() {
    let (_dir, from, id, _) = sample::stored();
    let (_other, to) = store();
    from.write_summary(&summary(&from.read(&id).unwrap())).unwrap();
    assert_eq!(to.import(&from.run_dir(&id), &|_| Vec::new()).unwrap(), id);
    let mut taken_in = to.read(&id).unwrap();
    assert!(taken_in.notes.pop().unwrap().contains("made elsewhere"));
    assert_eq!(taken_in, from.read(&id).unwrap());
    assert!(to.list().unwrap()[0].summary.is_none(), "figures are derived, not copied");
    assert!(to.import(&from.run_dir(&id), &|_| Vec::new()).unwrap_err().to_string().contains("already"));
}

#[test]
fn a_foreign_run_cannot_name_itself_out_of_the_store() {
    let (dir, from, id, log) = sample::stored();
    let text = fs::read_to_string(&log).unwrap().replacen(&id, "../../escaped", 1);
    fs::write(&log, text).unwrap();
    let to = Store::open(dir.path().join("to"));
    assert!(to.import(&from.run_dir(&id), &|_| Vec::new()).is_err());
    assert!(!dir.path().join("escaped").exists() && to.ids().unwrap().is_empty());
}

#[test]
fn a_continued_run_is_finished_by_its_last_line() {
    let (_dir, store) = store();
    let writer = store.create(sample::head(None)).unwrap();
    let events = sample::events();
    for event in events.iter().take(events.len() - 4) {
        writer.emit(event.clone());
    }
    writer.close().unwrap();
    append(&log(&store, &writer.head.id), r#"{"event":"slice","sess"#);
    let (again, killed) = store.go_on(&writer.head.id).unwrap();
    assert_eq!((killed.finished, killed.steps[0].ended, reports(&killed.steps[0])), (false, false, 4));
    for event in events.iter().skip_while(|event| !matches!(event, Event::Step(_))) {
        again.emit(event.clone());
    }
    again.close().unwrap();
    let run = store.read(&writer.head.id).unwrap();
    assert!(run.finished);
    assert_eq!((run.steps.len(), reports(&run.steps[0]), run.steps[0].ended), (1, 4, true));
}

/// `format-1/run.jsonl` was written when format 1 began, and is never rewritten.
#[test]
fn a_run_stored_when_its_format_began_is_still_read() {
    let run = read_run(Path::new("tests/format-1/run.jsonl")).unwrap();
    assert!(run.finished && run.notes.len() == 1, "{:?}", run.notes);
    assert_eq!((run.head.format, run.head.plan.tag.as_deref()), (1, Some("example")));
    assert_eq!((run.steps.len(), reports(&run.steps[0]), run.steps[0].boundaries_us.len()), (1, 4, 3));
    assert_eq!(run.steps[0].reports().map(SliceReport::total_ops).sum::<u64>(), 4 * 199);
    assert_eq!(run.dataset.unwrap().blocks_per_schema, 1_000);
}

#[test]
fn root_writes_to_no_store_of_another_user() {
    type Make<'a> = &'a dyn Fn(&Path);
    if !rustix::process::geteuid().is_root() {
        return eprintln!("not run: only root can make folders of others");
    }
    let (dir, own) = store();
    let id = sample::written(&own, None);
    let theirs = |path: &Path| std::os::unix::fs::lchown(path, Some(65_533), None).unwrap();
    let makes: [(&str, Make); 3] = [
        ("a folder of theirs", &|store| {
            fs::create_dir_all(store.join("runs")).unwrap();
            theirs(store);
        }),
        ("a link of theirs in the place of the runs", &|store| {
            fs::create_dir_all(store).unwrap();
            std::os::unix::fs::symlink(own.root.join("runs"), store.join("runs")).unwrap();
            theirs(&store.join("runs"));
        }),
        ("a link of theirs in the place of the store", &|store| {
            std::os::unix::fs::symlink(&own.root, store).unwrap();
            theirs(store);
        }),
    ];
    for (number, (what, make)) in makes.iter().enumerate() {
        let path = dir.path().join(number.to_string());
        make(&path);
        let store = Store::open(path);
        let before = fs::read_dir(own.root.join("runs")).unwrap().count();
        let refusals = [
            store.probe().err(),
            store.create(sample::head(None)).err(),
            store.import(&own.run_dir(&id), &|_| Vec::new()).err(),
            store.remove(&id).err(),
            store.go_on(&id).err(),
        ];
        for refusal in refusals {
            assert_eq!(refusal.map(|error| error.kind), Some(ErrorKind::Plan), "{what}");
        }
        assert_eq!(fs::read_dir(own.root.join("runs")).unwrap().count(), before, "{what}");
    }
}

#[test]
fn an_imported_run_is_not_latest_and_takes_no_tag() {
    let (_dir, from) = store();
    let (_other, to) = store();
    let imported = sample::written(&from, Some("mine"));
    let own = sample::written(&to, Some("mine"));
    // From the future, beyond the minute that clocks may differ.
    let minute = jiff::Timestamp::now() + SignedDuration::from_mins(1);
    let newer = format!("{}-222", minute.strftime("%Y%m%d-%H%M%S"));
    let text = fs::read_to_string(log(&from, &imported)).unwrap().replace(&imported, &newer);
    fs::write(log(&from, &imported), text).unwrap();
    assert_eq!(to.import(&from.run_dir(&imported), &|_| Vec::new()).unwrap(), newer);
    assert_eq!(to.ids().unwrap(), [newer.clone(), own.clone()]);
    assert_eq!((to.resolve("latest").unwrap(), to.resolve("mine").unwrap()), (own.clone(), own.clone()));
    assert_eq!(to.tagged("mine").unwrap(), std::slice::from_ref(&own));
    to.remove(&own).unwrap();
    assert_eq!((to.resolve("latest").unwrap(), to.resolve("mine").unwrap()), (newer.clone(), newer));
}

#[test]
fn no_name_and_no_date_that_no_run_can_have_is_imported() {
    let (_dir, from, id, log) = sample::stored();
    let (_other, to) = store();
    let text = fs::read_to_string(&log).unwrap();
    let names = [
        "zz",
        "latest",
        "LATEST",
        "99991231-235959-yyy",
        "20249999-999999-222",
        "20241121-013542",
        "20241121-013542-k7",
        "20241121-013542-k7z",
        "20241121-0135420-k7f",
        "20241121-013542-k7f.x",
    ];
    for name in names {
        fs::write(&log, text.replacen(&id, name, 1)).unwrap();
        assert!(to.import(&from.run_dir(&id), &|_| Vec::new()).is_err(), "{name}");
    }
    fs::write(&log, &text).unwrap();
    let began = from.head(&id).unwrap().started_at;
    fs::write(&log, text.replacen(&began, "9999-01-01T00:00:00Z", 1)).unwrap();
    assert!(to.import(&from.run_dir(&id), &|_| Vec::new()).is_err());
    assert!(to.ids().unwrap().is_empty());
}
