//! Where a text finds room: in its field, on no other text, and across no line that it does not belong to.

/// Left, top, right and bottom.
pub(crate) type Area = [f64; 4];

pub(super) struct FreeSpace {
    field: Area,
    /// `(owner, x and y of both ends)`.
    lines: Vec<(usize, [f64; 4])>,
    taken: Vec<Area>,
}

impl FreeSpace {
    pub(super) fn new(field: Area) -> Self {
        Self { field, lines: Vec::new(), taken: Vec::new() }
    }

    pub(super) fn add_line(&mut self, of: usize, ends: [f64; 4]) {
        self.lines.push((of, ends));
    }

    pub(super) fn occupy(&mut self, area: Area) {
        self.taken.push(area);
    }

    /// Chooses one of `areas` for a text of series `of`: the first free one, if necessary across a line of the series.
    pub(super) fn find(&mut self, of: usize, areas: &[Area]) -> Option<usize> {
        let clear = |area: &Area, own: bool| {
            let strangers = self.lines.iter().filter(|(whose, _)| !own || *whose != of);
            within(area, &self.field)
                && !self.taken.iter().any(|other| overlap(area, other))
                && !strangers.into_iter().any(|(_, ends)| crosses(area, ends))
        };
        let free = |own: bool| areas.iter().position(|area| clear(area, own));
        let at = free(false).or_else(|| free(true))?;
        self.taken.push(areas[at]);
        Some(at)
    }
}

fn within(area: &Area, field: &Area) -> bool {
    area[0] >= field[0] && area[1] >= field[1] && area[2] <= field[2] && area[3] <= field[3]
}

fn overlap(a: &Area, b: &Area) -> bool {
    a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]
}

/// Whether a part of the line lies in `area`.
fn crosses(area: &Area, [x1, y1, x2, y2]: &[f64; 4]) -> bool {
    let (dx, dy) = (x2 - x1, y2 - y1);
    let (mut from, mut to) = (0.0_f64, 1.0_f64);
    // The share of the line that lies on the inner side of each edge (Liang and Barsky).
    for (towards, distance) in [(-dx, x1 - area[0]), (dx, area[2] - x1), (-dy, y1 - area[1]), (dy, area[3] - y1)] {
        if towards == 0.0 {
            if distance < 0.0 {
                return false;
            }
        } else if towards < 0.0 {
            from = from.max(distance / towards);
        } else {
            to = to.min(distance / towards);
        }
    }
    from <= to
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_crosses_an_area_where_a_part_of_it_lies_inside() {
        let area = [10.0, 10.0, 20.0, 20.0];
        for (ends, inside) in [
            ([0.0, 15.0, 30.0, 15.0], true),
            ([0.0, 0.0, 30.0, 30.0], true),
            ([15.0, 0.0, 15.0, 9.0], false),
            ([0.0, 25.0, 25.0, 40.0], false),
            ([0.0, 15.0, 15.0, 40.0], false),
            ([12.0, 12.0, 13.0, 13.0], true),
        ] {
            assert_eq!(crosses(&area, &ends), inside, "{ends:?}");
        }
    }

    #[test]
    fn a_text_crosses_at_most_its_own_line() {
        let mut room = FreeSpace::new([0.0, 0.0, 100.0, 100.0]);
        room.add_line(0, [0.0, 10.0, 100.0, 10.0]);
        let (high, low) = ([5.0, 5.0, 15.0, 15.0], [5.0, 25.0, 15.0, 35.0]);
        assert_eq!(room.find(0, &[high, low]), Some(1), "the free one");
        assert_eq!(room.find(0, &[high, low]), Some(0), "the other is taken");
        assert_eq!(room.find(1, &[[20.0, 5.0, 30.0, 15.0]]), None);
        assert_eq!(room.find(1, &[[-5.0, 50.0, 5.0, 60.0]]), None, "outside");
    }
}
