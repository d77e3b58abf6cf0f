//! Claims of a headline about its reads. Each claim compares two adjacent levels of the ledger in both directions. If
//! they differ, the headline uses a plainer word and shows the difference.

use mindful_core::contract::fact::{Fact, Kept};
use mindful_core::contract::metric::Counter;
use mindful_core::plan::units::{format_bytes, format_rounded};
use mindful_core::record::run::{Run, StepHead};
use mindful_core::result::StepSummary;
use mindful_core::stored_names;

use crate::figures::blocks::{self, SINGLE_BLOCK};
use crate::figures::counters::{Change, Counters};
use crate::figures::floors::{Between, Floor, OthersBelow, floors};
use crate::figures::rates::mib_per_s;
use crate::judgement::subject::{Subject, part, percent};

/// Largest page-cache share with which reads are storage reads.
pub(crate) const MAX_PAGE_CACHE_SHARE: f64 = 0.05;
/// Largest share of device traffic that others may cause.
pub(crate) const MAX_FOREIGN_SHARE: f64 = 0.05;
/// Fewest physical reads by blocks visited: below, the database's cache served a part.
pub(crate) const MIN_YIELD: f64 = 0.9;
/// Most physical reads by blocks visited: above, something else than the method reads.
pub(crate) const MAX_YIELD: f64 = 1.15;
/// Least of a level by the one above it, where both count the same reads.
const LEAST_SERVED: f64 = 0.95;
const MOST_SERVED: f64 = 1.15;
/// Foreign traffic below this is not worth a word, bytes/s: a journal, a log.
const QUIET_BYTES_PER_S: f64 = 64.0 * 1024.0;
/// Foreign traffic below this share of the run's reads and the device's writes is not reported.
const QUIET_SHARE: f64 = 0.01;
/// Requests of others below this are not worth a word, 1/s: a journal, a log.
const QUIET_REQUESTS_PER_S: f64 = 16.0;
/// Most unread blocks by the share of the files that are holes, if holes alone explain them.
const MOST_BY_HOLES: f64 = 3.0;
/// Length from which on a block is large: the kernel may split its request.
pub(super) const LARGE_BLOCK: u64 = 128 << 10;

/// Reads per second, level by level; `None` if unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Levels {
    database_bytes: Option<f64>,
    process_bytes: Option<f64>,
    device_bytes: Option<f64>,
    /// Blocks that the database read, if each needs a request of its own.
    blocks: Option<f64>,
    requests: Option<f64>,
    block_bytes: Option<u64>,
    /// Bytes that the run's own sessions fetched, if their processes are counted separately.
    session_bytes: Option<f64>,
    /// Bytes written at the device. A run that only writes is not disturbed by a few reads of others.
    written_bytes: Option<f64>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Gates {
    /// Page-cache share `phi = 1 - PIO_proc / PIO_db`.
    pub page_cache_share: Option<f64>,
    /// `1 - process bytes / device bytes` for reads.
    pub foreign_share: Option<f64>,
    /// Yield of the method, `y = PIO_db / blocks visited`. An update of a file writes its blocks and reads none.
    pub method_yield: Option<f64>,
    /// Blocks per read request, if the run requests only single blocks; `None` if requests are not reported.
    pub blocks_per_request: Option<f64>,
    /// Share of the files that was never written: the kernel answers it without a read.
    pub holes_share: f64,
    /// The layers between the device that serves and the device that stores.
    pub(crate) between: Between,
    pub(crate) levels: Levels,
    /// Reads of others at the devices below those of the data.
    reads_below: Vec<OthersBelow>,
    /// Writes of others at the device below that of the data with most of them.
    pub(crate) writes_below: Option<OthersBelow>,
}

stored_names! {
    /// From the top of the ledger down; each with the words of a headline if it holds.
    pub enum Claim {
        /// The database read each visited block once, by a separate request: blocks visited against physical reads.
        OneReadPerBlock = "one physical read per block",
        /// Physical reads against process reads.
        PageCacheOutOfTheWay = "page cache out of the way",
        /// Process bytes against those of the device: the device has more.
        DeviceQuiet = "device quiet",
        /// Process bytes against those of the device: the device has fewer.
        ReadFromDevice = "read from the device of the data",
        /// Physical reads against requests at the device.
        OneRequestPerRead = "one request per read",
        /// The device compared with the layer below it.
        Stored = "no cache below the device",
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum Held {
    Yes,
    No(String),
    Unknown(&'static str),
}

impl Held {
    /// The evidence against it; `None` if it holds.
    fn doubt(self) -> Option<String> {
        match self {
            Self::Yes => None,
            Self::No(why) => Some(why),
            Self::Unknown(why) => Some(why.to_owned()),
        }
    }
}

impl Claim {
    /// Levels that count differently, unless the page cache or other processes explain it.
    pub(crate) fn unexplained(gates: &Gates) -> Vec<String> {
        let cached = gates.cached().is_some();
        let claims = [Self::PageCacheOutOfTheWay, Self::ReadFromDevice, Self::OneRequestPerRead];
        let claims = claims.into_iter().filter(|claim| !cached || *claim != Self::PageCacheOutOfTheWay);
        let differs = claims.filter_map(|claim| match claim.held(gates) {
            Held::No(figures) => Some(figures),
            Held::Yes | Held::Unknown(_) => None,
        });
        differs.collect()
    }

    pub fn held(self, gates: &Gates) -> Held {
        match self {
            Self::OneReadPerBlock => one_read_per_block(gates),
            Self::PageCacheOutOfTheWay => page_cache(gates),
            Self::DeviceQuiet => device_quiet(gates),
            Self::ReadFromDevice => read_from_device(gates),
            Self::OneRequestPerRead => one_request_per_read(gates),
            Self::Stored => below(&gates.between).map_or(Held::Yes, Held::No),
        }
    }
}

impl Levels {
    /// Foreign reads that are negligible, bytes/s.
    fn quiet_bytes(&self) -> f64 {
        let all = self.database_bytes.unwrap_or(0.0) + self.written_bytes.unwrap_or(0.0);
        QUIET_BYTES_PER_S.max(QUIET_SHARE * all)
    }

    /// Blocks that other processes of the server fetched, unless negligible.
    pub(crate) fn foreign_sessions_evidence(&self) -> Option<String> {
        let (all, own) = self.process_bytes.zip(self.session_bytes)?;
        let most = QUIET_BYTES_PER_S.max(MAX_FOREIGN_SHARE * all);
        let figures =
            || format!("the server's processes fetched {}, those of this run {}", mib_per_s(all), mib_per_s(own));
        (all - own > most).then(figures)
    }
}

fn one_read_per_block(gates: &Gates) -> Held {
    let single = gates.blocks_per_request.filter(|blocks| *blocks > SINGLE_BLOCK);
    let single = single.map(|blocks| format!("{blocks:.2} blocks a read request: not all were read one by one"));
    let visited = match gates.method_yield {
        None => return Held::Unknown("the target does not count physical reads"),
        Some(y) if y < MIN_YIELD => Some(format!("the database's cache served {} of the blocks", percent(1.0 - y))),
        Some(y) if y > MAX_YIELD => {
            Some(format!("{y:.2} reads for each block visited: others read, or reads are not single blocks"))
        }
        Some(_) => None,
    };
    visited.into_iter().chain(single).reduce(|one, other| format!("{one}; {other}")).map_or(Held::Yes, Held::No)
}

fn device_quiet(gates: &Gates) -> Held {
    let caused = || gates.foreign_reads().map(|share| format!("others caused {share}"));
    match (gates.levels.foreign_sessions_evidence().or_else(caused), gates.foreign_share) {
        (Some(why), _) => Held::No(why),
        (None, None) => Held::Unknown("the device is not seen"),
        (None, Some(_)) => Held::Yes,
    }
}

fn page_cache(gates: &Gates) -> Held {
    let levels = &gates.levels;
    match gates.page_cache_share {
        None => Held::Unknown("the share of the page cache is not visible"),
        Some(phi) if phi > MAX_PAGE_CACHE_SHARE => {
            Held::No(format!("the page cache served {} of the reads", part(phi)))
        }
        Some(_) => match levels.database_bytes.zip(levels.process_bytes) {
            Some((asked, fetched)) if fetched > asked * MOST_SERVED => Held::No(format!(
                "the server's processes fetched {}, the database read {}",
                mib_per_s(fetched),
                mib_per_s(asked)
            )),
            _ => Held::Yes,
        },
    }
}

/// Fewer bytes than were fetched from storage: the data lies elsewhere, or something above the device kept it.
fn read_from_device(gates: &Gates) -> Held {
    let levels = &gates.levels;
    let few = if gates.cached().is_some() { levels.quiet_bytes() } else { 0.0 };
    match levels.process_bytes.zip(levels.device_bytes) {
        Some((fetched, read)) if read < fetched * LEAST_SERVED - few => Held::No(format!(
            "the server's processes fetched {}, the device of the data read {}",
            mib_per_s(fetched),
            mib_per_s(read)
        )),
        Some(_) => Held::Yes,
        None => Held::Unknown("the device is not seen"),
    }
}

/// Reads that the page cache serves cause no request. Bytes of others do not show the number of their requests.
fn one_request_per_read(gates: &Gates) -> Held {
    let levels = &gates.levels;
    let (Some(read), Some(requests)) = (levels.blocks, levels.requests) else { return Held::Yes };
    let others = gates.foreign_share.is_some_and(|share| share > MAX_FOREIGN_SHARE);
    let cached = gates.cached();
    let blocks = read * (1.0 - cached.unwrap_or(0.0));
    let what = if cached.is_some() { "reads past the page cache" } else { "physical reads" };
    let few = QUIET_REQUESTS_PER_S.max(QUIET_SHARE * read);
    let split =
        levels.block_bytes.is_some_and(|bytes| bytes < LARGE_BLOCK) && requests > blocks * MOST_SERVED + few && !others;
    // Where the page cache serves reads, the few that remain are a difference of two large figures.
    let least = blocks * LEAST_SERVED - if cached.is_some() { few } else { 0.0 };
    if requests >= least && !split {
        return Held::Yes;
    }
    let each = levels.device_bytes.filter(|_| requests > 0.0).map(|bytes| (bytes / requests) as u64);
    let each = each.map_or_else(String::new, |bytes| format!(" of {}", format_bytes(bytes)));
    let [blocks, requests] = [blocks, requests].map(format_rounded);
    Held::No(format!("{blocks} {what}/s, {requests} requests/s{each} at the device"))
}

fn below(between: &Between) -> Option<String> {
    match between {
        Between::Nothing => None,
        Between::Cache { share, floors } => {
            let [Floor { devices, .. }, _] = &**floors;
            Some(format!("a cache below the file system served {} of what {devices} was asked for", part(*share)))
        }
        Between::PageCache(device) => {
            Some(format!("{device} reads its file through the page cache, and how much that served is not known"))
        }
        Between::Memory(what) => Some(what.clone()),
        Between::Unseen { device, why } => Some(format!("nothing is seen below the file of {device}: {why}")),
    }
}

impl Gates {
    pub(crate) fn from_step(
        run: &Run,
        head: &StepHead,
        step: &StepSummary,
        counters: &Counters,
        subject: Subject,
        data: &[Vec<Floor>],
    ) -> Self {
        let block_bytes = subject.block_bytes.map(|bytes| bytes as f64);
        let database_bytes = step.physical_reads_per_s.zip(block_bytes).map(|(reads, bytes)| reads * bytes);
        let written = step.physical_writes_per_s.filter(|_| subject.on_files()).unwrap_or(0.0);
        let visited = step.blocks_visited_per_s.map(|rate| rate - written).filter(|rate| *rate > 0.0);
        let single = !subject.sorted && step.ops.scan.is_none();
        let requests = step.read_requests_per_s.filter(|requests| single && *requests > 0.0);
        let timely = counters.find(Counter::DeviceReads).is_some_and(Change::timely);
        let own = blocks::own_reads(run, head, counters);
        let levels = Levels {
            database_bytes,
            process_bytes: counters.rate(Counter::ProcessReadBytes),
            device_bytes: counters.rate(Counter::DeviceReadBytes),
            blocks: step.physical_reads_per_s.filter(|_| single && timely),
            requests: step.device_reads_per_s,
            block_bytes: subject.block_bytes,
            session_bytes: own.and_then(|_| counters.rate(Counter::SessionReadBytes)),
            written_bytes: counters.rate(Counter::DeviceWriteBytes),
        };
        let holes = Fact::HolesShare.find(&run.environment);
        let log = floors(run, counters, Kept::Log);
        let writes = OthersBelow::find(data, &log, |floor| floor.written_per_s);
        Self {
            page_cache_share: step.page_cache_share,
            foreign_share: foreign_share(&levels),
            method_yield: step.physical_reads_per_s.zip(visited).map(|(reads, blocks)| reads / blocks),
            blocks_per_request: step.physical_reads_per_s.zip(requests).map(|(reads, requests)| reads / requests),
            holes_share: holes.and_then(|share| share.parse().ok()).unwrap_or(0.0),
            between: Between::from_chains(run, data, MAX_PAGE_CACHE_SHARE),
            reads_below: OthersBelow::find(data, &log, |floor| Some(floor.bytes_per_s)),
            writes_below: writes.into_iter().max_by(|one, other| one.bytes_per_s.total_cmp(&other.bytes_per_s)),
            levels,
        }
    }

    /// Whether all claims hold, so that reads may be called storage.
    pub(crate) fn pass(&self) -> bool {
        Claim::ALL.iter().all(|claim| claim.held(self) == Held::Yes)
    }

    /// The share of the page cache, unless negligible.
    pub(crate) fn cached(&self) -> Option<f64> {
        self.page_cache_share.filter(|phi| *phi > MAX_PAGE_CACHE_SHARE)
    }

    /// Why reads may not be called storage, claim by claim.
    pub(crate) fn doubts(&self) -> Vec<String> {
        let mut doubts: Vec<String> = Claim::ALL.iter().filter_map(|claim| claim.held(self).doubt()).collect();
        doubts.dedup();
        doubts
    }

    /// The share of the files that are holes, unless negligible.
    pub(crate) fn holes(&self) -> Option<f64> {
        Some(self.holes_share).filter(|share| *share > MAX_PAGE_CACHE_SHARE)
    }

    /// Whether holes of the files can explain all blocks that no process fetched. A hole takes less time to read than a
    /// block, so the share of reads is larger than that of the files.
    pub(crate) fn explained_by_holes(&self) -> bool {
        let unread = self.page_cache_share.unwrap_or(0.0);
        unread > MAX_PAGE_CACHE_SHARE && self.holes().is_some_and(|holes| unread <= holes * MOST_BY_HOLES)
    }

    /// Reads of others at the device of the data, or below it, unless negligible.
    pub(crate) fn foreign_reads(&self) -> Option<String> {
        let at_device = self.foreign_share.map(|share| (share, "the device's read bytes".to_owned()));
        let below = self.reads_below.iter().filter(|others| others.bytes_per_s > self.levels.quiet_bytes());
        let below =
            below.map(|others| (others.bytes_per_s / others.all, format!("the read bytes of {}", others.devices)));
        let most = at_device.into_iter().chain(below).max_by(|one, other| one.0.total_cmp(&other.0));
        most.filter(|(share, _)| *share > MAX_FOREIGN_SHARE).map(|(share, of)| format!("{} of {of}", percent(share)))
    }
}

/// Share of the device's read bytes that the server's processes did not cause; 0 if it is negligible compared with the
/// database's reads and the device's writes.
fn foreign_share(levels: &Levels) -> Option<f64> {
    let device = levels.device_bytes?;
    let others = device - levels.process_bytes?;
    Some(if others < levels.quiet_bytes() { 0.0 } else { (others / device).clamp(0.0, 1.0) })
}
