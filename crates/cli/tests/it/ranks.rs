//! Several processes as ranks of one run: which one each is, and which part of the work is its own.

use std::process::Output;

use crate::mindful::{Mindful, json, refused};

const PLAN: [&str; 5] = ["plan", "--target", "null:", "--sessions", "32"];

fn planned(mindful: &Mindful, flags: &[&str], variables: &[(&str, &str)]) -> Output {
    mindful.command(&[&PLAN[..], flags].concat()).envs(variables.iter().copied()).output().unwrap()
}

#[test]
fn a_plan_tells_which_rank_it_is_and_which_sessions_are_its_own() {
    let mindful = Mindful::new();
    let slurm = [("SLURM_PROCID", "2"), ("SLURM_NTASKS", "4"), ("SLURM_STEP_ID", "0"), ("SLURM_JOB_ID", "17")];
    let text = String::from_utf8(planned(&mindful, &[], &slurm).stdout).unwrap();
    let line = "rank: 2 of 4, counted from 0 (SLURM_PROCID, SLURM_NTASKS), sessions 17 to 24 of 32";
    assert!(text.lines().any(|told| told == line), "{text}");
    let job = planned(&mindful, &["--ranks", "3", "--format", "json"], &[("JOB_COMPLETION_INDEX", "0")]);
    let rank = &json(&job)["rank"];
    assert_eq!((rank["rank"].as_u64(), rank["sessions"].as_u64()), (Some(0), Some(10)), "{rank}");
    let alone = String::from_utf8(planned(&mindful, &[], &[]).stdout).unwrap();
    assert!(!alone.contains("rank:"), "{alone}");
}

#[test]
fn a_rank_that_contradicts_or_has_nothing_to_do_is_refused() {
    let mindful = Mindful::new();
    let mpi = [("OMPI_COMM_WORLD_RANK", "1"), ("OMPI_COMM_WORLD_SIZE", "4")];
    let told = refused(&planned(&mindful, &["--rank", "3"], &mpi));
    assert!(told.contains("--rank says 3, and the launcher 1") && told.contains("leave --rank away"), "{told}");
    let told = refused(&planned(&mindful, &["--rank", "3", "--ranks", "64"], &[]));
    assert!(told.contains("32 sessions for 64 ranks") && told.contains("give --sessions 64 or more"), "{told}");
    let told = refused(&planned(&mindful, &[], &[("JOB_COMPLETION_INDEX", "1")]));
    assert!(told.contains("nobody says of how many") && told.contains("--ranks N"), "{told}");
}
