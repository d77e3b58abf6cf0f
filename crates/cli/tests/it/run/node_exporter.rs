//! A server's host seen through its node_exporter.

use std::io::Write as _;
use std::net::TcpListener;

use mindful_conformance::http::{answer, serve, trickle};
use rustix::process::Signal;

use crate::mindful::{Mindful, figure, null, wait_until, whole};
use crate::stops::signal;

/// Serves figures while the test runs: of each further second of CPU, 0.3 are busy.
fn exporter() -> String {
    let mut asked = 0.0;
    let url = serve(move |_, stream| {
        let figures = format!(
            "node_cpu_seconds_total{{cpu=\"0\",mode=\"user\"}} {}\n\
             node_cpu_seconds_total{{cpu=\"0\",mode=\"idle\"}} {}\n\
             node_disk_reads_completed_total{{device=\"vda\"}} {}\n",
            0.3 * asked,
            0.7 * asked,
            1000.0 * asked,
        );
        let _ = stream.write_all(&answer("200 OK", figures));
        asked += 1.0;
    });
    url + "#vda"
}

#[test]
fn figures_of_the_servers_host_come_from_its_exporter() {
    let mindful = Mindful::new();
    let ran = mindful.measured(["--duration", "3s", "--sessions", "2", "--node-exporter", &exporter()]);
    assert!((figure(&ran["steps"][0]["cpu"], "host_busy_share") - 0.3).abs() < 1e-6, "{ran:#}");
    let events = mindful.events();
    let samples = events.iter().filter(|e| e["event"] == "sample" && e["source"] == "node_exporter").count();
    assert_eq!(samples, 4, "one reading a boundary");
}

/// Answers twice, and from then on byte by byte: a run on it still ends on request.
#[test]
fn a_trickling_exporter_does_not_keep_a_run_from_its_end() {
    let (begins, trickles) = std::sync::mpsc::channel();
    let mut asked = 0;
    let url = serve(move |_, stream| {
        asked += 1;
        if asked <= 2 {
            let _ = stream.write_all(&answer("200 OK", "node_cpu_seconds_total{cpu=\"0\",mode=\"idle\"} 1\n"));
            return;
        }
        let mut stream = stream.try_clone().unwrap();
        let _ = begins.send(());
        std::thread::spawn(move || trickle(&mut stream));
    });
    let mindful = Mindful::new();
    let mut run = mindful.start(null("run", format!("--duration 5m --node-exporter {url}#vda")));
    trickles.recv().unwrap();
    signal(&run, Signal::TERM);
    wait_until("the run still waits for its exporter", || run.try_wait().unwrap().is_some());
}

#[test]
fn an_exporter_that_does_not_answer_fails_the_run() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mindful = Mindful::new();
    let refused = mindful.run(null("run", format!("--node-exporter http://127.0.0.1:{port}")));
    assert!(!refused.status.success() && whole(&refused).contains("does not answer"), "{refused:?}");
}
