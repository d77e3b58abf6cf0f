//! A node_exporter at the other end of a real connection.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::PathBuf;

use mindful_core::ErrorKind;
use mindful_core::contract::metric::Counter;
use mindful_core::contract::stop_flag::StopFlag;
use mindful_observe::node_exporter;

const TEXT: &str = "\
# TYPE node_cpu_seconds_total counter
node_cpu_seconds_total{cpu=\"0\",mode=\"idle\"} 100
node_cpu_seconds_total{cpu=\"0\",mode=\"user\"} REQUESTS
node_disk_reads_completed_total{device=\"vda\"} 5
node_filesystem_size_bytes{device=\"/dev/vda\",fstype=\"ext4\",mountpoint=\"/\"} 2.7e+11
";

/// Serves this many requests, then closes. Its CPU is the number of the request. Can refuse a choice of collectors.
fn serve(requests: usize, refuses_choice: bool) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("it has an address"));
    std::thread::spawn(move || {
        for request in 1..=requests {
            let (mut stream, _) = listener.accept().expect("somebody asks");
            let lines = BufReader::new(stream.try_clone().expect("a second handle")).lines();
            let head: Vec<String> = lines.map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
            let chosen = head[0].contains("collect[]=cpu");
            let (status, body) = if chosen && refuses_choice {
                ("400 Bad Request", "disabled collector".to_owned())
            } else {
                ("200 OK", TEXT.replace("REQUESTS", &request.to_string()))
            };
            write!(stream, "HTTP/1.0 {status}\r\nContent-Type: text/plain\r\n\r\n{body}").expect("it can be answered");
        }
    });
    url
}

#[test]
fn a_remote_host_is_read_again_and_a_lost_exporter_is_an_error() {
    for refuses_choice in [false, true] {
        let (mut sampler, findings) =
            node_exporter(&serve(4, refuses_choice), &[PathBuf::from("/var/lib/data")], &StopFlag::default()).unwrap();
        assert!(findings.is_empty(), "{findings:?}");
        let index = |name: &str| sampler.metrics().iter().position(|metric| metric.name == name).unwrap();
        let (busy, reads) = (index(Counter::HostCpuBusyUs.name()), index(Counter::DeviceReads.name()));
        let first = sampler.read().unwrap();
        let second = sampler.read().unwrap();
        assert_eq!((first[busy], second[busy]), (Some(3e6), Some(4e6)));
        assert_eq!(second[reads], Some(5.0));
        assert!(sampler.read().is_err());
    }
}

#[test]
fn a_device_that_cannot_be_reported_is_unseen_and_not_zero() {
    let (sampler, findings) =
        node_exporter(&format!("{}#nvme7n1", serve(2, false)), &[], &StopFlag::default()).unwrap();
    assert_eq!(findings[0].code, "not-seen");
    assert!(sampler.metrics().iter().all(|metric| metric.name != Counter::DeviceReads));
}

#[test]
fn an_address_without_a_listener_is_refused_in_one_line() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let error = node_exporter(&format!("http://127.0.0.1:{port}"), &[], &StopFlag::default()).err().unwrap();
    assert_eq!(error.kind, ErrorKind::Target);
    assert!(error.to_string().contains("does not answer"), "{error}");
}
