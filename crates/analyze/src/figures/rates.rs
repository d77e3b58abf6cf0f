//! Figures made from rates of counters over any period: a window, a slice, or the last second. Each is a ratio of
//! rates, so the period cancels out.

use mindful_core::contract::metric::Counter;

/// `part` by `whole`; `None` if the whole did not grow.
pub(crate) fn ratio(rate: impl Fn(Counter) -> Option<f64>, part: Counter, whole: Counter) -> Option<f64> {
    let whole = rate(whole).filter(|rate| *rate > 0.0)?;
    Some(rate(part)? / whole)
}

/// Share of logical reads that the database's cache served.
pub fn hit_ratio(rate: impl Fn(Counter) -> Option<f64>) -> Option<f64> {
    ratio(rate, Counter::PhysicalReads, Counter::LogicalReads).map(|missed| (1.0 - missed).clamp(0.0, 1.0))
}

/// Mean time of a read request in the device's queue and at the device, us.
pub fn device_read_us(rate: impl Fn(Counter) -> Option<f64>) -> Option<f64> {
    ratio(rate, Counter::DeviceReadTimeUs, Counter::DeviceReads)
}

pub fn host_busy_share(rate: impl Fn(Counter) -> Option<f64>) -> Option<f64> {
    ratio(rate, Counter::HostCpuBusyUs, Counter::HostCpuTotalUs)
}

/// Requests at the device on average, from rates a second.
pub fn device_in_flight(rate: impl Fn(Counter) -> Option<f64>) -> Option<f64> {
    rate(Counter::DeviceQueueTimeUs).map(|us| us / 1e6)
}

pub(crate) fn mib_per_s(bytes_per_s: f64) -> String {
    format!("{:.1} MiB/s", bytes_per_s / f64::from(1 << 20))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_or_unknown_counter_has_no_ratio() {
        let of = |physical: Option<f64>, logical: Option<f64>| {
            hit_ratio(move |counter| if counter == Counter::LogicalReads { logical } else { physical })
        };
        assert_eq!(of(Some(25.0), Some(100.0)), Some(0.75));
        assert_eq!(of(Some(0.0), Some(0.0)), None);
        assert_eq!(of(None, Some(100.0)), None);
        // Reads ahead are reads without a waiting session.
        assert_eq!(of(Some(150.0), Some(100.0)), Some(0.0));
    }
}
