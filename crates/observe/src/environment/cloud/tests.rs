//! Three services as they are documented, and services that are not.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use mindful_conformance::http::{self, flood, redirect, serve, trickle};
use mindful_conformance::{any_text, write_files};

use super::*;

const AWS: &[(&str, &str)] = &[("sys_vendor", "Amazon EC2\n")];
const AZURE: &[(&str, &str)] = &[("sys_vendor", "Microsoft Corporation\n"), ("chassis_asset_tag", AZURE_TAG)];
const GOOGLE: &[(&str, &str)] = &[("sys_vendor", "Google\n"), ("product_name", "Google Compute Engine\n")];

/// A service that answers each request, which it also sends, by `answer`.
fn service(mut answer: impl FnMut(&str, &mut TcpStream) + Send + 'static) -> (String, Receiver<String>) {
    let (asked, requests) = channel();
    let origin = serve(move |request, stream| {
        // The test may have ended.
        let _ = asked.send(request.to_owned());
        answer(request, stream);
    });
    (origin, requests)
}

fn respond(stream: &mut TcpStream, headers: &str, body: &str) {
    let _ = stream.write_all(&http::answer(&format!("200 OK\r\n{headers}Connection: close"), body));
}

fn refuse(stream: &mut TcpStream) {
    let _ = stream.write_all(&http::answer("401 Unauthorized\r\nConnection: close", ""));
}

fn has(request: &str, header: &str) -> bool {
    request.lines().any(|line| line.eq_ignore_ascii_case(header))
}

/// A kernel with DMI entries and block devices.
fn kernel(root: &Path, dmi: &[(&str, &str)], devices: &[(&str, &str, &str)]) -> Kernel {
    let sys = root.join("sys");
    write_files(&sys.join("class/dmi/id"), dmi);
    for (name, model, serial) in devices {
        let (model, serial) = (format!("{model}          \n"), format!("{serial}\n"));
        write_files(&sys.join("class/block").join(name).join("device"), &[("model", &model), ("serial", &serial)]);
    }
    Kernel { sys, ..Kernel::default() }
}

fn facts_of(kernel: &Kernel, service: Option<&str>, links: &Path, devices: &[&str]) -> Vec<String> {
    let mut facts = Facts::new();
    if let Some(machine) = Machine::read(kernel, service, links.to_owned()) {
        machine.facts(&mut facts);
        machine.volume_facts(kernel, devices, &mut facts);
    }
    facts.into_iter().map(|(key, value)| format!("{key}={value}")).collect()
}

#[test]
fn the_service_of_aws_is_asked_with_a_token_that_is_not_kept() {
    let root = tempfile::tempdir().unwrap();
    let devices = [
        ("nvme1n1", "Amazon Elastic Block Store", "vol0a1b2c3d"),
        ("nvme2n1", "Amazon EC2 NVMe Instance Storage", "AWS1234"),
    ];
    let kernel = kernel(root.path(), AWS, &devices);
    let (origin, requests) = service(|request, stream| {
        if request.starts_with("PUT /latest/api/token ") && has(request, "X-aws-ec2-metadata-token-ttl-seconds: 5") {
            respond(stream, "", "SECRET==");
        } else if request.starts_with("GET /latest/dynamic/instance-identity/document ")
            && has(request, "X-aws-ec2-metadata-token: SECRET==")
        {
            respond(
                stream,
                "",
                r#"{"accountId":"123456789012","architecture":"x86_64","availabilityZone":"eu-central-1b","imageId":
                "ami-5fb8c835","instanceId":"i-1234567890abcdef0","instanceType":"m7i.large","privateIp":"10.158.112.84",
                "region":"eu-central-1","version":"2017-09-30"}"#,
            );
        } else {
            refuse(stream);
        }
    });
    assert_eq!(
        facts_of(&kernel, Some(&origin), root.path(), &["nvme1n1", "nvme2n1", "absent"]),
        [
            "cloud.device.nvme1n1.source=model and serial number of the device",
            "cloud.device.nvme1n1.type=EBS",
            "cloud.device.nvme1n1.volume=vol-0a1b2c3d",
            "cloud.device.nvme2n1.source=model and serial number of the device",
            "cloud.device.nvme2n1.type=instance storage",
            "cloud.image=ami-5fb8c835",
            "cloud.machine_type=m7i.large",
            "cloud.name=AWS",
            "cloud.source=AWS metadata service, IMDSv2",
            "cloud.zone=eu-central-1b",
        ]
    );
    assert_eq!(requests.try_iter().count(), 2);
}

#[test]
fn the_service_of_azure_states_the_volume_of_each_lun() {
    let root = tempfile::tempdir().unwrap();
    let kernel = kernel(root.path(), AZURE, &[]);
    let links = root.path().join("disk");
    std::fs::create_dir_all(links.join("azure/scsi1")).unwrap();
    std::fs::write(root.path().join("sdc"), "").unwrap();
    std::os::unix::fs::symlink(root.path().join("sdc"), links.join("azure/scsi1/lun0")).unwrap();
    let (origin, _requests) = service(|request, stream| {
        let path = "GET /metadata/instance/compute?api-version=2021-02-01&format=json ";
        if !request.starts_with(path) || !has(request, "Metadata: true") {
            return refuse(stream);
        }
        respond(
            stream,
            "",
            r#"{"location":"westeurope","vmSize":"Standard_E8bds_v5","zone":"2","userData":"U0VDUkVU","subscriptionId":"x",
            "storageProfile":{"dataDisks":[{"bytesPerSecondThrottle":"979202048","diskSizeGB":"1024","lun":"0","managedDisk":
            {"id":"/subscriptions/x","storageAccountType":"UltraSSD_LRS"},"name":"data","opsPerSecondThrottle":"65280"}],
            "imageReference":{"id":"","offer":"debian-12","publisher":"Debian","sku":"12-gen2","version":"latest"},"osDisk":
            {"diskSizeGB":"30","managedDisk":{"storageAccountType":"Premium_LRS"},"name":"system"}}}"#,
        );
    });
    assert_eq!(
        facts_of(&kernel, Some(&origin), &links, &["sda", "sdc"]),
        [
            "cloud.device.sdc.bytes_per_s=979202048",
            "cloud.device.sdc.iops=65280",
            "cloud.device.sdc.size_bytes=1099511627776",
            "cloud.device.sdc.source=Azure metadata service",
            "cloud.device.sdc.type=UltraSSD_LRS",
            "cloud.device.sdc.volume=data",
            "cloud.image=Debian:debian-12:12-gen2:latest",
            "cloud.machine_type=Standard_E8bds_v5",
            "cloud.name=Azure",
            "cloud.source=Azure metadata service",
            "cloud.zone=westeurope, zone 2",
        ]
    );
}

/// Google's answer to `request`.
fn google(request: &str, stream: &mut TcpStream) {
    let path =
        request.strip_prefix("GET /computeMetadata/v1/instance/").filter(|_| has(request, "Metadata-Flavor: Google"));
    let body = match path.and_then(|path| path.split(' ').next()) {
        Some("machine-type") => "projects/1234/machineTypes/n2-standard-8",
        Some("zone") => "projects/1234/zones/europe-west3-c",
        Some("image") => "projects/debian-cloud/global/images/debian-12-bookworm-v20260609",
        Some("disks/?recursive=true") => {
            r#"[{"deviceName":"boot","index":0,"interface":"SCSI","mode":"READ_WRITE","type":"PERSISTENT-BALANCED"},
            {"deviceName":"data","index":1,"interface":"NVME","mode":"READ_WRITE","type":"PERSISTENT-SSD"},
            {"deviceName":"../../evil","index":2,"type":"PERSISTENT-SSD"}]"#
        }
        _ => return refuse(stream),
    };
    respond(stream, "Metadata-Flavor: Google\r\n", body);
}

#[test]
fn the_service_of_google_states_no_number_of_the_project() {
    let root = tempfile::tempdir().unwrap();
    let kernel = kernel(root.path(), GOOGLE, &[]);
    let links = root.path().join("disk");
    std::fs::create_dir_all(links.join("by-id")).unwrap();
    std::fs::write(root.path().join("nvme0n2"), "").unwrap();
    std::os::unix::fs::symlink(root.path().join("nvme0n2"), links.join("by-id/google-data")).unwrap();
    let (origin, _requests) = service(google);
    assert_eq!(
        facts_of(&kernel, Some(&origin), &links, &["nvme0n2"]),
        [
            "cloud.device.nvme0n2.source=Google Cloud metadata service",
            "cloud.device.nvme0n2.type=PERSISTENT-SSD",
            "cloud.device.nvme0n2.volume=data",
            "cloud.image=debian-12-bookworm-v20260609",
            "cloud.machine_type=n2-standard-8",
            "cloud.name=Google Cloud",
            "cloud.source=Google Cloud metadata service",
            "cloud.zone=europe-west3-c",
        ]
    );
}

#[test]
fn without_a_cloud_or_with_local_facts_no_service_is_asked() {
    let machines: [(&[(&str, &str)], usize); 4] = [
        (&[], 0),
        (&[("sys_vendor", "Amazon\n"), ("product_name", "Google Compute\n")], 0),
        // A guest of Hyper-V elsewhere.
        (&[("sys_vendor", "Microsoft Corporation\n"), ("chassis_asset_tag", "7783\n")], 0),
        (GOOGLE, 1),
    ];
    for (dmi, local) in machines {
        let root = tempfile::tempdir().unwrap();
        let kernel = kernel(root.path(), dmi, &[]);
        let (origin, requests) = service(google);
        assert_eq!(facts_of(&kernel, None, root.path(), &[]).len(), local, "{dmi:?}");
        assert!(requests.try_recv().is_err(), "{dmi:?}");
        assert_eq!(facts_of(&kernel, Some(&origin), root.path(), &[]).is_empty(), local == 0);
        assert_eq!(requests.try_recv().is_err(), local == 0, "{dmi:?}");
    }
}

/// The only two facts of an Azure machine with a service that answers `answer`, and the time to get them.
fn fault(answer: impl Fn(&str, &mut TcpStream) + Send + 'static) -> (String, Duration) {
    let root = tempfile::tempdir().unwrap();
    let kernel = kernel(root.path(), AZURE, &[]);
    let (origin, _requests) = service(answer);
    let begun = Instant::now();
    let facts = facts_of(&kernel, Some(&origin), root.path(), &["sda"]);
    assert_eq!((facts.len(), facts[0].as_str()), (2, "cloud.name=Azure"), "{facts:?}");
    (facts[1].clone(), begun.elapsed())
}

#[test]
fn a_service_that_hangs_or_trickles_is_given_up_after_a_second() {
    let hang = |_: &str, _: &mut TcpStream| std::thread::sleep(Duration::from_mins(1));
    for (fault, took) in [fault(hang), fault(|_, stream| trickle(stream))] {
        assert!(fault.contains("no answer (timeout"), "{fault}");
        assert!(Duration::from_millis(900) < took && took < Duration::from_secs(10), "{took:?}");
    }
}

#[test]
fn a_service_that_redirects_is_not_followed() {
    let elsewhere = TcpListener::bind("127.0.0.1:0").unwrap();
    elsewhere.set_nonblocking(true).unwrap();
    let to = elsewhere.local_addr().unwrap();
    let (fault, _) = fault(move |_, stream| stream.write_all(&redirect(&format!("http://{to}/"))).unwrap());
    assert!(fault.ends_with("it answered with status 302"), "{fault}");
    assert!(elsewhere.accept().is_err());
}

#[test]
fn a_gigabyte_of_answer_and_garbage_state_nothing() {
    let (endless, _) = fault(|_, stream| flood(stream));
    assert!(endless.contains("no answer"), "{endless}");
    for garbage in ["", "<html>", "\u{0}", "null", "1e999999", "{\"vmSize\":"] {
        let (fault, _) = fault(|_, stream| respond(stream, "", garbage));
        assert!(fault.ends_with("its answer is not what is documented"), "{garbage:?}: {fault}");
    }
    let (binary, _) = fault(|_, stream| {
        let _ = stream.write_all(b"\x00\xff\xfe not HTTP\r\n\r\n");
    });
    assert!(binary.contains("no answer"), "{binary}");
}

#[test]
fn a_service_without_the_mark_of_google_is_not_believed() {
    let root = tempfile::tempdir().unwrap();
    let kernel = kernel(root.path(), GOOGLE, &[]);
    let (origin, _requests) = service(|_, stream| respond(stream, "", "projects/1/machineTypes/x"));
    let facts = facts_of(&kernel, Some(&origin), root.path(), &[]);
    assert_eq!(facts[1], "cloud.not_stated=Google Cloud metadata service: its answer is not what is documented");
}

#[test]
fn only_short_plain_names_become_facts() {
    any_text("\\PC{0,300}|[a-z.-]{0,300}", |text| {
        if let Some(name) = name(&Value::from(text)) {
            assert!(name.len() <= LONGEST_NAME && name.is_ascii() && !name.contains(['<', '\\', '"', '\n']));
        }
    });
}
