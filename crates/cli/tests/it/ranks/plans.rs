//! Which rank of how many a process is, and which sessions are its own.

use std::process::Output;

use mindful_conformance::write_files;

use crate::mindful::{Mindful, assert_has, json, refused, text};

const MPI: [(&str, &str); 2] = [("OMPI_COMM_WORLD_RANK", "1"), ("OMPI_COMM_WORLD_SIZE", "4")];

fn planned(mindful: &Mindful, flags: &str, variables: &[(&str, &str)]) -> Output {
    mindful.command(("plan --target null:", flags)).envs(variables.iter().copied()).output().unwrap()
}

#[test]
fn a_plan_shows_the_rank_and_its_sessions() {
    let mindful = Mindful::new();
    let slurm = [("SLURM_PROCID", "2"), ("SLURM_NTASKS", "4"), ("SLURM_STEP_ID", "0"), ("SLURM_JOB_ID", "17")];
    let plan = text(&planned(&mindful, "--sessions 32", &slurm));
    let line = "rank: 2 of 4, counted from 0 (SLURM_PROCID, SLURM_NTASKS), sessions 17 to 24 of 32";
    assert!(plan.lines().any(|printed| printed == line), "{plan}");
    let job = planned(&mindful, "--sessions 32 --ranks 3 --format json", &[("JOB_COMPLETION_INDEX", "0")]);
    let rank = &json(&job)["rank"];
    assert_eq!((rank["rank"].as_u64(), rank["sessions"].as_u64()), (Some(0), Some(10)), "{rank}");
    assert_has(
        text(&planned(&mindful, "--scale 1000 --schemas 1 --sessions 2 --rank 1 --ranks 2", &[])),
        "session 2 of 2…1 schema, 1,000 blocks in total",
    );
    let alone = text(&planned(&mindful, "", &[]));
    assert!(!alone.contains("rank:"), "{alone}");
}

#[test]
fn a_rank_that_contradicts_or_has_nothing_to_do_is_refused() {
    let mindful = Mindful::new();
    for (flags, variables, parts) in [
        ("--rank 3", &MPI[..], "--rank is 3, but the launcher sets 1…omit --rank"),
        ("--rank 3 --ranks 64", &[], "32 sessions for 64 ranks…pass --sessions 64 or more"),
        ("", &[("JOB_COMPLETION_INDEX", "1")], "their number is not given…--ranks N"),
    ] {
        assert_has(refused(&planned(&mindful, &format!("--sessions 32 {flags}"), variables)), parts);
    }
}

#[test]
fn verbs_of_one_process_refuse_to_run_as_a_rank() {
    let mindful = Mindful::new();
    let null = "target = \"null:\"\n";
    write_files(mindful.folder(), &[("a.toml", null), ("b.toml", null)]);
    for verb in [
        "sweep --target null: --sessions 1,2",
        "run --repeat 2 --target null:",
        "compare --run a.toml b.toml",
        "contrast --target null:",
        "raw blocks --scale 8MiB",
    ] {
        let refusal = refused(&mindful.command(verb).envs(MPI).output().unwrap());
        assert_has(&refusal, "rank 1 of 4 (OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE)…pass --ranks 1");
        assert_has(refusal, "only `mindful run` can be shared by ranks");
        let pod = refused(&mindful.command(verb).env("JOB_COMPLETION_INDEX", "0").output().unwrap());
        assert_has(pod, "--ranks 1 for a run of its own");
    }
    assert!(!mindful.path("blocks").exists(), "nothing was made");
}
