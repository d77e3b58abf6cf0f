//! A server's host seen through its node_exporter.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::time::Duration;

use serde_json::Value;

use crate::mindful::{Mindful, message, null, printed, wait_until};

/// Serves figures while the test runs: of each further second of CPU, 0.3 are busy.
fn exporter() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}#vda", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for (asked, stream) in listener.incoming().enumerate() {
            let Ok(mut stream) = stream else { return };
            let lines = BufReader::new(stream.try_clone().unwrap()).lines();
            lines.map_while(Result::ok).take_while(|line| !line.is_empty()).for_each(drop);
            let seconds = asked as f64;
            let _ = write!(
                stream,
                "HTTP/1.0 200 OK\r\n\r\n\
                 node_cpu_seconds_total{{cpu=\"0\",mode=\"user\"}} {}\n\
                 node_cpu_seconds_total{{cpu=\"0\",mode=\"idle\"}} {}\n\
                 node_disk_reads_completed_total{{device=\"vda\"}} {}\n",
                0.3 * seconds,
                0.7 * seconds,
                1000 * asked,
            );
        }
    });
    url
}

#[test]
fn figures_of_the_servers_host_come_from_its_exporter() {
    let mindful = Mindful::new();
    let ran = mindful.measured(["--duration", "3s", "--sessions", "2", "--node-exporter", &exporter()]);
    let busy = ran["steps"][0]["cpu"]["host_busy_share"].as_f64().unwrap();
    assert!((busy - 0.3).abs() < 1e-6, "{ran:#}");
    let lines = mindful.text("export latest --as jsonl");
    let events: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let samples = events.iter().filter(|e| e["event"] == "sample" && e["source"] == "node_exporter").count();
    assert_eq!(samples, 4, "one reading a boundary");
}

/// Answers twice, and from then on a byte a second: a run on it still ends on request.
#[test]
fn a_trickling_exporter_does_not_keep_a_run_from_its_end() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}#vda", listener.local_addr().unwrap());
    let (begins, trickles) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for (asked, stream) in listener.incoming().enumerate() {
            let Ok(mut stream) = stream else { return };
            let _ = stream.read(&mut [0; 4096]);
            let _ = write!(stream, "HTTP/1.0 200 OK\r\n\r\nnode_cpu_seconds_total{{cpu=\"0\",mode=\"idle\"}} 1\n");
            if asked > 1 {
                let _ = begins.send(());
                std::thread::spawn(move || {
                    while stream.write_all(b"#").is_ok() {
                        std::thread::sleep(Duration::from_secs(1));
                    }
                });
            }
        }
    });
    let mindful = Mindful::new();
    let mut run = mindful.start(null("run", format!("--duration 5m --node-exporter {url}")));
    trickles.recv().unwrap();
    let pid = rustix::process::Pid::from_child(&run);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    wait_until("the run still waits for its exporter", || run.try_wait().unwrap().is_some());
}

#[test]
fn an_exporter_that_does_not_answer_fails_the_run() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mindful = Mindful::new();
    let refused = mindful.run(null("run", format!("--node-exporter http://127.0.0.1:{port}")));
    let printed = format!("{}{}", printed(&refused), message(&refused));
    assert!(!refused.status.success() && printed.contains("does not answer"), "{printed}");
}
