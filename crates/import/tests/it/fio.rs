//! Results of fio.

use mindful_core::contract::metric::Counter;

use crate::measured::{Seen, grew, read, runs, runs_of, shown, slices, steps_in};

/// A side of a job of fio 3: I/Os of 8 KiB in 10 s, with their mean in us and, if wanted, each latency.
fn side(ios: u64, mean_us: f64, bins: &str) -> String {
    format!(
        "{{\"total_ios\": {ios}, \"io_bytes\": {}, \"io_kbytes\": 1, \"bw_bytes\": 1, \"bw\": 1, \"iops\": 1.5, \"runtime\": 10000, \
         \"clat_ns\": {{\"min\": 1, \"max\": 900000, \"mean\": {}, \"N\": {ios}, \"percentile\": {{\"99.000000\": 880000, \"0.00\": 0}}{bins}}}}}",
        ios * 8192,
        mean_us * 1e3
    )
}

fn job(name: &str, options: &str, sides: &str) -> String {
    format!("{{\"jobname\": \"{name}\", \"groupid\": 0, \"error\": 0, \"job options\": {{{options}}}, {sides}}}")
}

fn output(global: &str, jobs: &[String]) -> String {
    format!(
        "{{\"fio version\": \"fio-3.36\", \"timestamp\": 1700000000, \"global options\": {{{global}}},\n\"jobs\": [{}]}}\n",
        jobs.join(", ")
    )
}

fn reads(ios: u64, mean_us: f64) -> String {
    format!("\"read\": {}, \"write\": {}", side(ios, mean_us, ""), side(0, 0.0, ""))
}

fn one_step(text: &str) -> Seen {
    let mut steps = steps_in(&[("r.json", text)]);
    assert_eq!(steps.len(), 1);
    steps.remove(0)
}

#[test]
fn percentiles_are_those_of_all_latencies_or_facts() {
    // The default engine keeps one I/O in flight, for any iodepth.
    let options = "\"rw\": \"randread\", \"numjobs\": \"16\", \"iodepth\": \"16\"";
    let text = output("\"bs\": \"8k\"", &[job("r", options, &reads(1_000, 150.0))]);
    let step = read("r.json", text.clone()).unwrap().remove(0);
    assert_eq!((step.sessions, step.block_bytes), (Some(16), Some(8192)));
    assert_eq!(grew(&step.events, Counter::SingleReadTimeUs), Some(150_000.0));
    assert_eq!(step.facts["fio read p99 us"], "880");
    assert!(!step.facts.keys().any(|fact| fact.contains(" p0 ") || fact.contains("write p")), "{:?}", step.facts);
    let bins = side(1_000, 150.0, ", \"bins\": {\"100000\": 900, \"800000\": 100}");
    let with = read("r.json", output("", &[job("r", options, &format!("\"read\": {bins}"))])).unwrap().remove(0);
    assert_eq!(slices(&with.events).iter().map(|(_, op)| op.ops).sum::<u64>(), 1_000);
    let cut = read("r.json", &text[..text.len() - 20]).unwrap_err().to_string();
    assert!(cut.contains("begins as fio's JSON"), "{cut}");
}

#[test]
fn processes_of_one_job_are_one_load() {
    let means = [100.0, 50.0, 40.0, 30.0];
    let jobs: Vec<_> = means.iter().map(|us| job("r", "\"name\": \"r\"", &reads(400, *us))).collect();
    let text = output("\"numjobs\": \"4\", \"ioengine\": \"psync\"", &jobs);
    assert_eq!(
        shown(&[("r.json", &text)]),
        ["4 sessions: 160 reads, 0 writes, 55 us"],
        "each process has the same weight"
    );
    let [run] = &runs_of(&[("r.json", &output("\"numjobs\": \"4\"", &jobs))])[..] else { panic!("one run") };
    assert!(!format!("{:?}", run.events).contains("p99 us"), "percentiles of processes cannot be put together");
    let unequal = [job("a", "\"name\": \"a\"", &reads(300, 10.0)), job("b", "\"name\": \"b\"", &reads(100, 50.0))];
    let text = output("\"bs\": \"8k\"", &unequal);
    assert_eq!(
        shown(&[("r.json", &text)]),
        ["2 sessions: 40 reads, 0 writes, 20 us"],
        "names do not distinguish loads"
    );
}

#[test]
fn histograms_of_processes_are_put_together() {
    let bins = |text: &str| format!("\"read\": {}", side(3, 100.0, &format!(", \"bins\": {{{text}}}")));
    let jobs = [job("r", "", &bins("\"100\": 2, \"300\": 1")), job("r", "", &bins("\"100\": 1, \"500\": 2"))];
    let latencies = |jobs: &[String]| {
        let slices = slices(&one_step(&output("", jobs)).events).into_iter();
        slices.map(|(_, op)| op.latency.buckets.iter().collect::<Vec<_>>()).collect::<Vec<_>>()
    };
    assert_eq!(latencies(&jobs), [[(100, 3), (300, 1), (500, 2)]]);
    let [one, _] = jobs;
    assert!(latencies(&[one, job("r", "", &bins(""))]).is_empty(), "a process without bins leaves it unknown");
}

#[test]
fn jobs_of_another_group_or_with_other_options_are_own_steps() {
    let jobs = [
        job("r", "\"rw\": \"randread\"", &reads(100, 10.0)),
        job(
            "w",
            "\"rw\": \"randwrite\"",
            &format!("\"read\": {}, \"write\": {}", side(0, 0.0, ""), side(50, 20.0, "")),
        ),
        job("later", "\"rw\": \"randread\"", &reads(100, 10.0)).replace("\"groupid\": 0", "\"groupid\": 1"),
    ];
    let steps = steps_in(&[("mix.json", &output("", &jobs))]);
    let jobs: Vec<_> = steps.iter().map(|step| step.values["job"].as_str()).collect();
    assert_eq!(jobs, ["later", "r", "w"]);
    assert_eq!(steps[2].per_s(Counter::WriteRequests), Some(5.0));
}

#[test]
fn an_iodepth_is_a_load() {
    let file = |depth: u32| {
        let options = format!("\"rw\": \"randread\", \"ioengine\": \"libaio\", \"iodepth\": \"{depth}\"");
        output(&options, &[job("qd", "\"name\": \"qd\"", &reads(1_000 * u64::from(depth), 100.0))])
    };
    let steps = ["1 sessions: 100 reads, 0 writes, 100 us", "16 sessions: 1600 reads, 0 writes, 100 us"];
    assert_eq!(shown(&[("a.json", &file(16)), ("b.json", &file(1))]), steps);
}

#[test]
fn unlike_jobs_in_one_entry_leave_the_load_unknown() {
    let job = |processes_ms: u32| {
        let text = job("r", "\"rw\": \"randread\", \"numjobs\": \"2\"", &reads(1_000, 100.0));
        text.replacen("\"error\": 0", &format!("\"error\": 0, \"job_runtime\": {processes_ms}"), 1)
    };
    assert_eq!(one_step(&output("", &[job(20_004)])).sessions, Some(2));
    assert_eq!(one_step(&output("", &[job(50_004)])).sessions, None, "five processes, two of them by the options");
    assert_eq!(one_step(&output("\"ramp_time\": \"40s\"", &[job(100_004)])).sessions, Some(2));
}

#[test]
fn steps_with_another_block_size_are_separate() {
    let file = |bytes: u64| {
        let text = output("\"rw\": \"read\"", &[job("seq", "", &reads(1_000, 100.0))]);
        text.replace(&(1_000 * 8192).to_string(), &(1_000 * bytes).to_string())
    };
    let steps = ["1MiB", "4KiB"].map(|size| format!("1 sessions of {size}: 100 reads, 0 writes, 100 us"));
    assert_eq!(shown(&[("a.json", &file(1 << 20)), ("b.json", &file(4096))]), steps);
}

#[test]
fn the_last_complete_result_of_a_file_counts() {
    let of = |ios: u64| output("", &[job("r", "", &reads(ios, 100.0))]);
    let three = of(100) + "fio: a note between\n" + &of(200) + &of(300);
    assert_eq!(one_step(&three).per_s(Counter::ReadRequests), Some(30.0));
    let findings = |text: &str| format!("{:?}", read("r.json", text).unwrap()[0].findings);
    assert!(findings(&three).contains("2 earlier results"), "{}", findings(&three));
    let last = of(300);
    let cut = of(100) + &of(200) + &last[..last.len() / 2];
    assert_eq!(one_step(&cut).per_s(Counter::ReadRequests), Some(20.0));
    assert!(findings(&cut).contains("has no end and is not used"), "{}", findings(&cut));
    let begin = of(100);
    let torn = begin[..begin.len() / 2].to_owned() + "\n" + &of(200);
    assert_eq!(one_step(&torn).per_s(Counter::ReadRequests), Some(20.0), "a result may be cut before the next");
}

#[test]
fn clients_and_mixed_counts_are_read() {
    let client = |name: &str| {
        format!(
            "{{\"jobname\": \"{name}\", \"groupid\": 0, \"error\": 0, \"mixed\": {{\"io_bytes\": 80000, \"bw\": 8000, \"iops\": 2000.0, \
             \"runtime\": 10000, \"total_ios\": 20000, \"lat\": {{\"min\": 1, \"max\": 2, \"mean\": 500.5}}}}, \"hostname\": \"a\"}}"
        )
    };
    let text = |clients: &[String]| {
        format!(
            "{{\"fio version\": \"fio-2.6\", \"global options\": {{\"unified_rw_reporting\": \"1\"}}, \"client_stats\": [{}]}}",
            clients.join(",")
        )
    };
    let step = one_step(&text(&[client("a"), client("b"), client("All clients")]));
    assert_eq!(step.text(), "? sessions: 2000 reads, 500.5 us", "the sum counts once; writes are among the reads");
    assert_eq!(step.per_s(Counter::ProcessReadBytes), Some(8_192_000.0));
    let mixed = |rw: &str| output(rw, &[job("m", "", &format!("\"mixed\": {}", side(400, 168.0, "")))]);
    let of_reads = one_step(&mixed("\"rw\": \"randread\"")).text();
    assert_eq!(of_reads, "1 sessions: 40 reads, 0 writes, 168 us");
    assert_eq!(one_step(&mixed("\"rw\": \"randwrite\"")).text(), "1 sessions: 0 reads, 40 writes");
    let found = format!("{:?}", read("m.json", mixed("\"rw\": \"randrw\"")).unwrap()[0].findings);
    assert!(found.contains("reads and writes together"), "{found}");
}

/// fio 2 prints KiB and us, and no options; 2.1 not even the number of I/Os.
fn old(version: &str, read: &str, write: &str) -> String {
    format!(
        "{{\"fio version\": \"fio-{version}\", \"jobs\": [{{\"jobname\": \"t\", \"groupid\": 0, \"error\": 0, \"read\": {read}, \"write\": {write}}}]}}"
    )
}

#[test]
fn old_versions_count_in_kib_and_show_no_options() {
    let none = "{\"io_bytes\": 0, \"bw\": 0, \"iops\": 0, \"runtime\": 0, \"clat\": {\"mean\": 0.0, \"percentile\": {\"0.00\": 0}}}";
    let side = "{\"io_bytes\": 40000, \"bw\": 4000, \"iops\": 1000, \"runtime\": 10000, \"clat\": {\"mean\": 990.25, \"percentile\": {\"50.000000\": 980, \"0.00\": 0}}}";
    let step = one_step(&old("2.1.4", side, none));
    assert_eq!(step.text(), "? sessions: 1000 reads, 0 writes, 990.25 us", "by bytes and a block of 4 KiB");
    assert_eq!(step.per_s(Counter::ProcessReadBytes), Some(4_096_000.0));
    let counted = side.replace("\"bw\"", "\"total_ios\": 10000, \"bw\"");
    let steps = read("w.json", old("2.2.10", none, &counted)).unwrap();
    assert_eq!((steps[0].sessions, steps[0].block_bytes), (None, Some(4096)));
    assert_eq!(grew(&steps[0].events, Counter::WriteRequests), Some(10_000.0));
    assert_eq!(steps[0].facts["fio write mean us"], "990.25");
    assert!(!steps[0].facts.contains_key("fio write p0 us"));
    assert_eq!(runs(steps).len(), 1);
}

#[test]
fn a_result_without_figures_is_refused_with_its_reason() {
    let refused = |text: &str| read("r.json", text).unwrap_err().to_string();
    let nothing = format!("\"read\": {}", side(0, 0.0, ""));
    assert!(refused(&output("", &[job("r", "", &nothing)])).contains("its jobs did no I/O"));
    let failed = job("r", "", &nothing).replace("\"error\": 0", "\"error\": 5");
    assert!(refused(&output("", &[failed])).contains("the job r ended with error 5"));
    assert!(refused(&output("", &[])).contains("its list of jobs is empty"));
    let trimmed = format!("\"trim\": {}", side(9, 1.0, ""));
    assert!(refused(&output("", &[job("r", "", &trimmed)])).contains("only trimmed"));
    let normal = "r: (g=0): rw=randread, bs=4K\nfio-3.36\n\nr: (groupid=0, jobs=1): err= 0: pid=7\n  read: IOPS=";
    assert!(refused(normal).contains("fio's normal output"));
    assert!(refused("3;fio-3.36;r;0;0;1;2;3\n").contains("fio's terse output"));
}

#[test]
fn buckets_of_old_versions_are_no_latencies() {
    // fio 2 numbers the buckets of json+, in us; fio 3 names them by their ns.
    let side = "{\"total_ios\": 1000, \"io_bytes\": 4000, \"bw\": 400, \"iops\": 100.0, \"runtime\": 10000, \"clat\": {\"min\": 90, \
        \"max\": 900, \"mean\": 150.5, \"bins\": {\"FIO_IO_U_PLAT_BITS\": 6, \"140\": 900, \"300\": 100}}}";
    let none = "{\"io_bytes\": 0, \"bw\": 0, \"iops\": 0, \"runtime\": 0}";
    let step = read("r.json", old("2.14", side, none)).unwrap().remove(0);
    assert!(slices(&step.events).is_empty(), "no histogram");
    assert_eq!(grew(&step.events, Counter::SingleReadTimeUs), Some(150_500.0));
    assert!(!format!("{:?}", step.findings).contains("contradict"), "{:?}", step.findings);
}

#[test]
fn a_job_of_several_sizes_has_no_block_size() {
    for option in ["\"bssplit\": \"4k/50:8k/50\"", "\"bsrange\": \"4k-8k\"", "\"bs_unaligned\": \"1\""] {
        let reads = reads(1_000, 100.0).replace("8192000", "6144000");
        let text = output("\"rw\": \"randread\"", &[job("r", option, &reads)]);
        assert_eq!(read("r.json", text).unwrap()[0].block_bytes, None, "{option}");
    }
}

#[test]
fn json_is_found_among_other_outputs_of_fio() {
    let normal = "r: (g=0): rw=randread, bs=(R) 8192B-8192B, ioengine=psync, iodepth=1\nfio-3.36\nStarting 1 process\n\n\
        r: (groupid=0, jobs=1): err= 0: pid=7: Mon Nov 20 10:00:00 2023\n  read: IOPS=100, BW=800KiB/s\n\n\
        Run status group 0 (all jobs):\n   READ: bw=800KiB/s\n";
    let json = output("\"bs\": \"8k\"", &[job("r", "", &reads(1_000, 100.0))]);
    for text in [format!("{json}\n{normal}"), format!("{normal}{json}")] {
        assert_eq!(one_step(&text).text(), "1 sessions: 100 reads, 0 writes, 100 us");
        assert!(!format!("{:?}", read("r.json", text).unwrap()[0].findings).contains("has no end"));
    }
    let terse = format!("2;r;0;0;{}\n", "1;".repeat(60));
    assert!(read("r.txt", terse).unwrap_err().to_string().contains("fio's terse output"));
}

#[test]
fn loads_that_differ_in_iodepth_are_steps() {
    let depth = |depth: &str, ios| {
        let options = format!("\"name\": \"q{depth}\", \"iodepth\": \"{depth}\"");
        job(&format!("q{depth}"), &options, &reads(ios, 100.0))
    };
    let jobs = [depth("4", 400), depth("4", 400), depth("8", 800)];
    let text = output("\"ioengine\": \"io_uring\", \"bs\": \"8k\"", &jobs);
    let step = "8 sessions: 80 reads, 0 writes, 100 us";
    assert_eq!(shown(&[("r.json", &text)]), [step, step], "two processes of 4, and one of 8");
}
