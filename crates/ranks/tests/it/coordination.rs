//! Properties of each coordination: a run of one process, and one that ranks share, pass the same tests.

use mindful_core::record::run::{Run, StepRecord};

use crate::job::{Job, Process};

/// One process alone, and ranks that share its work.
const PROCESSES: [u32; 3] = [1, 2, 5];

fn own_steps(processes: &[Process], job: &Job) -> Vec<StepRecord> {
    let own =
        |number: usize| if processes.len() == 1 { processes[0].ended.run.clone() } else { job.part(number as u32) };
    (0..processes.len()).map(own).map(|run: Run| run.steps[0].clone()).collect()
}

#[test]
fn sessions_are_shared_out_and_begin_at_one_instant() {
    for of in PROCESSES {
        let job = Job::new();
        let processes: Vec<Process> = job.processes(of, &[]).into_iter().map(Result::unwrap).collect();
        let steps = own_steps(&processes, &job);
        let sessions: Vec<u32> =
            steps.iter().flat_map(|step| &step.head.placements).map(|placement| placement.session).collect();
        assert_eq!(sessions, (0..32).collect::<Vec<_>>(), "{of}: each session once");
        assert!(steps.iter().all(|step| step.boundaries_us == steps[0].boundaries_us), "{of}: at one instant");
        let leads = |process: &&Process| !process.ended.run.shapes.is_empty();
        assert_eq!(processes.iter().filter(leads).count(), 1, "{of}: one examined the target");
    }
}

#[test]
fn one_process_shows_the_result_and_calls_the_hooks() {
    for of in PROCESSES {
        let (job, folder) = (Job::new(), tempfile::tempdir().unwrap());
        let log = folder.path().join("hooks");
        let hook = format!("echo $MINDFUL_PHASE >> {}", log.display());
        let given = [("hook_before", &*hook), ("hook_after", &*hook), ("hook_end", &*hook)];
        let processes: Vec<Process> = job.processes(of, &given).into_iter().map(Result::unwrap).collect();
        let shown: Vec<_> = processes.iter().filter_map(|process| process.shown.clone()).collect();
        assert_eq!(shown.len(), 1, "{of}");
        assert_eq!(shown[0].steps[0].sessions, Some(32), "{of}: of all sessions");
        assert!(processes.iter().all(|process| process.ended.valid), "{of}: all know that it is valid");
        assert_eq!(std::fs::read_to_string(&log).unwrap(), "before\nafter\nend\n", "{of}: each hook once");
    }
}
