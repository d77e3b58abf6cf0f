//! Known signals on the service time over the run, for tests of the steady state.

use std::f64::consts::TAU;

use mindful_core::plan::Bound;
use mindful_core::plan::units::{self, Share};
use mindful_core::workload::draw;
use mindful_core::{Error, Result};

/// A factor on every service time that depends on the time since the start; times in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Signal {
    /// From an instant on, `factor`.
    Step { factor: f64, at_s: f64 },
    /// From 1 to `factor` over some time, then steady.
    Ramp { factor: f64, over_s: f64 },
    /// A sine around 1.
    Cycle { amplitude: f64, period_s: f64 },
    /// Noise that remembers: `x_k = phi x_(k-1) + e_k`, a value each second, with the standard deviation `deviation`.
    Ar1 { phi: f64, deviation: f64 },
}

impl Signal {
    /// `step:1.5@5s`, `ramp:2:10s`, `cycle:20%:4s`, `ar1:0.6:5%`.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let seconds = |text| units::parse_duration(text).map(|d| d.as_secs_f64());
        let part = |text| Share::parse(text).map(|share| share.percent() / 100.0);
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let (first, second) = rest.split_once([':', '@']).unwrap_or((rest, ""));
        match name {
            "step" => Ok(Self::Step { factor: factor(first)?, at_s: seconds(second)? }),
            "ramp" => Ok(Self::Ramp { factor: factor(first)?, over_s: seconds(second)? }),
            "cycle" if seconds(second)? > 0.0 => {
                Ok(Self::Cycle { amplitude: part(first)?, period_s: seconds(second)? })
            }
            "ar1" if factor(first)? < 1.0 => Ok(Self::Ar1 { phi: factor(first)?, deviation: part(second)? }),
            _ => Err(Error::plan(
                format!("`{text}` is not a signal"),
                "write step:1.5@5s, ramp:2:10s, cycle:20%:4s or ar1:0.6:5%",
            )),
        }
    }
}

/// Parses a factor of a duration.
fn factor(text: &str) -> Result<f64> {
    let value = units::parse_number(text)?;
    Bound::Number(0.0, 1e6).check(text).map(|()| value)
}

#[derive(Debug, Clone)]
pub(crate) struct SignalCurve {
    signal: Signal,
    stream: u64,
    second: u64,
    noise: f64,
}

impl SignalCurve {
    /// The curve of `signal`, the same for all sessions of a `seed`.
    pub(crate) fn new(signal: Signal, seed: u64) -> Self {
        Self { signal, stream: draw::mix64(seed ^ 0x5169_6e61), second: 0, noise: 0.0 }
    }

    /// The factor at `at_s` seconds of the run; time does not go back.
    pub(crate) fn factor(&mut self, at_s: f64) -> f64 {
        match self.signal {
            Signal::Step { at_s: from, .. } if at_s < from => 1.0,
            Signal::Step { factor, .. } => factor,
            Signal::Ramp { factor, over_s } => 1.0 + (factor - 1.0) * (at_s / over_s).min(1.0),
            Signal::Cycle { amplitude, period_s } => 1.0 + amplitude * (TAU * at_s / period_s).sin(),
            Signal::Ar1 { phi, deviation } => {
                // Innovations of this size give the series the requested standard deviation: d^2 (1 - phi^2).
                let innovation = deviation * (1.0 - phi * phi).sqrt();
                while self.second < at_s as u64 {
                    self.second += 1;
                    self.noise = phi * self.noise + innovation * gaussian(self.second, self.stream);
                }
                (1.0 + self.noise).max(0.05)
            }
        }
    }
}

/// Standard normal draw `index` of a stream (Box and Muller 1958).
pub(crate) fn gaussian(index: u64, stream: u64) -> f64 {
    let unit = |index: u64| (draw::mix64(stream ^ draw::mix64(index)) >> 11) as f64 / (1_u64 << 53) as f64;
    let (u, v) = (unit(2 * index), unit(2 * index + 1));
    (-2.0 * (1.0 - u).ln()).sqrt() * (TAU * v).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_has_the_deviation_and_the_memory_asked_for() {
        let mut curve = SignalCurve::new(Signal::parse("ar1:0.6:5%").unwrap(), 1);
        let x: Vec<f64> = (0..20_000).map(|s| curve.factor(f64::from(s)) - 1.0).collect();
        let variance = x.iter().map(|v| v * v).sum::<f64>() / x.len() as f64;
        let lag = x.windows(2).map(|w| w[0] * w[1]).sum::<f64>() / x.len() as f64;
        assert!((variance.sqrt() - 0.05).abs() < 0.004, "deviation {}", variance.sqrt());
        assert!((lag / variance - 0.6).abs() < 0.04, "autocorrelation {}", lag / variance);
    }

    #[test]
    fn a_ramp_ends_at_its_factor() {
        let mut curve = SignalCurve::new(Signal::parse("ramp:2:10s").unwrap(), 1);
        assert_eq!((curve.factor(0.0), curve.factor(5.0), curve.factor(30.0)), (1.0, 1.5, 2.0));
    }
}
