//! The buckets of a histogram, packed: a run of an hour keeps one histogram a second for each session and kind.

use std::fmt;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// `(bucket value in ns, count)`, rising, no bucket twice; as text a list of such pairs.
///
/// In memory each pair is two variable-length integers (LEB128, 7 bits a byte, low ones first): the distance to the
/// bucket before, and the count.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Buckets(Box<[u8]>);

impl Buckets {
    pub fn iter(&self) -> Iter<'_> {
        Iter { rest: &self.0, ns: 0 }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[derive(Debug, Clone)]
pub struct Iter<'a> {
    rest: &'a [u8],
    ns: u64,
}

impl Iter<'_> {
    fn number(&mut self) -> Option<u64> {
        let mut value = 0;
        for place in 0.. {
            let (byte, rest) = self.rest.split_first()?;
            self.rest = rest;
            value |= u64::from(byte & 0x7f) << (7 * place);
            if byte & 0x80 == 0 {
                break;
            }
        }
        Some(value)
    }
}

impl Iterator for Iter<'_> {
    type Item = (u64, u64);

    fn next(&mut self) -> Option<(u64, u64)> {
        self.ns = self.ns.wrapping_add(self.number()?);
        Some((self.ns, self.number()?))
    }
}

impl<'a> IntoIterator for &'a Buckets {
    type Item = (u64, u64);
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

#[derive(Default)]
struct Packer {
    bytes: Vec<u8>,
    ns: u64,
}

impl Packer {
    fn push(&mut self, (ns, count): (u64, u64)) {
        // Wrapping, so that buckets that do not rise come back as they were too.
        self.number(ns.wrapping_sub(self.ns));
        self.number(count);
        self.ns = ns;
    }

    fn number(&mut self, mut value: u64) {
        while value > 0x7f {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    fn packed(self) -> Buckets {
        Buckets(self.bytes.into_boxed_slice())
    }
}

impl FromIterator<(u64, u64)> for Buckets {
    fn from_iter<T: IntoIterator<Item = (u64, u64)>>(pairs: T) -> Self {
        let mut packer = Packer::default();
        pairs.into_iter().for_each(|pair| packer.push(pair));
        packer.packed()
    }
}

impl fmt::Debug for Buckets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

impl Serialize for Buckets {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self)
    }
}

impl<'de> Deserialize<'de> for Buckets {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs;

        impl<'de> Visitor<'de> for Pairs {
            type Value = Buckets;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of [ns, count]")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut pairs: A) -> Result<Buckets, A::Error> {
                let mut packer = Packer::default();
                while let Some(pair) = pairs.next_element()? {
                    packer.push(pair);
                }
                Ok(packer.packed())
            }
        }

        deserializer.deserialize_seq(Pairs)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn packed_histograms_are_equal_in_memory_and_as_text(pairs in prop::collection::vec(any::<(u64, u64)>(), 0..50)) {
            let packed: Buckets = pairs.iter().copied().collect();
            prop_assert_eq!(packed.iter().collect::<Vec<_>>(), pairs.clone());
            let text = serde_json::to_string(&packed).unwrap();
            prop_assert_eq!(&text, &serde_json::to_string(&pairs).unwrap());
            prop_assert_eq!(serde_json::from_str::<Buckets>(&text).unwrap(), packed);
        }
    }

    #[test]
    fn a_slice_of_storage_reads_takes_a_quarter_of_its_pairs() {
        let mut recorder = crate::record::latency::Recorder::new();
        (0..2_000_u64).for_each(|i| recorder.record(80_000 + i * i / 4));
        let buckets = recorder.drain().buckets;
        let pairs = buckets.iter().count();
        assert!(
            pairs > 100 && buckets.0.len() * 4 <= pairs * size_of::<(u64, u64)>(),
            "{pairs} in {} bytes",
            buckets.0.len()
        );
    }
}
