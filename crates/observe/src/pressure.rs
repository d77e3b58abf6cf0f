//! Stalls of the host because of a lack of resources, from `/proc/pressure`.

use mindful_core::Result;
use mindful_core::contract::metric::{HostSource, Metric, SampledSource, Sampler};
use mindful_host::Kernel;
use mindful_host::kernel_file::KernelFile;

/// The files a kernel may have; `irq` since 6.1 and only with interrupt time accounting.
const RESOURCES: [&str; 4] = ["cpu", "io", "memory", "irq"];

/// Total stall times, us: of some tasks, and of all tasks at once.
fn parse(text: &str) -> [Option<u64>; 2] {
    ["some ", "full "].map(|share| {
        let line = text.lines().find_map(|line| line.strip_prefix(share))?;
        line.split_ascii_whitespace().find_map(|word| word.strip_prefix("total=")?.parse().ok())
    })
}

/// Samples the stall times of every resource that the kernel reports. `None` if it provides none: built without, or
/// started with `psi=0`.
pub(crate) fn pressure(kernel: &Kernel) -> Option<Box<dyn Sampler>> {
    let (mut files, mut metrics) = (Vec::new(), Vec::new());
    for resource in RESOURCES {
        let Ok(mut file) = KernelFile::open(kernel.proc.join("pressure").join(resource)) else { continue };
        if file.text().is_err() {
            continue;
        }
        files.push(file);
        for (share, help) in [("some", "time at least one task waited"), ("full", "time all tasks waited at once")] {
            metrics.push(Metric::counter(format!("{resource}_{share}"), "us", help));
        }
    }
    let source = SampledSource::new(HostSource::Pressure.name(), metrics);
    (!files.is_empty()).then(|| {
        source.read_by(move || {
            let stalls = files.iter_mut().map(|file| Ok(parse(file.read()?).map(|us| us.map(|us| us as f64))));
            Ok(stalls.collect::<Result<Vec<_>>>()?.concat())
        })
    })
}

#[cfg(test)]
mod tests {
    use mindful_conformance::any_text;

    use super::*;

    #[test]
    fn totals_are_read_and_a_missing_line_is_unknown() {
        let text = "some avg10=5.86 avg60=2.45 avg300=3.48 total=60691088\n\
                    full avg10=4.42 avg60=1.92 avg300=3.14 total=56632271\n";
        assert_eq!(parse(text), [Some(60_691_088), Some(56_632_271)]);
        assert_eq!(parse("full avg10=0.00 avg60=0.00 avg300=0.00 total=3\n"), [None, Some(3)]);
    }

    #[test]
    fn a_kernel_without_pressure_gives_no_source() {
        let folder = tempfile::tempdir().unwrap();
        let kernel = Kernel { proc: folder.path().to_owned(), ..Kernel::default() };
        assert!(pressure(&kernel).is_none());
    }

    #[test]
    fn no_text_makes_the_parser_panic() {
        any_text("(some|full|total=|[0-9]+| |\\PC|\n){0,60}", parse);
    }
}
