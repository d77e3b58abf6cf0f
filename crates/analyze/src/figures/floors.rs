//! The devices below the data, level by level, each compared with the one below it. A level that serves more than it
//! requests has a cache, or is above one.

use std::collections::{BTreeMap, BTreeSet};

use mindful_core::contract::fact::Kept;
use mindful_core::contract::metric::{MetricFamily, SECTOR_BYTES};
use mindful_core::record::run::{Facts, Run};

use crate::figures::counters::Counters;

/// Reads below this are too few to compare with each other, bytes/s.
const QUIET_BYTES_PER_S: f64 = 64.0 * 1024.0;
const WRITTEN: MetricFamily = MetricFamily::Field("sectors_written");
/// Description, in the facts of the host, of a device that reads its file through the page cache.
pub(crate) const BUFFERED: &str = "through the page cache";

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Floor {
    /// Their names, with spaces between.
    pub devices: String,
    pub reads_per_s: f64,
    pub bytes_per_s: f64,
    /// Bytes written a second; 0 where the device does not count them.
    written_per_s: f64,
    /// Kind of the devices, if reported.
    pub layer: Option<String>,
}

/// The layers between the device that serves the data and the device that stores it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) enum Between {
    #[default]
    Nothing,
    /// A cache served a share of the requests to the upper devices.
    Cache {
        /// 0 to 1.
        share: f64,
        /// The upper level, and the lower one that received its requests.
        floors: Box<[Floor; 2]>,
    },
    /// A page cache that served an unknown share.
    PageCache(String),
    Memory(String),
    /// A device backed by a file on invisible storage, and why it is invisible.
    Unseen {
        device: String,
        why: String,
    },
}

/// Prefixes of the keys of facts about each place of `kept`.
pub(crate) fn places(facts: &Facts, kept: Kept) -> impl Iterator<Item = String> + '_ {
    let key = kept.key();
    let places = (1..).map(move |number| if number == 1 { key.to_owned() } else { format!("{key}{number}") });
    places.take_while(|place| facts.contains_key(&format!("{place}.path")))
}

/// The levels of each chain of devices that count their reads, the upper ones first.
pub(crate) fn floors(run: &Run, counters: &Counters) -> Vec<Vec<Floor>> {
    let chains =
        places(&run.environment, Kept::Dataset).filter_map(|place| run.environment.get(&format!("{place}.device")));
    chains
        .map(|chain| chain.split(" < ").filter_map(|level| floor(&run.environment, counters, level)).collect())
        .collect()
}

fn floor(facts: &Facts, counters: &Counters, level: &str) -> Option<Floor> {
    let growth = |device: &str, counter: MetricFamily| {
        let name = counter.metric_name(device);
        let change = counters.0.iter().rev().find(|change| change.name == name)?;
        Some((change.readings[1]?, change.delta? / change.seconds))
    };
    let (mut ever, mut reads_per_s, mut bytes_per_s, mut written_per_s) = (0.0, 0.0, 0.0, 0.0);
    for device in level.split(' ') {
        let (reads, per_s) = growth(device, MetricFamily::ReadsCompleted)?;
        let (sectors, sectors_per_s) = growth(device, MetricFamily::SectorsRead)?;
        ever += reads + sectors;
        reads_per_s += per_s;
        bytes_per_s += sectors_per_s * SECTOR_BYTES;
        written_per_s += growth(device, WRITTEN).map_or(0.0, |(_, per_s)| per_s * SECTOR_BYTES);
    }
    let layers = level.split(' ').filter_map(|device| facts.get(&format!("device.{device}.layer")));
    let layer = layers.cloned().reduce(|all, layer| format!("{all}; {layer}"));
    // Zeros from the start on may mean that a device counts nothing.
    (ever > 0.0).then(|| Floor { devices: level.to_owned(), reads_per_s, bytes_per_s, written_per_s, layer })
}

/// Traffic of a device below that of the data which the latter did not ask for: that of others, bytes/s.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OthersBelow {
    /// The device, or several with spaces between.
    pub devices: String,
    pub read: f64,
    pub written: f64,
    /// All that the device read.
    pub all_read: f64,
}

impl OthersBelow {
    /// The device of `chains` with most of it. A level of more or fewer devices writes or reads other bytes than it is asked
    /// for (a mirror, parity), and so does a device that reads ahead.
    pub(crate) fn most(run: &Run, chains: &[Vec<Floor>]) -> Option<Self> {
        let facts = &run.environment;
        let log = places(facts, Kept::Log).filter_map(|place| facts.get(&format!("{place}.device")));
        let counted = log.filter_map(|chain| chain.split(" < ").next());
        let counted: BTreeSet<&str> =
            counted.chain(chains.iter().filter_map(|floors| Some(&*floors.first()?.devices))).collect();
        let number = |floor: &Floor| floor.devices.split(' ').count();
        let comparable = |pair: &&[Floor]| {
            let buffered = pair[0].layer.as_ref().is_some_and(|layer| layer.contains(BUFFERED));
            !buffered && number(&pair[0]) == number(&pair[1]) && !counted.contains(&*pair[1].devices)
        };
        let pairs: Vec<&[Floor]> = chains.iter().flat_map(|floors| floors.windows(2)).filter(comparable).collect();
        let others = |below: &Floor| {
            let above = pairs.iter().filter(|pair| pair[1].devices == below.devices).map(|pair| &pair[0]);
            let above: BTreeMap<&str, &Floor> = above.map(|floor| (&*floor.devices, floor)).collect();
            let asked = |of: fn(&Floor) -> f64| above.values().map(|floor| of(floor)).sum::<f64>();
            Self {
                devices: below.devices.clone(),
                read: (below.bytes_per_s - asked(|floor| floor.bytes_per_s)).max(0.0),
                written: (below.written_per_s - asked(|floor| floor.written_per_s)).max(0.0),
                all_read: below.bytes_per_s,
            }
        };
        let all = pairs.iter().map(|pair| others(&pair[1]));
        all.max_by(|one, other| (one.read + one.written).total_cmp(&(other.read + other.written)))
    }
}

impl Between {
    /// The difference between the levels of `chains`: the largest one. Differences below the share `least` are not
    /// reported.
    pub(crate) fn from_chains(run: &Run, chains: &[Vec<Floor>], least: f64) -> Self {
        let facts = &run.environment;
        let of_place = |end: &'static str| {
            places(facts, Kept::Dataset).filter_map(move |place| facts.get(&format!("{place}.{end}")))
        };
        let devices: BTreeSet<_> = of_place("device").flat_map(|chain| chain.split([' ', '<'])).collect();
        let reported = |end: &'static str| {
            let named = facts.iter();
            let named =
                named.filter_map(move |(name, fact)| Some((name.strip_prefix("device.")?.strip_suffix(end)?, fact)));
            named.filter(|(device, _)| devices.contains(device))
        };
        let memory = of_place("memory").next().cloned();
        let buffered =
            reported(".layer").find(|(_, layer)| layer.ends_with(BUFFERED)).map(|(device, _)| device.to_owned());
        let pairs = chains.iter().flat_map(|floors| floors.windows(2));
        let asked = pairs.filter(|pair| pair[0].bytes_per_s > QUIET_BYTES_PER_S);
        let shares = asked.map(|pair| (1.0 - pair[1].bytes_per_s / pair[0].bytes_per_s, pair));
        let most = shares.max_by(|one, other| one.0.total_cmp(&other.0)).filter(|(share, _)| *share > least);
        match (memory, most, buffered) {
            (Some(what), ..) => Self::Memory(what),
            (_, Some((share, [above, below])), _) => {
                Self::Cache { share, floors: Box::new([above.clone(), below.clone()]) }
            }
            (.., Some(device)) => Self::PageCache(device),
            _ => {
                let unseen =
                    |(device, why): (&str, &String)| Self::Unseen { device: device.to_owned(), why: why.clone() };
                reported(".below_not_seen").next().map_or(Self::Nothing, unseen)
            }
        }
    }
}
