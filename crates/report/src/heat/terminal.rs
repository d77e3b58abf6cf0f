//! The maps in characters: `mindful show --heat-map`.

use std::fmt::Write as _;

use mindful_analyze::Analysis;
use mindful_analyze::figures::heat::{Fineness, Heat, HeatMap};
use mindful_core::record::run::{Run, StepRecord};

use super::{Of, axis, heading, maps, peak, shade, slow, timed};
use crate::style::{Style, Tone};
use crate::{card, escape, figure, table};

/// Shades from the faintest to the strongest, after the blank of an empty cell.
const SHADES: [char; 6] = [' ', '·', '░', '▒', '▓', '█'];
/// Ratio of the values of a shade and the one before it.
const FACTOR: f64 = 4.0;
/// Bands of a factor of ten.
const BANDS: usize = 5;
/// Columns next to the two maps: the latency, the shares, and gaps.
const BESIDE: usize = 28;

pub fn report(run: &Run, analysis: &Analysis, style: &Style) -> String {
    let mut text = String::new();
    let most = (style.columns() - BESIDE) / 2;
    for (number, (record, step)) in (1..).zip(run.steps.iter().zip(&analysis.steps)) {
        if analysis.steps.len() > 1 {
            let place = card::place(step, number, analysis.steps.len());
            let _ = writeln!(text, "{}\n", style.paint(Tone::Strong, &place));
        }
        let maps = maps(record, step, Fineness { columns: most, bands_a_decade: BANDS });
        if maps.is_empty() {
            text.push_str("  no operation was measured\n\n");
        }
        for (of, map) in maps {
            text.push_str(&pair(&map, most, &title(&map, of, record), style));
            for line in slow(step, of).iter().flat_map(|said| table::wrap(said, style.columns() - 2)) {
                let _ = writeln!(text, "  {line}");
            }
            text.push('\n');
        }
    }
    let _ = writeln!(text, "run {}", escape(&analysis.summary.id));
    text
}

fn title(map: &HeatMap, of: Of, record: &StepRecord) -> String {
    let what = timed(record);
    let apart = axis::span(map.boundaries_s[1] - map.boundaries_s[0]);
    format!("{}: {what} by when an operation began, in columns of {apart}", of.name)
}

fn pair(map: &HeatMap, most: usize, title: &str, style: &Style) -> String {
    let each = most / map.columns();
    let width = each * map.columns();
    let heats = [Heat::Frequency, Heat::Intensity].map(|heat| (heat, map.shares(heat), map.peak_per_s(heat)));
    let mut lines = Vec::new();
    let mut head = format!("{:8}", "");
    for (heat, ..) in &heats {
        let _ = write!(head, " {:room$.room$} {:>7}", heading(*heat), "share", room = width + 1);
    }
    lines.push(style.paint(Tone::Faint, &head));
    for band in (0..map.bands()).rev() {
        let mut line = format!("{:>8}", axis::latency(map.edges_ns[band]));
        for (heat, shares, peak) in &heats {
            let of = |column| shade(map.per_s(*heat, column, band), *peak, SHADES.len() - 1, FACTOR);
            let cells = (0..map.columns()).flat_map(|column| [SHADES[of(column)]].repeat(each));
            let share = if shares[band] > 0.0 { figure::percent(Some(shares[band])) } else { String::new() };
            let _ = write!(line, " │{} {share:>7}", cells.collect::<String>());
        }
        lines.push(line);
    }
    lines.push(style.paint(Tone::Faint, &times(map, width)));
    let mut text = String::new();
    for line in table::wrap(title, style.columns() - 2) {
        let _ = writeln!(text, "  {}", style.paint(Tone::Strong, &line));
    }
    text.push('\n');
    for line in lines {
        let _ = writeln!(text, "{}", line.trim_end());
    }
    let shades = SHADES[1..].iter().map(|shade| format!("{shade}{shade}")).collect::<Vec<_>>().join(" ");
    let _ = writeln!(text, "\n  {shades}  each shade is {FACTOR} times the one before");
    let peaks = format!("{}; {}", peak(map, Heat::Frequency), peak(map, Heat::Intensity));
    for line in table::wrap(&peaks, style.columns() - 2) {
        let _ = writeln!(text, "  {line}");
    }
    text
}

/// Begin and end of the time axis, below each map.
fn times(map: &HeatMap, width: usize) -> String {
    let end = axis::span(map.boundaries_s[map.columns()]);
    let end_at = width.saturating_sub(3).max(end.len() + 1);
    let one = format!(" └0 s{end:>end_at$}");
    let gap = width + 10 - table::columns_of(&one).min(width + 10);
    format!("{:8}{one}{:gap$}{one}", "", "")
}
