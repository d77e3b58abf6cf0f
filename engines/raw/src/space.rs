//! The place of a block: several files as one space, and the part of it in use.

use mindful_core::plan::units::Share;
use mindful_core::{Error, Result};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Combine {
    Concat,
    /// In turns of so many bytes.
    Stripe(u64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Span {
    Part(Share, Share),
    /// Three parts of a thirtieth each: at the start, in the middle, at the end.
    Mix,
}

/// A tenth, in hundredths of a percent.
const TENTH: u32 = Share::WHOLE / 10;

impl Span {
    pub(crate) const FULL: Self = Self::Part(Share::NONE, Share::ALL);

    /// A span from text: a name, or `FROM%..TO%`.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let tenth = |hundredths| Share::from_hundredths(hundredths).unwrap_or(Share::ALL);
        match text {
            "full" => return Ok(Self::FULL),
            "outer" => return Ok(Self::Part(Share::NONE, tenth(TENTH))),
            "inner" => return Ok(Self::Part(tenth(Share::WHOLE - TENTH), Share::ALL)),
            "mix" => return Ok(Self::Mix),
            _ => {}
        }
        let bad = || {
            Error::plan(format!("`{text}` is not a span"), "write full, outer, inner, mix, or a part such as 10%..20%")
        };
        let (from, to) = text.split_once("..").ok_or_else(bad)?;
        let (from, to) = (Share::parse(from)?, Share::parse(to)?);
        if from < to { Ok(Self::Part(from, to)) } else { Err(bad()) }
    }

    /// A list of spans for a placement test: `outer,inner,mix,full`. Each stays the text that the option `span` takes.
    pub fn parse_list(text: &str) -> Result<Vec<(String, Self)>> {
        text.split(',').map(str::trim).map(|name| Ok((name.to_owned(), Self::parse(name)?))).collect()
    }

    /// The pieces of `units` that it allocates, with begin and length.
    fn pieces(self, units: u64) -> (Vec<u64>, u64) {
        let at = |share: Share| (u128::from(units) * u128::from(share.hundredths()) / u128::from(Share::WHOLE)) as u64;
        match self {
            Self::Part(from, to) => (vec![at(from)], at(to) - at(from)),
            Self::Mix => {
                let len = units / 30;
                (vec![0, (units - len) / 2, units - len], len)
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extent {
    pub start: u64,
    pub bytes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// Number of the file, from 0.
    pub(crate) file: u32,
    pub(crate) offset: u64,
}

/// The part in use of one or more files, in units of one I/O.
#[derive(Debug, Clone)]
pub(crate) struct Space {
    unit: u64,
    starts: Vec<u64>,
    piece_units: u64,
    order: Order,
}

#[derive(Debug, Clone)]
enum Order {
    One(u64),
    /// `(first unit, first byte)` of each file.
    Concat(Vec<(u64, u64)>),
    /// First byte of each file, and units in a stripe.
    Stripe(Vec<u64>, u64),
}

impl Space {
    /// The space of `extents`, in units of `unit` bytes; refuses one that is empty.
    pub(crate) fn new(extents: &[Extent], combine: Combine, span: Span, unit: u64) -> Result<Self> {
        let (order, units) = match (extents, combine) {
            ([one], _) => (Order::One(one.start), one.bytes / unit),
            (_, Combine::Concat) => {
                let mut units = 0;
                let mut firsts = Vec::with_capacity(extents.len());
                for extent in extents {
                    firsts.push((units, extent.start));
                    units += extent.bytes / unit;
                }
                (Order::Concat(firsts), units)
            }
            (_, Combine::Stripe(stripe)) => {
                let stripes = extents.iter().map(|e| e.bytes / stripe).min().unwrap_or(0);
                let starts = extents.iter().map(|e| e.start).collect();
                (Order::Stripe(starts, stripe / unit), stripes * extents.len() as u64 * (stripe / unit))
            }
        };
        let (starts, piece_units) = span.pieces(units);
        if piece_units == 0 {
            return Err(Error::plan(
                format!("the space in use is smaller than one I/O of {unit} bytes"),
                "use a larger file or --span, or a smaller --block-size",
            ));
        }
        Ok(Self { unit, starts, piece_units, order })
    }

    pub(crate) fn units(&self) -> u64 {
        self.piece_units * self.starts.len() as u64
    }

    pub(crate) fn unit(&self) -> u64 {
        self.unit
    }

    #[inline]
    pub(crate) fn place(&self, number: u64) -> Place {
        debug_assert!(number < self.units());
        let unit = match self.starts[..] {
            [start] => start + number,
            _ => self.starts[(number / self.piece_units) as usize] + number % self.piece_units,
        };
        match &self.order {
            Order::One(start) => Place { file: 0, offset: start + unit * self.unit },
            Order::Concat(firsts) => {
                let file = firsts.partition_point(|(first, _)| *first <= unit) - 1;
                let (first, start) = firsts[file];
                Place { file: file as u32, offset: start + (unit - first) * self.unit }
            }
            Order::Stripe(starts, stripe_units) => {
                let (stripe, within) = (unit / stripe_units, unit % stripe_units);
                let files = starts.len() as u64;
                let file = stripe % files;
                let offset = starts[file as usize] + (stripe / files * stripe_units + within) * self.unit;
                Place { file: file as u32, offset }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    const FILES: [Extent; 3] = [
        Extent { start: 4_096, bytes: 1 << 20 },
        Extent { start: 0, bytes: (1 << 20) + 512 },
        Extent { start: 8_192, bytes: 3 << 20 },
    ];

    fn all(space: &Space) -> Vec<Place> {
        (0..space.units()).map(|n| space.place(n)).collect()
    }

    #[test]
    fn every_unit_has_its_own_place_inside_its_file() {
        for combine in [Combine::Concat, Combine::Stripe(65_536)] {
            for span in ["full", "outer", "inner", "mix", "20%..55.5%"] {
                for files in [&FILES[..1], &FILES[..]] {
                    let space = Space::new(files, combine, Span::parse(span).unwrap(), 8_192).unwrap();
                    let places = all(&space);
                    let distinct: HashSet<_> = places.iter().map(|p| (p.file, p.offset)).collect();
                    assert_eq!(distinct.len(), places.len(), "{combine:?} {span}");
                    for place in places {
                        let extent = files[place.file as usize];
                        assert!(place.offset >= extent.start, "{place:?}");
                        assert!(place.offset + 8_192 <= extent.start + extent.bytes, "{place:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn stripes_take_turns() {
        let space = Space::new(&FILES, Combine::Stripe(16_384), Span::FULL, 8_192).unwrap();
        let files: Vec<_> = all(&space).iter().take(8).map(|p| p.file).collect();
        assert_eq!(files, [0, 0, 1, 1, 2, 2, 0, 0]);
    }

    #[test]
    fn outer_is_the_beginning_and_inner_the_end() {
        let one = [Extent { start: 0, bytes: 100 * 4_096 }];
        let at = |span| all(&Space::new(&one, Combine::Concat, Span::parse(span).unwrap(), 4_096).unwrap());
        assert_eq!(at("outer").last().unwrap().offset, 9 * 4_096);
        assert_eq!(at("inner")[0].offset, 90 * 4_096);
        assert_eq!(at("mix").len(), 9);
    }

    #[test]
    fn a_space_without_a_unit_is_refused() {
        let tiny = [Extent { start: 0, bytes: 4_095 }];
        assert!(Space::new(&tiny, Combine::Concat, Span::FULL, 4_096).is_err());
        assert!(Span::parse("50%..20%").is_err());
        assert!(Span::parse("all").is_err());
    }
}
