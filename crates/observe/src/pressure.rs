//! Stalls of the host because of a lack of resources, from `/proc/pressure`.

use mindful_core::Result;
use mindful_core::contract::metric::{HostSource, Metric, SampledSource, Sampler};
use mindful_host::Kernel;
use mindful_host::kernel_file::KernelFile;

/// The files a kernel may have; `irq` since 6.1 and only with interrupt time accounting.
const RESOURCES: [&str; 4] = ["cpu", "io", "memory", "irq"];

/// Total stall times, us: of some tasks, and of all tasks at once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Stalls {
    some: Option<u64>,
    full: Option<u64>,
}

fn parse(text: &str) -> Stalls {
    let mut stalls = Stalls::default();
    for line in text.lines() {
        let total = || line.split_ascii_whitespace().find_map(|word| word.strip_prefix("total=")?.parse().ok());
        match line.split(' ').next() {
            Some("some") => stalls.some = total(),
            Some("full") => stalls.full = total(),
            _ => {}
        }
    }
    stalls
}

/// Samples the stall times of every resource that the kernel reports.
#[derive(Debug)]
pub(crate) struct Pressure {
    files: Vec<KernelFile>,
    source: SampledSource,
}

impl Pressure {
    /// `None` if the kernel provides none: built without, or started with `psi=0`.
    pub(crate) fn open(kernel: &Kernel) -> Option<Self> {
        let mut files = Vec::new();
        let mut metrics = Vec::new();
        for resource in RESOURCES {
            let Ok(mut file) = KernelFile::open(kernel.proc.join("pressure").join(resource)) else { continue };
            if file.text().is_err() {
                continue;
            }
            files.push(file);
            for (share, help) in [("some", "time at least one task waited"), ("full", "time all tasks waited at once")]
            {
                metrics.push(Metric::counter(format!("{resource}_{share}"), "us", help));
            }
        }
        let source = SampledSource::new(HostSource::Pressure.name(), metrics);
        (!files.is_empty()).then_some(Self { files, source })
    }
}

impl Sampler for Pressure {
    fn source(&self) -> &SampledSource {
        &self.source
    }

    fn read(&mut self) -> Result<Vec<Option<f64>>> {
        let mut values = Vec::with_capacity(self.source.metrics.len());
        for file in &mut self.files {
            let stalls = parse(file.read()?);
            values.extend([stalls.some, stalls.full].map(|total| total.map(|us| us as f64)));
        }
        Ok(values)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn totals_are_read_and_a_missing_line_is_unknown() {
        let text = "some avg10=5.86 avg60=2.45 avg300=3.48 total=60691088\n\
                    full avg10=4.42 avg60=1.92 avg300=3.14 total=56632271\n";
        assert_eq!(parse(text), Stalls { some: Some(60_691_088), full: Some(56_632_271) });
        assert_eq!(parse("full avg10=0.00 avg60=0.00 avg300=0.00 total=3\n"), Stalls { some: None, full: Some(3) });
    }

    #[test]
    fn a_kernel_without_pressure_gives_no_source() {
        let folder = tempfile::tempdir().unwrap();
        let kernel = Kernel { proc: folder.path().to_owned(), ..Kernel::default() };
        assert!(Pressure::open(&kernel).is_none());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn no_text_makes_the_parser_panic(text in "(some|full|total=|[0-9]+| |\\PC|\n){0,60}") {
            let _ = parse(&text);
        }
    }
}
