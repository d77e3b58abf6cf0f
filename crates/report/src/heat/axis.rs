//! Ticks of the two axes.

/// Latencies to name on an axis from `low` to `high` ns: 1, 2 and 5 of each factor of ten, or fewer of them where there
/// would be more than `most`.
pub(crate) fn latencies_ns(low: f64, high: f64, most: usize) -> Vec<f64> {
    let decades = low.log10().floor() as i32..=high.log10().ceil() as i32;
    let among = |steps: &[f64]| -> Vec<f64> {
        let all = decades.clone().flat_map(|decade| steps.iter().map(move |step| step * 10_f64.powi(decade)));
        // Boundaries of bands are powers of ten to a fraction.
        all.filter(|ns| (low * 0.98..=high * 1.02).contains(ns)).collect()
    };
    let finest = [&[1.0, 2.0, 5.0][..], &[1.0, 3.0], &[1.0]].into_iter().map(among);
    let mut finest = finest.skip_while(|ticks| ticks.len() > most);
    finest.next().unwrap_or_else(|| among(&[1.0]))
}

/// Instants to name on an axis from 0 to `end_s`, with their names: at most `most` after the 0, evenly apart, all in
/// one unit.
pub(crate) fn instants(end_s: f64, most: usize) -> Vec<(f64, String)> {
    const APART: [f64; 17] = [
        0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1_800.0, 3_600.0, 7_200.0, 21_600.0,
    ];
    let fits = |apart: &f64| end_s / apart <= most as f64;
    // A record may contain any time.
    let days = || (end_s / (86_400.0 * most.max(1) as f64)).ceil().max(1.0) * 86_400.0;
    let apart = APART.into_iter().find(fits).unwrap_or_else(days);
    let (unit_s, unit) = match apart {
        _ if apart < 60.0 => (1.0, "s"),
        _ if apart < 3_600.0 => (60.0, "min"),
        _ => (3_600.0, "h"),
    };
    let decimals = usize::from(apart < 1.0);
    let tick = |i: usize| (i as f64 * apart, format!("{:.decimals$} {unit}", i as f64 * apart / unit_s));
    (0..=(end_s / apart * 1.001) as usize).map(tick).collect()
}

/// A latency as an axis names it, with at most two digits that matter: `63 us`, `1.6 ms`.
pub(crate) fn latency(ns: f64) -> String {
    let place = 10_f64.powi(ns.log10().floor() as i32 - 1);
    let rounded = (ns / place).round() * place;
    let (value, unit) = match rounded {
        _ if rounded < 999.5 => (rounded, "ns"),
        _ if rounded < 999.5e3 => (rounded / 1e3, "us"),
        _ if rounded < 999.5e6 => (rounded / 1e6, "ms"),
        _ => (rounded / 1e9, "s"),
    };
    let decimals = usize::from(value < 9.95 && (value - value.round()).abs() > 0.04);
    format!("{value:.decimals$} {unit}")
}

/// A length of time in words: `20 s`, `0.5 s`, `5 min`.
pub(crate) fn span(s: f64) -> String {
    match s {
        _ if s >= 180.0 && (s / 60.0 - (s / 60.0).round()).abs() < 0.01 => format!("{:.0} min", s / 60.0),
        _ if (s - s.round()).abs() < 0.05 => format!("{s:.0} s"),
        _ => format!("{s:.1} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_few_and_round() {
        assert_eq!(latencies_ns(63_000.0, 1e6, 8), [1e5, 2e5, 5e5, 1e6]);
        assert_eq!(latencies_ns(1e3, 1e7, 8), [1e3, 1e4, 1e5, 1e6, 1e7]);
        let names = |end_s| instants(end_s, 6).into_iter().map(|(_, name)| name).collect::<Vec<_>>().join(", ");
        assert_eq!(names(0.4), "0.0 s, 0.1 s, 0.2 s, 0.3 s, 0.4 s");
        assert_eq!(names(90.0), "0 s, 20 s, 40 s, 60 s, 80 s");
        assert_eq!(names(3_600.0), "0 min, 10 min, 20 min, 30 min, 40 min, 50 min, 60 min");
        assert_eq!(names(14_400.0), "0 h, 1 h, 2 h, 3 h, 4 h");
        assert_eq!(names(864_000.0), "0 h, 48 h, 96 h, 144 h, 192 h, 240 h");
        assert_eq!(instants(i64::MAX as f64, 6).len(), 7);
    }

    #[test]
    fn names_are_short() {
        let latencies = [1.0, 63_096.0, 100_000.0, 1_584_893.0, 2e6, 9.98e8, 3.6e12].map(latency);
        assert_eq!(latencies, ["1 ns", "63 us", "100 us", "1.6 ms", "2 ms", "1 s", "3600 s"]);
        assert_eq!([2.5, 29.99, 90.0, 300.0, 3_600.0].map(span), ["2.5 s", "30 s", "90 s", "5 min", "60 min"]);
    }
}
