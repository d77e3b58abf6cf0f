//! A node_exporter at the other end of a real connection.

use std::io::Write;
use std::net::TcpListener;
use std::path::PathBuf;

use mindful_conformance::http::{answer, serve};
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

/// Answers this many requests, and closes the connections of others. Its CPU is the number of the request. Can refuse a
/// choice of collectors.
fn exporter(requests: usize, refuses_choice: bool) -> String {
    let mut asked = 0;
    serve(move |request, stream| {
        asked += 1;
        let answer = match request.contains("collect[]=cpu") && refuses_choice {
            _ if asked > requests => return,
            true => answer("400 Bad Request", "disabled collector"),
            false => answer("200 OK", TEXT.replace("REQUESTS", &asked.to_string())),
        };
        stream.write_all(&answer).expect("the client waits for it");
    })
}

#[test]
fn a_remote_host_is_read_again_and_a_lost_exporter_is_an_error() {
    for refuses_choice in [false, true] {
        let (mut sampler, findings) =
            node_exporter(&exporter(4, refuses_choice), &[PathBuf::from("/var/lib/data")], &StopFlag::default())
                .unwrap();
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
        node_exporter(&format!("{}#nvme7n1", exporter(2, false)), &[], &StopFlag::default()).unwrap();
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
