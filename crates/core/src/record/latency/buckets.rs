//! The buckets of a histogram, packed: a run of an hour keeps one histogram a second for each session and kind.

use std::fmt;
use std::iter;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// `(bucket value in ns, count)`, rising, no bucket twice; as text a list of such pairs.
///
/// In memory each pair is two variable-length integers (LEB128, 7 bits a byte, low ones first): the distance to the
/// bucket before, and the count.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Buckets(Box<[u8]>);

impl Buckets {
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        let (mut rest, mut ns) = (&*self.0, 0_u64);
        iter::from_fn(move || {
            ns = ns.wrapping_add(unpack(&mut rest)?);
            Some((ns, unpack(&mut rest)?))
        })
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn unpack(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for place in 0.. {
        let byte = rest.split_off_first()?;
        value |= u64::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            break;
        }
    }
    Some(value)
}

fn pack(bytes: &mut Vec<u8>, mut value: u64) {
    while value > 0x7f {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

impl FromIterator<(u64, u64)> for Buckets {
    fn from_iter<T: IntoIterator<Item = (u64, u64)>>(pairs: T) -> Self {
        let (mut bytes, mut before) = (Vec::new(), 0);
        for (ns, count) in pairs {
            // Wrapping, so that buckets that do not rise come back as they were too.
            pack(&mut bytes, ns.wrapping_sub(before));
            pack(&mut bytes, count);
            before = ns;
        }
        Self(bytes.into_boxed_slice())
    }
}

impl fmt::Debug for Buckets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl Serialize for Buckets {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for Buckets {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::<(u64, u64)>::deserialize(deserializer).map(Self::from_iter)
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
