//! The differences of two sides: each a mark with its interval, and the line of no difference.

use crate::comparison::{Difference, Differences, change, interval_words};
use crate::drawing::bars::{Bar, Bars};
use crate::drawing::frame::{Drawing, Heading};
use crate::drawing::plot::Axis;
use crate::drawing::scale::{Unit, drawable};
use crate::table::Side::{Left, Right};
use crate::table::{Column, Table};

pub(crate) const NAME: &str = "differences";

/// From this ratio on, or below its inverse, the axis is logarithmic.
const FAR: f64 = 4.0;

/// The chart; `None` without a difference to draw.
pub(crate) fn drawing(compared: &Differences) -> Option<Drawing> {
    let is_drawn = |ratio: f64| drawable(ratio) && ratio > 0.0;
    let rows: Vec<&Difference> = compared.rows.iter().filter(|row| is_drawn(row.ratio)).collect();
    if rows.is_empty() {
        return None;
    }
    let ends = |row: &Difference| row.interval.map(|interval| [interval.low, interval.high]);
    let ratios = rows.iter().flat_map(|row| [[row.ratio; 2], ends(row).unwrap_or([row.ratio; 2])].concat());
    let by_ratio = ratios.filter(|ratio| is_drawn(*ratio)).any(|ratio| !(1.0 / FAR..=FAR).contains(&ratio));
    let place = |ratio: f64| if by_ratio { ratio } else { (ratio - 1.0) * 100.0 };
    let bar = |row: &&Difference| Bar {
        name: row.name.clone(),
        mark: Some(place(row.ratio)),
        interval: ends(row).map(|ends| ends.map(place)),
        value: change(row.ratio),
        remark: if row.interval.is_some() { String::new() } else { "no interval".to_owned() },
        ..Bar::default()
    };
    let name = if by_ratio { "candidate by baseline, as a factor" } else { "difference in percent" };
    let margin = compared.margin;
    let heading = Heading::new(
        NAME,
        "Differences between candidate and baseline",
        format!("{} against {}: right of the line, the candidate has more.", compared.names[1], compared.names[0]),
        format!(
            "More throughput is better, more latency is worse. A bar is the interval of the difference; the table has its \
             confidence. Differences within the grey band, up to {:.1} %, do not matter here.",
            margin * 100.0
        ),
    );
    let bars = Bars {
        heading,
        rows: rows.iter().map(bar).collect(),
        axis: Some(Axis { name: name.to_owned(), unit: Unit::Number, log: by_ratio }),
        reach: if by_ratio { vec![0.5, 2.0] } else { vec![-150.0 * margin, 150.0 * margin] },
        guide: Some((place(1.0), "no difference")),
        band: Some([1.0 / (1.0 + margin), 1.0 + margin].map(place)),
        table: table(compared),
    };
    Some(bars.drawing())
}

pub(crate) fn table(compared: &Differences) -> Table {
    let columns: [Column<Difference>; 6] = [
        ("figure", Left, &|row| row.name.clone()),
        (&compared.names[0], Right, &|row| row.baseline.clone()),
        (&compared.names[1], Right, &|row| row.candidate.clone()),
        ("difference", Right, &|row| change(row.ratio)),
        ("interval", Left, &|row| interval_words(row.interval)),
        ("remark", Left, &|row| row.remark.clone()),
    ];
    Table::of(&compared.rows, &columns)
}
