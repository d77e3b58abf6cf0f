//! Small pictures in characters: a line of blocks, and a curve in braille; in ASCII where a terminal has no more.

use super::scale::drawable;

const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const ASCII_BLOCKS: [char; 8] = ['_', '.', ',', '-', '~', '=', '+', '#'];
/// Ratio of the greatest value to the least from which the axis is logarithmic.
const BY_RATIO: f64 = 40.0;

/// A point of a curve, with its label.
#[derive(Debug, Clone)]
pub(crate) struct Spot {
    pub x: f64,
    pub y: f64,
    pub label: String,
}

/// `values` from 0 up as at most `columns` characters; a blank where one is not known.
pub(crate) fn sparkline(values: &[Option<f64>], columns: usize, ascii: bool) -> String {
    let levels = if ascii { ASCII_BLOCKS } else { BLOCKS };
    let known = |value: &Option<f64>| value.filter(|value| drawable(*value) && *value >= 0.0);
    let each = values.len().div_ceil(columns.max(1)).max(1);
    // Of several in one character the highest: a spike must be visible.
    let merged = values.chunks(each).map(|part| part.iter().filter_map(known).reduce(f64::max));
    let merged: Vec<Option<f64>> = merged.collect();
    let most = merged.iter().flatten().copied().fold(0.0, f64::max);
    let level = |value: f64| if most > 0.0 { (value / most * 8.0).ceil().clamp(1.0, 8.0) as usize - 1 } else { 0 };
    merged.into_iter().map(|value| value.map_or(' ', |value| levels[level(value)])).collect()
}

/// A curve in `wide` columns and `high` lines from the origin up, from top to bottom; no axes.
pub(crate) fn curve(spots: &[Spot], wide: usize, high: usize, ascii: bool) -> Vec<String> {
    let mut field = Field { wide, high, dots: vec![0; wide * high], over: vec![None; wide * high] };
    let spots: Vec<&Spot> = spots.iter().filter(|spot| drawable(spot.x) && drawable(spot.y) && spot.y > 0.0).collect();
    let most = |figure: fn(&Spot) -> f64| spots.iter().map(|spot| figure(spot)).fold(0.0, f64::max).max(1e-9);
    let (far, top) = (most(|spot| spot.x), most(|spot| spot.y));
    let least = spots.iter().map(|spot| spot.y).fold(f64::INFINITY, f64::min);
    let log = goes_by_ratio(least, top);
    let place = |spot: &Spot| {
        let up = if log { (spot.y / (least / 1.3)).ln() / (top / (least / 1.3)).ln() } else { spot.y / top };
        let (x, y) = (spot.x.max(0.0) / far, 1.0 - up.clamp(0.0, 1.0));
        (x * (wide * 2 - 1) as f64, y * (high * 4 - 1) as f64)
    };
    let places: Vec<(f64, f64)> = spots.iter().map(|spot| place(spot)).collect();
    places.windows(2).for_each(|pair| field.draw_line(pair[0], pair[1]));
    for (spot, (x, y)) in spots.iter().zip(&places) {
        field.spot(*x as usize / 2, *y as usize / 4, &spot.label, if ascii { 'o' } else { '●' });
    }
    field.lines(ascii)
}

pub(crate) fn goes_by_ratio(least: f64, most: f64) -> bool {
    least > 0.0 && most > BY_RATIO * least
}

struct Field {
    wide: usize,
    high: usize,
    /// Dots of braille, a byte a character.
    dots: Vec<u8>,
    over: Vec<Option<char>>,
}

impl Field {
    fn draw_line(&mut self, (x, y): (f64, f64), (to_x, to_y): (f64, f64)) {
        let steps = (to_x - x).abs().max((to_y - y).abs()).ceil().max(1.0);
        for step in 0..=steps as usize {
            let share = step as f64 / steps;
            self.dot((x + (to_x - x) * share).round() as usize, (y + (to_y - y) * share).round() as usize);
        }
    }

    fn dot(&mut self, x: usize, y: usize) {
        const BITS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
        if let Some(dots) = self.dots.get_mut(y / 4 * self.wide + x / 2).filter(|_| x / 2 < self.wide) {
            *dots |= BITS[y % 4][x % 2];
        }
    }

    /// A mark, and its label to the left of it or to the right, where there is room.
    fn spot(&mut self, x: usize, y: usize, label: &str, mark: char) {
        let (row, length) = (y * self.wide, label.chars().count());
        let free = |field: &Self, from: usize| {
            let around = from.saturating_sub(1)..(from + length + 1).min(field.wide);
            from + length <= field.wide && around.filter(|at| *at != x).all(|at| field.over[row + at].is_none())
        };
        if let Some(over) = self.over.get_mut(row + x) {
            *over = Some(mark);
        }
        let left = x.checked_sub(length + 1).filter(|from| free(self, *from));
        let from = left.or_else(|| Some(x + 2).filter(|from| free(self, *from)));
        for (at, c) in from.into_iter().flat_map(|from| (row + from..).zip(label.chars())) {
            self.over[at] = Some(c);
        }
    }

    fn lines(&self, ascii: bool) -> Vec<String> {
        let character = |at: usize| match (self.over[at], self.dots[at]) {
            (Some(over), _) => over,
            (None, 0) => ' ',
            (None, _) if ascii => '.',
            (None, dots) => char::from_u32(0x2800 + u32::from(dots)).unwrap_or(' '),
        };
        (0..self.high).map(|row| (row * self.wide..(row + 1) * self.wide).map(character).collect()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_blocks_begins_at_nothing_and_keeps_spikes() {
        let values = [0.0, 1.0, 2.0, 4.0, 8.0].map(Some);
        assert_eq!(sparkline(&values, 5, false), "▁▁▂▄█");
        assert_eq!(sparkline(&values, 5, true), "__.-#");
        let spiked: Vec<_> = (0..100).map(|at| Some(if at == 57 { 9.0 } else { 1.0 })).collect();
        assert_eq!(sparkline(&spiked, 10, false).matches('█').count(), 1);
        assert_eq!(sparkline(&[Some(1.0), None, Some(f64::NAN), Some(1e308)], 9, false), "█   ");
        assert_eq!(sparkline(&[], 9, false), "");
    }

    #[test]
    fn a_curve_has_all_its_points_with_their_labels() {
        let spot = |x: f64, y: f64, label: &str| Spot { x, y, label: label.into() };
        let spots = [spot(100.0, 1.0, "1"), spot(200.0, 1.1, "2"), spot(390.0, 1.5, "4"), spot(400.0, 3.0, "8")];
        let drawn = curve(&spots, 30, 6, true);
        assert!(drawn.len() == 6 && drawn.iter().all(|line| line.chars().count() == 30), "{drawn:#?}");
        let all = drawn.concat();
        assert_eq!(all.matches('o').count(), 4, "{drawn:#?}");
        assert!(["1", "2", "4", "8"].into_iter().all(|label| all.contains(label)), "{drawn:#?}");
        assert!(drawn[0].ends_with("8 o"), "the highest and the farthest is the last: {drawn:#?}");
        assert!(curve(&spots, 30, 6, false).concat().chars().any(|c| ('\u{2801}'..='\u{28ff}').contains(&c)));
    }

    #[test]
    fn labels_of_neighbours_do_not_touch() {
        let spot = |x: f64, label: &str| Spot { x, y: 1.0, label: label.into() };
        let row = curve(&[spot(96.0, "4"), spot(99.0, "5"), spot(100.0, "6")], 60, 1, true).concat();
        assert!(!["45", "54", "56", "65", "46"].iter().any(|pair| row.contains(pair)), "{row}");
    }

    #[test]
    fn no_figure_breaks_a_curve() {
        for x in [f64::NAN, 1e308, -1e308, 0.0, 5e-324] {
            let spots = [Spot { x, y: 1.0, label: "1".into() }, Spot { x: 1.0, y: x, label: "long label".repeat(9) }];
            assert_eq!(curve(&spots, 20, 4, false).len(), 4);
        }
    }
}
