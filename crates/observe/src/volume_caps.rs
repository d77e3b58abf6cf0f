//! Time during which the limits of a cloud's volume, or of its instance, held its I/O back.
//!
//! Amazon's NVMe devices report it in log page 0xD0, in microseconds since they were attached: devices of its block
//! store with all four limits, the instance's own disks with those of the instance. It is read once a boundary; the
//! device updates it once a second. No other cloud publishes such a page.

mod nvme;

use std::fs::File;
use std::io;
use std::path::Path;

use mindful_core::contract::metric::{HostSource, Metric, SampledSource, Sampler, VOLUME_LIMITS};
use mindful_host::Kernel;
use mindful_host::kernel_file::value;
use nvme::{PAGE_BYTES, log_page};

const MODELS: [&str; 2] = ["Amazon Elastic Block Store", "Amazon EC2 NVMe Instance Storage"];
const PAGE: u8 = 0xD0;
/// First bytes of the page of a volume, and of a disk of the instance.
const VOLUME: u32 = 0x3C23_B510;
const INSTANCE_DISK: u32 = 0xEC2C_0D7E;
/// Where the times over each limit begin, in the order of [`OF_VOLUME`].
const TIMES_AT: usize = 56;

/// Times at each limit, us; `None` if a device has no such limit, and for an invalid page.
type Times = [Option<u64>; VOLUME_LIMITS.len()];

fn times(page: &[u8]) -> Option<Times> {
    let magic = u32::from_le_bytes(*page.first_chunk()?);
    let time = |limit: usize| Some(u64::from_le_bytes(*page.get(TIMES_AT + 8 * limit..)?.first_chunk()?));
    let [volume_iops, volume_bytes, instance_iops, instance_bytes] = [time(0)?, time(1)?, time(2)?, time(3)?].map(Some);
    match magic {
        VOLUME => Some([volume_iops, volume_bytes, instance_iops, instance_bytes]),
        INSTANCE_DISK => Some([None, None, instance_iops, instance_bytes]),
        _ => None,
    }
}

type Page = Box<dyn FnMut() -> io::Result<[u8; PAGE_BYTES]> + Send>;

/// Samples the Amazon devices among `devices`; why some of them do not report. `None` if there is nothing to sample.
pub(crate) fn volume_caps(kernel: &Kernel, devices: &[String]) -> (Option<Box<dyn Sampler>>, Vec<String>) {
    let (mut readable, mut unseen) = (Vec::new(), Vec::new());
    for name in devices.iter().filter(|name| is_amazons(kernel, name)) {
        match opened(&Path::new("/dev").join(name)) {
            Ok(page) => readable.push((name.clone(), page)),
            Err(error) => unseen.push(format!("/dev/{name}: {error}")),
        }
    }
    ((!readable.is_empty()).then(|| sampler(readable)), unseen)
}

fn sampler(mut readable: Vec<(String, Page)>) -> Box<dyn Sampler> {
    let metric = |name: &str, (end, limit): (&str, &str)| {
        let help = format!("time in which requests exceeded {limit}");
        Metric::counter(format!("{name}.{end}"), "us", &help)
    };
    let metrics = readable.iter().flat_map(|(name, _)| VOLUME_LIMITS.map(|limit| metric(name, limit)));
    SampledSource::new(HostSource::VolumeCaps.name(), metrics.collect::<Vec<_>>()).read_by(move || {
        let counters =
            readable.iter_mut().flat_map(|(_, page)| page().ok().and_then(|p| times(&p)).unwrap_or_default());
        Ok(counters.map(|us| us.map(|us| us as f64)).collect())
    })
}

fn is_amazons(kernel: &Kernel, name: &str) -> bool {
    let model = value(kernel.sys.join("class/block").join(name).join("device/model"));
    model.is_some_and(|model| MODELS.contains(&model.trim()))
}

/// The page of the device at `path`, read for the first time.
fn opened(path: &Path) -> io::Result<Page> {
    let device = File::open(path)?;
    let page = move || log_page(&device, PAGE);
    let known = times(&page()?).is_some();
    known.then(|| Box::new(page) as Page).ok_or_else(|| io::Error::other("log page 0xd0 is not Amazon's"))
}

#[cfg(test)]
mod tests {
    use mindful_conformance::write_files;
    use proptest::prelude::*;

    use super::*;

    /// A page as Amazon lays it out: magic, six counters, four times, the queue.
    fn page(magic: u32, times: [u64; 4]) -> [u8; PAGE_BYTES] {
        let mut page = [0; PAGE_BYTES];
        page[..4].copy_from_slice(&magic.to_le_bytes());
        for (at, counter) in [11, 12, 13, 14, 15, 16].into_iter().chain(times).chain([7]).enumerate() {
            page[8 + 8 * at..16 + 8 * at].copy_from_slice(&u64::to_le_bytes(counter));
        }
        page
    }

    fn sampled(answers: Vec<io::Result<[u8; PAGE_BYTES]>>) -> Box<dyn Sampler> {
        let mut answers = answers.into_iter();
        let next = move || answers.next().unwrap_or_else(|| Err(io::ErrorKind::NotFound.into()));
        sampler(vec![("nvme1n1".to_owned(), Box::new(next))])
    }

    #[test]
    fn a_volume_has_four_limits_and_an_instance_disk_two() {
        let mut caps = sampled(vec![Ok(page(VOLUME, [1, 2, 3, 4])), Ok(page(INSTANCE_DISK, [1, 2, 3, 4]))]);
        let names: Vec<_> = caps.metrics().iter().map(|metric| metric.name.as_str()).collect();
        assert_eq!(names[0], "nvme1n1.over_volume_iops");
        assert_eq!(names.len(), 4);
        assert_eq!(caps.read().unwrap(), [1.0, 2.0, 3.0, 4.0].map(Some));
        assert_eq!(caps.read().unwrap(), [None, None, Some(3.0), Some(4.0)]);
    }

    #[test]
    fn another_log_page_is_unknown_and_never_zero() {
        let refused = |code| Err(io::Error::from_raw_os_error(code));
        let mut caps = sampled(vec![
            Ok([0; PAGE_BYTES]),
            Ok(page(VOLUME.swap_bytes(), [1; 4])),
            refused(rustix::io::Errno::NOTTY.raw_os_error()),
            refused(rustix::io::Errno::ACCESS.raw_os_error()),
            Ok(page(VOLUME, [u64::MAX; 4])),
        ]);
        for _ in 0..4 {
            assert_eq!(caps.read().unwrap(), [None; 4]);
        }
        assert!(caps.read().unwrap().iter().all(|us| us.is_some_and(f64::is_finite)));
    }

    /// The node of the disk is artificial, so it is not an NVMe device: its refusal is reported, other devices are not
    /// queried.
    #[test]
    fn only_amazons_devices_are_asked_and_a_refusal_is_reported() {
        let sys = tempfile::tempdir().unwrap();
        let amazons = ("class/block/null/device/model", "Amazon Elastic Block Store              \n");
        write_files(sys.path(), &[amazons, ("class/block/zero/device/model", "nvme_card-pd\n")]);
        let kernel = Kernel { sys: sys.path().to_owned(), ..Kernel::default() };
        let (caps, unseen) = volume_caps(&kernel, &["null", "zero", "absent"].map(str::to_owned));
        assert!(caps.is_none());
        assert_eq!(unseen.len(), 1);
        assert!(unseen[0].starts_with("/dev/null: ") && unseen[0].contains("ioctl"), "{unseen:?}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..120), ours in any::<bool>()) {
            let magic = if ours { VOLUME.to_le_bytes().to_vec() } else { Vec::new() };
            let page = [magic, bytes].concat();
            prop_assert!(times(&page).is_none() || page.len() >= TIMES_AT + 32);
        }
    }
}
