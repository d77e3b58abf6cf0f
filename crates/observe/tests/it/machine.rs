//! The samplers of this machine: real work must be visible in them.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use mindful_conformance::{not_run, own_process};
use mindful_core::contract::description::HostView;
use mindful_core::contract::fact::Fact;
use mindful_core::contract::metric::{Counter, Metric, MetricKind, SampledSource, Sampler};
use mindful_core::plan::HostFacts;
use mindful_core::result::Finding;
use mindful_observe::{environment, host_checks, host_samplers};

const BLOCK: usize = 8192;
const BLOCKS: usize = 1024;
const BYTES: f64 = (BLOCK * BLOCKS) as f64;

/// All metrics of all sources as `source/metric`.
type Readings = BTreeMap<String, Option<f64>>;

/// The samplers of a host, without the trace of requests, which not every machine has.
struct Seen {
    samplers: Vec<Box<dyn Sampler>>,
    findings: Vec<Finding>,
}

impl Seen {
    fn of(host: &HostView) -> Self {
        let (samplers, findings) = host_samplers(host, false, &[]);
        Self { samplers, findings }
    }

    fn read(&mut self) -> Readings {
        let mut readings = Readings::new();
        for sampler in &mut self.samplers {
            let values = sampler.read().expect("a source of this machine can be read");
            assert_eq!(values.len(), sampler.metrics().len(), "{}", sampler.name());
            for (metric, value) in sampler.metrics().iter().zip(values) {
                readings.insert(format!("{}/{}", sampler.name(), metric.name), value);
            }
        }
        readings
    }

    fn during(&mut self, work: impl FnOnce()) -> Growth {
        let before = self.read();
        work();
        Growth { before, after: self.read() }
    }

    /// Whether the device below the build's files is seen, which it may not be in a container; it prints why not.
    fn has_device(&self) -> bool {
        let unseen = self.findings.iter().find(|finding| finding.evidence.starts_with("device: "));
        if let Some(unseen) = unseen {
            not_run(&format!("the build folder lies on no device that is seen: {}", unseen.evidence));
        } else {
            assert!(self.findings.is_empty(), "{:?}", self.findings);
        }
        unseen.is_none()
    }
}

struct Growth {
    before: Readings,
    after: Readings,
}

impl Growth {
    fn of(&self, source: &str, metric: impl Display) -> f64 {
        let name = format!("{source}/{metric}");
        self.after[&name].expect("known after") - self.before[&name].expect("known before")
    }
}

fn view(data: &Path, pid: Option<u32>) -> HostView {
    HostView {
        local: true,
        server_pid: pid,
        data_paths: vec![data.to_owned()],
        in_process: pid.is_none(),
        ..HostView::default()
    }
}

/// A folder on a real device, next to the build's own files: the folder for temporary files may be memory.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("the build folder can be written")
}

fn written(folder: &Path) -> std::path::PathBuf {
    let path = folder.join("blocks");
    let mut file = File::create(&path).expect("a file can be made");
    for block in 0..BLOCKS {
        let filler: Vec<u8> = (0..BLOCK).map(|byte| (byte * 31 + block * 7 + 1) as u8).collect();
        file.write_all(&filler).expect("a block can be written");
    }
    file.sync_all().expect("it can be synced");
    path
}

/// A shell that waits for lines and runs them, as the server of a test.
struct Server(Child);

impl Server {
    fn start() -> Self {
        Self(Command::new("sh").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("there is a shell"))
    }

    fn view(&self, data: &Path) -> HostView {
        view(data, Some(self.0.id()))
    }

    fn begin(&mut self, line: &str) {
        let stdin = self.0.stdin.as_mut().expect("stdin is a pipe");
        writeln!(stdin, "{line}; echo done").expect("the shell listens");
    }

    /// Runs a command and waits until it is done.
    fn run(&mut self, line: &str) {
        self.begin(line);
        let mut answer = String::new();
        let stdout = self.0.stdout.as_mut().expect("stdout is a pipe");
        BufReader::new(stdout).read_line(&mut answer).expect("the shell answers");
        assert_eq!(answer, "done\n");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // After a failed test it may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn direct_reads_show_at_the_device_and_in_the_process() {
    // Reads of other tests would count as those of this process.
    if !own_process() {
        return;
    }
    let folder = folder();
    let path = written(folder.path());
    let mut seen = Seen::of(&view(&path, None));
    if !seen.has_device() {
        return;
    }
    let direct = i32::try_from(rustix::fs::OFlags::DIRECT.bits()).unwrap();
    let file = OpenOptions::new().read(true).custom_flags(direct).open(&path).unwrap();
    let mut aligned = vec![0u8; BLOCK * 2];
    let begin = aligned.as_ptr().align_offset(BLOCK);
    let grown = seen.during(|| {
        for block in 0..BLOCKS {
            file.read_exact_at(&mut aligned[begin..begin + BLOCK], (block * BLOCK) as u64).unwrap();
        }
    });
    let process = grown.of("processes", Counter::ProcessReadBytes);
    let device = grown.of("diskstats", Counter::DeviceReadBytes);
    let requests = grown.of("diskstats", Counter::DeviceReads);
    assert!((BYTES..BYTES * 1.1).contains(&process), "{process} of {BYTES}");
    assert!(device >= BYTES, "{device} of {BYTES}");
    assert!(requests >= BLOCKS as f64, "one request a block: {requests}");
    assert!(grown.of("vmstat", "pgpgin") * 1024.0 >= BYTES, "the second witness saw it too");
}

#[test]
fn blocks_read_from_the_page_cache_show_as_read_calls_only() {
    let folder = folder();
    let path = written(folder.path());
    std::fs::read(&path).unwrap();
    let mut server = Server::start();
    let grown = Seen::of(&server.view(&path)).during(|| server.run(&format!("cat '{}' > /dev/null", path.display())));
    assert!(grown.of("processes", "rchar") >= BYTES);
    assert!(grown.of("processes", Counter::ProcessReadBytes) < BYTES * 0.1);
}

#[test]
fn synced_writes_of_an_ended_child_show_in_its_parent() {
    let folder = folder();
    let path = folder.path().join("new");
    let mut server = Server::start();
    let mut seen = Seen::of(&server.view(&path));
    if !seen.has_device() {
        return;
    }
    let write = format!("dd if=/dev/zero of='{}' bs=64k count=128 conv=fdatasync 2>/dev/null", path.display());
    let grown = seen.during(|| server.run(&write));
    let process = grown.of("processes", Counter::ProcessWriteBytes);
    assert!((BYTES..BYTES * 1.1).contains(&process), "{process} of {BYTES}");
    assert!(grown.of("diskstats", Counter::DeviceWriteBytes) >= BYTES);
    assert!(grown.of("diskstats", Counter::DeviceQueueTimeUs) > 0.0);
}

#[test]
fn cpu_of_a_child_shows_as_the_servers_and_not_as_ours() {
    // Work of other tests in this process would count as ours.
    if !own_process() {
        return;
    }
    let mut server = Server::start();
    let mut seen = Seen::of(&server.view(Path::new("/")));
    let grown = seen.during(|| server.run("(i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done)"));
    let user = grown.of("processes", Counter::ServerCpuUserUs);
    let busy = grown.of("stat", Counter::HostCpuBusyUs);
    let total = grown.of("stat", Counter::HostCpuTotalUs);
    let ours = grown.of("client", Counter::ClientCpuUs);
    assert!(user > 0.0 && ours < user, "server {user} us, client {ours} us");
    assert!(busy > user / 2.0 && busy <= total, "busy {busy} us of {total} us");
}

#[test]
fn counters_of_a_tree_only_grow_while_processes_come_and_go() {
    let mut server = Server::start();
    let mut seen = Seen::of(&server.view(Path::new("/")));
    let processes = seen.samplers.iter().find(|sampler| sampler.name() == "processes").unwrap().metrics().iter();
    let counters: Vec<_> = processes.filter(|metric| metric.kind == MetricKind::Counter).cloned().collect();
    server.begin("i=0; while [ $i -lt 400 ]; do cat /proc/self/stat > /dev/null & i=$((i+1)); done; wait");
    for _ in 0..200 {
        let grown = seen.during(|| ());
        for metric in &counters {
            assert!(grown.of("processes", &metric.name) >= 0.0, "{} fell", metric.name);
        }
    }
}

#[test]
fn memory_is_no_device_and_its_reason_is_reported_once() {
    let log_paths = vec!["/dev/shm/log".into()];
    let mut host = HostView { log_paths, ..view(Path::new("/dev/shm/data"), None) };
    host.data_paths.push("/dev/shm/more".into());
    let seen = Seen::of(&host);
    assert!(seen.samplers.iter().all(|sampler| sampler.name() != "diskstats"));
    let unseen: Vec<_> = seen.findings.iter().filter(|finding| finding.evidence.starts_with("device: ")).collect();
    assert_eq!(unseen.len(), 1);
    assert!(unseen[0].evidence.contains("is memory, not storage"), "{}", unseen[0].evidence);
}

#[test]
fn of_a_remote_server_only_our_own_cpu_is_seen_and_that_is_said() {
    let Seen { samplers, findings } = Seen::of(&HostView::default());
    // A host without interfaces of its own has no network.
    let of_client: Vec<_> = samplers.iter().map(|sampler| sampler.name()).filter(|name| *name != "network").collect();
    assert_eq!(of_client, ["client", "client-settled"]);
    assert_eq!(findings[0].code, "not-seen");
    assert!(findings[0].text.contains("Its CPU, its processes and its device are unknown"), "{}", findings[0].text);
}

/// A target's own source, which is not read.
struct Reported(SampledSource);

impl Sampler for Reported {
    fn source(&self) -> &SampledSource {
        &self.0
    }

    fn read(&mut self) -> mindful_core::Result<Vec<Option<f64>>> {
        Ok(vec![None])
    }
}

#[test]
fn figures_of_the_target_itself_are_not_called_unseen() {
    let source = |counter| -> [Box<dyn Sampler>; 1] {
        [Box::new(Reported(SampledSource::new("v$reported", [Metric::counter(counter, "us", "")])))]
    };
    let (_, findings) = host_samplers(&HostView::default(), true, &source(Counter::HostCpuBusyUs.name()));
    let text = &findings[0].text;
    assert!(
        text.contains("Its processes and its device are unknown") && text.contains("reported by v$reported"),
        "{text}"
    );
    let known = HostView { in_process: false, ..view(Path::new("/"), None) };
    for (of_target, cpu) in [
        (source(Counter::ServerCpuUs.name()), "Their CPU is reported by v$reported"),
        (source(Counter::Commits.name()), "so are their CPU and their share of the device"),
    ] {
        let (_, findings) = host_samplers(&known, false, &of_target);
        let processes = findings.iter().find(|finding| finding.evidence.starts_with("processes: ")).unwrap();
        assert!(processes.text.contains(cpu), "{}", processes.text);
    }
}

#[test]
fn a_server_that_is_gone_is_an_error_and_not_a_zero() {
    let server = Server::start();
    let mut samplers = Seen::of(&server.view(Path::new("/"))).samplers;
    drop(server);
    let processes = samplers.iter_mut().find(|sampler| sampler.name() == "processes").unwrap();
    assert!(processes.read().is_err());
}

#[test]
fn the_facts_of_this_host_are_found_and_not_empty() {
    let folder = folder();
    let facts = environment(&view(folder.path(), None), HostFacts::Local);
    for name in
        ["kernel.release", "cpu.model", "cpu.count", "memory.bytes", "storage.filesystem", "storage.mount_options"]
    {
        assert!(facts.contains_key(name), "{name} is missing of {facts:#?}");
    }
    assert!(facts.contains_key("storage.device") != facts.contains_key("storage.device_not_seen"));
    assert!(facts.values().all(|value| !value.is_empty()), "{facts:#?}");
}

#[test]
fn facts_of_the_client_of_a_remote_server_are_named_so() {
    let facts = environment(&HostView::default(), HostFacts::Local);
    let own = |name: &String| name.starts_with("client.") || name == Fact::BinaryHash.name();
    assert!(!facts.is_empty() && facts.keys().all(own), "{facts:#?}");
}

#[test]
fn the_doctor_warns_of_data_in_memory_with_evidence() {
    let findings = host_checks(&view(Path::new("/dev/shm"), None));
    assert!(findings.iter().any(|finding| finding.code == "data-in-memory"));
    assert!(findings.iter().all(|finding| !finding.evidence.is_empty() && !finding.text.is_empty()), "{findings:#?}");
}

#[test]
fn a_host_that_others_keep_busy_is_reported_by_the_doctor() {
    let mut server = Server::start();
    server.begin("exec sh -c 'while :; do :; done'");
    let cpus = std::thread::available_parallelism().unwrap().get();
    let findings = host_checks(&HostView::default());
    // On more than ten CPUs one of them is less than a tenth of the host.
    assert!(cpus >= 10 || findings.iter().any(|finding| finding.code == "busy-host"), "{findings:?}");
}

/// A control group, of the mounted version, with a fiftieth of a CPU, less than any process gets on a busy host;
/// removed at the end.
struct Throttled(std::path::PathBuf);

impl Throttled {
    fn make() -> std::io::Result<Self> {
        let v1 = Path::new("/sys/fs/cgroup/cpu");
        let base = if v1.exists() { v1 } else { Path::new("/sys/fs/cgroup") };
        let group = base.join(format!("mindful-observe-{}", std::process::id()));
        std::fs::create_dir(&group)?;
        let group = Self(group);
        let set = |file: &str, text: &str| std::fs::write(group.0.join(file), text);
        if v1.exists() {
            set("cpu.cfs_period_us", "100000")?;
            set("cpu.cfs_quota_us", "2000")?;
        } else {
            set("cpu.max", "2000 100000")?;
        }
        Ok(group)
    }

    fn add(&self, pid: u32) {
        std::fs::write(self.0.join("cgroup.procs"), pid.to_string()).expect("a process can be moved");
    }
}

impl Drop for Throttled {
    fn drop(&mut self) {
        // After a failed test it may stay until the host restarts.
        let _ = std::fs::remove_dir(&self.0);
    }
}

#[test]
fn a_server_limited_by_its_control_group_is_seen_by_doctor() {
    let group = match Throttled::make() {
        Ok(group) => group,
        Err(error) => return not_run(&format!("it needs root and a CPU controller that can be written: {error}")),
    };
    let mut server = Server::start();
    group.add(server.0.id());
    let host = server.view(Path::new("/"));
    let grown = Seen::of(&host).during(|| server.run("i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done"));
    let findings = host_checks(&host);
    let facts = environment(&host, HostFacts::Local);
    drop(server);
    assert!(grown.of("cgroup", Counter::ThrottledPeriods) > 0.0);
    assert!(grown.of("cgroup", Counter::ThrottledUs) > 0.0);
    assert!(
        findings.iter().any(|finding| finding.code == "host-setting" && finding.evidence.starts_with("0.02 of")),
        "{findings:?}"
    );
    assert_eq!(facts["cgroup.cpus"], "0.02");
}
