//! Ranks that Slurm starts: a controller and two simulated nodes, all on this machine.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use mindful_conformance::not_run;

use crate::mindful::quiet::Quiet;
use crate::mindful::{assert_has, wait_until};
use crate::ranks::processes::{Ranks, four_ranks_of, launched, rank_of};

struct Cluster {
    folder: tempfile::TempDir,
    daemons: Vec<Child>,
}

fn ports<const N: usize>() -> [u16; N] {
    let held = [(); N].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    held.map(|listener| listener.local_addr().unwrap().port())
}

impl Cluster {
    fn start() -> Self {
        let mut cluster = Self { folder: tempfile::tempdir().unwrap(), daemons: Vec::new() };
        let at = cluster.folder.path().to_owned();
        for folder in ["state", "spool.n1", "spool.n2"] {
            std::fs::create_dir(at.join(folder)).unwrap();
        }
        // The key with which daemons and srun authenticate.
        std::fs::write(at.join("key"), [7_u8; 64]).unwrap();
        Command::new("chmod").args(["600", "key"]).current_dir(&at).status().unwrap();
        let file = |name: &str| at.join(name).display().to_string();
        let paths = [("--key-file", "key"), ("--socket", "socket"), ("--pid-file", "pid"), ("--seed-file", "seed")];
        let mut munged = Command::new("/usr/sbin/munged");
        munged.args(["--force", "--foreground", "--log-file", &file("munge.log")]);
        munged.args(paths.iter().flat_map(|(flag, name)| [(*flag).to_owned(), file(name)]));
        cluster.spawn(&mut munged);
        wait_until("munged does not come up", || at.join("socket").exists());
        std::fs::write(at.join("slurm.conf"), configuration(&at)).unwrap();
        for daemon in ["/usr/sbin/slurmctld -D", "/usr/sbin/slurmd -D -N n1", "/usr/sbin/slurmd -D -N n2"] {
            let mut command = Command::new("sh");
            cluster.spawn(command.args(["-c", &format!("exec {daemon}")]).env("SLURM_CONF", at.join("slurm.conf")));
        }
        cluster
    }

    fn spawn(&mut self, command: &mut Command) {
        let silent = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        self.daemons.push(silent.spawn().unwrap());
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for daemon in self.daemons.iter_mut().rev() {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

fn configuration(at: &Path) -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let host = host.trim().split('.').next().unwrap().to_owned();
    let [controller, first, second] = ports();
    let at = at.display();
    format!(
        "ClusterName=t\n\
         SlurmctldHost={host}(127.0.0.1)\n\
         SlurmctldPort={controller}\n\
         SlurmUser=root\n\
         AuthType=auth/munge\n\
         AuthInfo=socket={at}/socket\n\
         CryptoType=crypto/munge\n\
         StateSaveLocation={at}/state\n\
         SlurmdSpoolDir={at}/spool.%n\n\
         SlurmctldPidFile={at}/ctld.pid\n\
         SlurmdPidFile={at}/d.%n.pid\n\
         SlurmctldLogFile={at}/ctld.log\n\
         SlurmdLogFile={at}/d.%n.log\n\
         ProctrackType=proctrack/pgid\n\
         TaskPlugin=task/none\n\
         SelectType=select/cons_tres\n\
         SelectTypeParameters=CR_Core\n\
         MpiDefault=none\n\
         ReturnToService=2\n\
         NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={first} CPUs=2\n\
         NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={second} CPUs=2\n\
         PartitionName=p Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE\n"
    )
}

#[test]
fn srun_starts_four_ranks_on_two_nodes() {
    let programs = ["/usr/sbin/slurmctld", "/usr/sbin/slurmd", "/usr/bin/srun", "/usr/sbin/munged"];
    if programs.iter().any(|program| !Path::new(program).exists()) {
        return not_run("it needs Slurm (Debian: slurm-wlm)");
    }
    if !rustix::process::geteuid().is_root() {
        return not_run("it needs root, as Slurm's daemons do");
    }
    let _beside = Quiet::beside();
    let (cluster, ranks) = (Cluster::start(), Ranks::new());
    let rank = ranks.mindful.command(rank_of(["--meet", &ranks.meet, "--format", "json"]));
    let mut srun = Command::new("/usr/bin/srun");
    srun.args(["--kill-on-bad-exit=0", "-n", "4", "-N", "2"]);
    srun.env("SLURM_CONF", cluster.folder.path().join("slurm.conf"));
    let output = launched(srun, &rank).output().unwrap();
    let summary = four_ranks_of(&output);
    // They met under the name of Slurm's step.
    assert_has(ranks.mindful.record(&summary), r#""job":"1.0""#);
    assert!(ranks.left_nothing());
}
