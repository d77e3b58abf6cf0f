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
    /// Bytes written a second; `None` where a device does not count them.
    pub written_per_s: Option<f64>,
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

/// The levels of each chain of devices of `kept` that count their reads, the upper ones first.
pub(crate) fn floors(run: &Run, counters: &Counters, kept: Kept) -> Vec<Vec<Floor>> {
    let chains = places(&run.environment, kept).filter_map(|place| run.environment.get(&format!("{place}.device")));
    chains
        .map(|chain| chain.split(" < ").filter_map(|level| floor(&run.environment, counters, level)).collect())
        .collect()
}

fn floor(facts: &Facts, counters: &Counters, level: &str) -> Option<Floor> {
    let growth = |device: &str, counter: MetricFamily| {
        let name = counter.metric_name(device);
        let change = counters.0.iter().rev().find(|change| change.name == name)?;
        Some((change.readings[1]?, change.rate()?))
    };
    let (mut ever, mut reads_per_s, mut bytes_per_s, mut written_per_s) = (0.0, 0.0, 0.0, Some(0.0));
    for device in level.split(' ') {
        let (reads, per_s) = growth(device, MetricFamily::ReadsCompleted)?;
        let (sectors, sectors_per_s) = growth(device, MetricFamily::SectorsRead)?;
        ever += reads + sectors;
        reads_per_s += per_s;
        bytes_per_s += sectors_per_s * SECTOR_BYTES;
        let written = growth(device, WRITTEN).map(|(_, per_s)| per_s * SECTOR_BYTES);
        written_per_s = written_per_s.zip(written).map(|(sum, written)| sum + written);
    }
    let layers = level.split(' ').filter_map(|device| facts.get(&format!("device.{device}.layer")));
    let layer = layers.cloned().reduce(|all, layer| format!("{all}; {layer}"));
    // Zeros from the start on may mean that a device counts nothing.
    (ever > 0.0).then(|| Floor { devices: level.to_owned(), reads_per_s, bytes_per_s, written_per_s, layer })
}

/// Traffic of a device below that of the data which the devices above it did not ask for: that of others, bytes/s.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OthersBelow {
    /// The device, or several with spaces between.
    pub devices: String,
    pub bytes_per_s: f64,
    /// All traffic of the device, bytes/s.
    pub all: f64,
}

impl OthersBelow {
    /// The `traffic` of others at each device below those of `data`. What the devices of `log` ask for is the run's, too.
    ///
    /// A level of more or fewer devices writes or reads other bytes than it is asked for (a mirror, parity), and so does a
    /// device that reads ahead.
    pub(crate) fn find(data: &[Vec<Floor>], log: &[Vec<Floor>], traffic: fn(&Floor) -> Option<f64>) -> Vec<Self> {
        let chains = || data.iter().chain(log);
        let others = |below: &Floor| {
            // The counters of the devices of data and log contain it already.
            if chains().filter_map(|floors| floors.first()).any(|first| first.shares_a_device(below)) {
                return None;
            }
            let mut asked = BTreeMap::new();
            for pair in chains().flat_map(|floors| floors.windows(2)).filter(|pair| pair[1].shares_a_device(below)) {
                let comparable = pair[1].devices == below.devices && pair[0].passes_all_to(below);
                asked.insert(&pair[0].devices, traffic(&pair[0]).filter(|_| comparable)?);
            }
            let all = traffic(below)?;
            let bytes_per_s = (all - asked.values().sum::<f64>()).max(0.0);
            Some(Self { devices: below.devices.clone(), bytes_per_s, all })
        };
        data.iter().flat_map(|floors| floors.iter().skip(1)).filter_map(others).collect()
    }
}

impl Floor {
    fn shares_a_device(&self, other: &Self) -> bool {
        self.devices.split(' ').any(|device| other.devices.split(' ').any(|theirs| theirs == device))
    }

    /// Whether it asks `below` for the bytes that it is asked for.
    fn passes_all_to(&self, below: &Self) -> bool {
        let number = |floor: &Self| floor.devices.split(' ').count();
        let buffered = self.layer.as_ref().is_some_and(|layer| layer.contains(BUFFERED));
        !buffered && number(self) == number(below)
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
