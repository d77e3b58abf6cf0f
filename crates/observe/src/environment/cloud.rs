//! A cloud's own statements about a machine and its volumes.
//!
//! DMI names the cloud. On any other host no service is queried. Only the fields below are kept of an answer, because
//! answers also contain numbers of accounts and data of users.

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mindful_core::contract::fact::{DeviceFact, Fact};
use mindful_core::record::run::Facts;
use mindful_host::Kernel;
use mindful_host::kernel_file::value;
use serde_json::Value;
use ureq::http::Request;
use ureq::{Agent, AsSendBody};

use super::system::put;
use crate::http::{agent, send};

/// The address of the metadata services of all three clouds, which no name server has to resolve.
pub(super) const ADDRESS: &str = "http://169.254.169.254";
/// For all answers about one machine.
const TIME: Duration = Duration::from_secs(1);
/// Longest answer, bytes: Azure's may contain 64 KiB of a user's data.
const LONGEST: u64 = 256 << 10;
/// The header that only answers of Google's service have.
const FLAVOR: &str = "Metadata-Flavor";
const GARBAGE: &str = "its answer is not what is documented";
/// The tag of every virtual machine of Azure: others of Hyper-V do not have it.
const AZURE_TAG: &str = "7783-7084-3265-9085-8269-3286-77";
/// Longest text of an answer that is a name.
const LONGEST_NAME: usize = 200;

/// A cloud with a metadata service.
struct Cloud {
    name: &'static str,
    service: &'static str,
    ask: fn(&Inquiry<'_>) -> Result<Statement>,
}

static AWS: Cloud = Cloud { name: "AWS", service: "AWS metadata service, IMDSv2", ask: aws };
static AZURE: Cloud = Cloud { name: "Azure", service: "Azure metadata service", ask: azure };
static GOOGLE: Cloud = Cloud { name: "Google Cloud", service: "Google Cloud metadata service", ask: google };

/// The cloud that DMI names.
fn cloud_of(kernel: &Kernel) -> Option<&'static Cloud> {
    let dmi = |name: &str| value(kernel.sys.join("class/dmi/id").join(name)).unwrap_or_default();
    // Machines with Xen are recognised by their BIOS.
    if dmi("sys_vendor") == "Amazon EC2" || dmi("bios_version").ends_with(".amazon") {
        return Some(&AWS);
    }
    if dmi("sys_vendor") == "Microsoft Corporation" && dmi("chassis_asset_tag") == AZURE_TAG {
        return Some(&AZURE);
    }
    (dmi("product_name") == "Google Compute Engine").then_some(&GOOGLE)
}

/// Why a service stated nothing.
type Result<T, E = String> = std::result::Result<T, E>;

/// The requests about one machine, which share their time.
struct Inquiry<'a> {
    agent: Agent,
    service: &'a str,
    end: Instant,
}

impl Inquiry<'_> {
    /// The body of the answer to a request with one additional header.
    fn send(&self, method: &str, body: impl AsSendBody, path: &str, header: (&str, &str)) -> Result<String> {
        let no_answer = |error: ureq::Error| format!("no answer ({error})");
        let request = Request::builder().method(method).uri(format!("{}{path}", self.service));
        let request = request.header(header.0, header.1).body(body).map_err(|error| no_answer(error.into()))?;
        // No time at all would be no limit.
        let left = self.end.saturating_duration_since(Instant::now()).max(Duration::from_micros(1));
        let answer = send(&self.agent, request, left, LONGEST).map_err(no_answer)?;
        if header.0 == FLAVOR && answer.headers().get(FLAVOR).is_none_or(|flavor| flavor != "Google") {
            return Err(GARBAGE.to_owned());
        }
        match answer.status().as_u16() {
            200 => String::from_utf8(answer.into_body()).map_err(|_| GARBAGE.to_owned()),
            status => Err(format!("it answered with status {status}")),
        }
    }

    fn get(&self, path: &str, header: (&str, &str)) -> Result<String> {
        self.send("GET", (), path, header)
    }
}

/// Contents of a service's answer: facts of the machine, and its volumes.
struct Statement {
    facts: Vec<(Fact, Option<String>)>,
    volumes: Vec<Volume>,
}

/// A volume in a service's answer, with the links that udev may have for its device.
struct Volume {
    links: Vec<String>,
    facts: Vec<(DeviceFact, Option<String>)>,
}

/// A machine of a cloud.
pub(crate) struct Machine {
    cloud: &'static Cloud,
    /// The answer of the service; `None` without a query.
    stated: Option<Result<Statement>>,
    /// Where udev keeps links to devices: `/dev/disk`.
    links: PathBuf,
}

impl Machine {
    /// This machine, if DMI names a cloud; `service` is not queried if it is `None`.
    pub(crate) fn read(kernel: &Kernel, service: Option<&str>, links: PathBuf) -> Option<Self> {
        let cloud = cloud_of(kernel)?;
        let inquiry = |service| Inquiry { agent: agent(false), service, end: Instant::now() + TIME };
        Some(Self { cloud, stated: service.map(|service| (cloud.ask)(&inquiry(service))), links })
    }

    /// Type, zone and image.
    pub(crate) fn facts(&self, facts: &mut Facts) {
        put(facts, Fact::Cloud, Some(self.cloud.name));
        match &self.stated {
            None => {}
            Some(Err(fault)) => put(facts, Fact::CloudNotStated, Some(format!("{}: {fault}", self.cloud.service))),
            Some(Ok(stated)) => {
                put(facts, Fact::CloudSource, Some(self.cloud.service));
                stated.facts.iter().for_each(|(fact, value)| put(facts, *fact, value.as_ref()));
            }
        }
    }

    /// The known facts of the volumes of `devices`.
    pub(crate) fn volume_facts(&self, kernel: &Kernel, devices: &[&str], facts: &mut Facts) {
        for device in devices {
            let mut put = |fact: DeviceFact, value: Option<String>| put(facts, fact.key(device), value);
            if self.cloud.name == AWS.name {
                let Some((kind, name)) = aws_volume(kernel, device) else { continue };
                put(DeviceFact::VolumeType, Some(kind.to_owned()));
                put(DeviceFact::Volume, name);
                put(DeviceFact::VolumeSource, Some("model and serial number of the device".to_owned()));
                continue;
            }
            let Some(Ok(stated)) = &self.stated else { return };
            let Some(volume) = stated.volumes.iter().find(|volume| volume.is(&self.links, device)) else { continue };
            volume.facts.iter().for_each(|(fact, value)| put(*fact, value.clone()));
            put(DeviceFact::VolumeSource, Some(self.cloud.service.to_owned()));
        }
    }
}

impl Volume {
    /// Whether one of its links leads to `device`.
    fn is(&self, links: &Path, device: &str) -> bool {
        let leads = |link: &String| std::fs::canonicalize(links.join(link)).is_ok_and(|to| to.ends_with(device));
        self.links.iter().any(leads)
    }
}

/// An NVMe device of AWS names its volume in its serial number; type and limits of EBS are stated by an API that needs rights.
fn aws_volume(kernel: &Kernel, device: &str) -> Option<(&'static str, Option<String>)> {
    let folder = kernel.sys.join("class/block").join(device).join("device");
    let serial = value(folder.join("serial")).filter(|serial| serial.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    match value(folder.join("model"))?.as_str() {
        "Amazon Elastic Block Store" => {
            Some(("EBS", serial.and_then(|serial| Some(format!("vol-{}", serial.strip_prefix("vol")?)))))
        }
        "Amazon EC2 NVMe Instance Storage" => Some(("instance storage", None)),
        _ => None,
    }
}

fn aws(asked: &Inquiry<'_>) -> Result<Statement> {
    let token = asked.send("PUT", &[], "/latest/api/token", ("X-aws-ec2-metadata-token-ttl-seconds", "5"))?;
    let token = ("X-aws-ec2-metadata-token", token.trim());
    let document = json(&asked.get("/latest/dynamic/instance-identity/document", token)?)?;
    let facts = vec![
        (Fact::CloudMachineType, name(&document["instanceType"])),
        (Fact::CloudZone, name(&document["availabilityZone"])),
        (Fact::CloudImage, name(&document["imageId"])),
    ];
    Ok(Statement { facts, volumes: Vec::new() })
}

fn azure(asked: &Inquiry<'_>) -> Result<Statement> {
    let path = "/metadata/instance/compute?api-version=2021-02-01&format=json";
    let compute = json(&asked.get(path, ("Metadata", "true"))?)?;
    let place = [name(&compute["location"]), name(&compute["zone"]).map(|zone| format!("zone {zone}"))];
    let place: Vec<String> = place.into_iter().flatten().collect();
    let storage = &compute["storageProfile"];
    let image = &storage["imageReference"];
    let parts = ["publisher", "offer", "sku", "version"].map(|part| name(&image[part]));
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let text = |number: Option<u64>| number.map(|number| number.to_string());
    let volume = |disk: &Value, links: Vec<String>| {
        let bytes = number(&disk["diskSizeGB"]).and_then(|gib| gib.checked_mul(1 << 30));
        let facts = vec![
            (DeviceFact::Volume, name(&disk["name"])),
            (DeviceFact::VolumeType, name(&disk["managedDisk"]["storageAccountType"])),
            (DeviceFact::VolumeBytes, text(bytes)),
            (DeviceFact::VolumeIops, text(number(&disk["opsPerSecondThrottle"]))),
            (DeviceFact::VolumeBytesPerS, text(number(&disk["bytesPerSecondThrottle"]))),
        ];
        Volume { links, facts }
    };
    let of_lun = |lun: u64| vec![format!("azure/data/by-lun/{lun}"), format!("azure/scsi1/lun{lun}")];
    let data = storage["dataDisks"].as_array().into_iter().flatten();
    let data = data.filter_map(|disk| Some(volume(disk, of_lun(whole(&disk["lun"])?))));
    let system = volume(&storage["osDisk"], vec!["azure/os".to_owned(), "azure/root".to_owned()]);
    let of_id = || name(&image["id"]).map(|id| last_part(&id).to_owned());
    let facts = vec![
        (Fact::CloudMachineType, name(&compute["vmSize"])),
        (Fact::CloudZone, (!place.is_empty()).then(|| place.join(", "))),
        (Fact::CloudImage, if parts.is_empty() { of_id() } else { Some(parts.join(":")) }),
    ];
    Ok(Statement { facts, volumes: std::iter::once(system).chain(data).collect() })
}

fn google(asked: &Inquiry<'_>) -> Result<Statement> {
    let answer = |what: &str| {
        let path = format!("/computeMetadata/v1/instance/{what}");
        asked.get(&path, (FLAVOR, "Google"))
    };
    // Type and zone begin with the number of the project.
    let stated = |what: &str| -> Result<_> { Ok(name(&answer(what)?.into()).map(|path| last_part(&path).to_owned())) };
    let facts = vec![
        (Fact::CloudMachineType, stated("machine-type")?),
        (Fact::CloudZone, stated("zone")?),
        (Fact::CloudImage, stated("image")?),
    ];
    let disks = json(&answer("disks/?recursive=true")?)?;
    let volume = |disk: &Value| {
        let name = name(&disk["deviceName"]).filter(|name| !name.contains('/'))?;
        let links = vec![format!("by-id/google-{name}")];
        let facts = vec![(DeviceFact::VolumeType, self::name(&disk["type"])), (DeviceFact::Volume, Some(name))];
        Some(Volume { links, facts })
    };
    let volumes = disks.as_array().into_iter().flatten().filter_map(volume).collect();
    Ok(Statement { facts, volumes })
}

fn json(text: &str) -> Result<Value> {
    let value = serde_json::from_str(text).ok().filter(|value: &Value| value.is_object() || value.is_array());
    value.ok_or_else(|| GARBAGE.to_owned())
}

/// A text that is a name: short, and of letters, digits and a few marks.
fn name(value: &Value) -> Option<String> {
    let text = value.as_str()?.trim();
    let of_name = |c: char| c.is_ascii_alphanumeric() || "-_.:/ ".contains(c);
    ((1..=LONGEST_NAME).contains(&text.len()) && text.chars().all(of_name)).then(|| text.to_owned())
}

fn last_part(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// A number, which Azure writes as text.
fn whole(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

/// A limit or a size, which is not 0.
fn number(value: &Value) -> Option<u64> {
    whole(value).filter(|number| *number > 0)
}
