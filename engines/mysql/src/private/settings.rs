//! The server settings mindful chooses, each with its reason.

use std::fs;
use std::path::Path;

use mindful_core::{Error, Result, plan::units};
use mindful_instance::capacity::{FEWEST_CONNECTIONS, cache_of_all, carries, memory_bytes};
use mindful_instance::options::Mode;
use mindful_instance::program::{Chosen, Purpose};

use crate::flavor::{Flavor, Version};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Known {
    pub version: Version,
    pub mode: Mode,
    pub cache: Option<u64>,
    pub connections: u32,
    pub data_bytes: u64,
    pub free_log_bytes: u64,
    pub memory_bytes: Option<u64>,
    pub direct: bool,
}

const MIB: u64 = 1 << 20;
/// Pages that a connection may hold at a time, with room to spare.
const HELD_BYTES: u64 = 8 * 16_384;

pub(super) fn of_a_new_folder(version: &Version) -> Vec<String> {
    let log = log_setting(version);
    vec![format!("--{log}={}M", SMALLEST_LOG_MIB), "--innodb-buffer-pool-size=64M".to_owned()]
}

/// The settings for `purpose`; the user's (`set`) replace the chosen ones during the measurement.
pub(super) fn choose(facts: &Known, purpose: Purpose, set: &[(String, String)]) -> Result<Vec<Chosen>> {
    let mut chosen = safety(facts);
    chosen.extend(quiet(facts));
    chosen.push(space_for_log(facts));
    chosen.extend(match purpose {
        Purpose::Load => for_load(facts),
        Purpose::Run => for_run(facts)?,
    });
    if purpose == Purpose::Run {
        for (name, value) in set {
            chosen.retain(|other| other.name != *name && !(name == "log_bin" && other.name == NO_BINLOG));
            chosen.push(Chosen::of(name, value, "given by --set"));
        }
    }
    Ok(chosen)
}

/// Disables the binary log, if it is enabled by default.
const NO_BINLOG: &str = "skip_log_bin";

fn safety(facts: &Known) -> Vec<Chosen> {
    let mut chosen = vec![
        Chosen::of("innodb_flush_log_at_trx_commit", "1", "durability is never weakened"),
        Chosen::of("innodb_doublewrite", "ON", "durability is never weakened"),
        Chosen::of("sync_binlog", "1", "durability is never weakened, should there be a binary log"),
        Chosen::of("local_infile", "ON", "a load sends rows from the client"),
    ];
    if facts.version.flavor == Flavor::MySql {
        chosen.push(Chosen::of(NO_BINLOG, "1", "a private server has no replica"));
    }
    chosen
}

/// Nothing but the workload reads, writes or caches.
fn quiet(facts: &Known) -> Vec<Chosen> {
    let mut chosen = vec![
        Chosen::of("innodb_adaptive_hash_index", "OFF", "each visit walks the index, as it does where data is large"),
        Chosen::of("innodb_read_ahead_threshold", "0", "a page is read because it is visited"),
        Chosen::of("innodb_random_read_ahead", "OFF", "a page is read because it is visited"),
        Chosen::of("innodb_flush_neighbors", "0", "a page is written because it is dirty"),
        Chosen::of("innodb_buffer_pool_dump_at_shutdown", "OFF", "a start begins with an empty buffer pool"),
        Chosen::of("innodb_buffer_pool_load_at_startup", "OFF", "a start begins with an empty buffer pool"),
        Chosen::of("innodb_stats_auto_recalc", "OFF", "only the workload uses the tables"),
        Chosen::of("event_scheduler", "OFF", "only the workload is at work"),
    ];
    // MariaDB has no change buffer from 11.0 on, MySQL none by default from 8.4 on.
    if facts.version.flavor == Flavor::MySql || !facts.version.is_from(11, 0) {
        chosen.push(Chosen::of("innodb_change_buffering", "none", "a changed index page is read and written at once"));
    }
    if facts.version.flavor == Flavor::MySql {
        let why = "the progress of purge is reported at once, so that steps without updates need not wait for it";
        chosen.push(Chosen::of("innodb_purge_rseg_truncate_frequency", "1", why));
    }
    let flush = if facts.direct {
        ("O_DIRECT", "a physical read reaches the device, not the page cache")
    } else {
        ("fsync", "this file system does not support direct I/O: the page cache may serve physical reads")
    };
    chosen.push(Chosen::of("innodb_flush_method", flush.0, flush.1));
    chosen
}

pub(super) const SMALLEST_LOG_MIB: u64 = 96;
const LARGEST_LOG_MIB: u64 = 1024;

/// Name of the setting for the size of the redo log: MySQL renamed it in 8.0.30.
fn log_setting(version: &Version) -> &'static str {
    let renamed = version.flavor == Flavor::MySql && (version.major, version.minor, version.patch) >= (8, 0, 30);
    if renamed { "innodb_redo_log_capacity" } else { "innodb_log_file_size" }
}

/// Size of the log, so that few checkpoints occur during the measurement because the log is full; at most an eighth of
/// the free space.
fn space_for_log(facts: &Known) -> Chosen {
    let size = (facts.free_log_bytes / 8 / MIB).clamp(SMALLEST_LOG_MIB, LARGEST_LOG_MIB);
    let size = size / SMALLEST_LOG_MIB * SMALLEST_LOG_MIB;
    Chosen::of(log_setting(&facts.version), format!("{size}M"), "no flush for lack of log space in the window")
}

fn for_load(facts: &Known) -> Vec<Chosen> {
    let pool = (facts.memory_bytes.unwrap_or(0) / 4 / MIB).clamp(64, 512);
    vec![
        Chosen::of("innodb_buffer_pool_size", format!("{pool}M"), "space for unwritten pages of the streams"),
        Chosen::of("max_connections", FEWEST_CONNECTIONS.to_string(), "a load needs few"),
        Chosen::of("innodb_io_capacity", "10000", "pages that a load changed are written at once"),
        Chosen::of("innodb_io_capacity_max", "20000", "pages that a load changed are written at once"),
    ]
}

fn for_run(facts: &Known) -> Result<Vec<Chosen>> {
    let (pool, why) = pool_for_run(facts)?;
    Ok(vec![
        Chosen::of("innodb_buffer_pool_size", format!("{}M", pool.div_ceil(MIB)), why),
        Chosen::of(
            "max_connections",
            facts.connections.to_string(),
            "the requested sessions, and some that observe them",
        ),
        Chosen::of("innodb_io_capacity", "2000", "dirty pages are written as fast as current devices allow"),
        Chosen::of("innodb_io_capacity_max", "4000", "dirty pages are written as fast as current devices allow"),
    ])
}

/// Size of the buffer pool in bytes. In pio mode it is small, but holds the pages in use by all connections. In lio
/// mode it holds all data, with 15 % and 64 MiB to spare.
fn pool_for_run(facts: &Known) -> Result<(u64, &'static str)> {
    let (size, why) = match (facts.cache, facts.mode) {
        (Some(size), _) => (size, "given by --cache"),
        (None, Mode::Pio) => {
            let held = u64::from(facts.connections) * HELD_BYTES;
            ((64 * MIB).max(held.next_multiple_of(8 * MIB)), "small, so that most visits are physical reads")
        }
        (None, Mode::Lio) => {
            let wanted = cache_of_all(facts.data_bytes);
            (wanted.next_multiple_of(128 * MIB), "all data fits, so that no visit is a physical read")
        }
    };
    carries(POOL, size, facts.memory_bytes).map(|()| (size, why))
}

pub(super) fn check_cache(given: Option<u64>) -> Result<()> {
    match given {
        Some(size) if size < SMALLEST_POOL => Err(Error::plan(
            format!("a {POOL} of {} is too small for InnoDB", units::format_bytes(size)),
            format!("pass a --cache of {} or more", units::format_bytes(SMALLEST_POOL)),
        )),
        given => given.map_or(Ok(()), |size| carries(POOL, size, memory_bytes())),
    }
}

/// InnoDB's word for its cache.
const POOL: &str = "buffer pool";
const SMALLEST_POOL: u64 = 8 * MIB;

/// Bytes of the tables of all databases: the contents of a buffer pool, without logs.
pub(super) fn bytes_of_tables(data: &Path) -> u64 {
    let files = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let databases = files(data).filter(|path| path.is_dir());
    let tables = databases.flat_map(|folder| files(&folder).collect::<Vec<_>>());
    let tables = tables.filter(|path| path.extension().is_some_and(|extension| extension == "ibd"));
    tables.filter_map(|path| path.metadata().ok()).map(|meta| meta.len()).sum()
}

/// Whether servers with these settings take reads of tables past the page cache.
pub(super) fn is_direct<'a>(settings: impl IntoIterator<Item = (&'a str, &'a str)>) -> bool {
    // The last one counts.
    let mut direct = false;
    for (name, value) in settings {
        match name {
            "innodb_flush_method" => direct = value.to_ascii_uppercase().starts_with("O_DIRECT"),
            // MariaDB has this setting instead from 11.0 on.
            "innodb_data_file_buffering" => direct = matches!(value.to_ascii_uppercase().as_str(), "OFF" | "0"),
            _ => {}
        }
    }
    direct
}

#[cfg(test)]
mod tests {
    use mindful_instance::capacity::connections_for;

    use super::*;

    fn facts(mode: Mode) -> Known {
        Known {
            version: Version { flavor: Flavor::MariaDb, major: 11, minor: 4, patch: 5 },
            mode,
            cache: None,
            connections: connections_for(32),
            data_bytes: 1 << 30,
            free_log_bytes: 100 << 30,
            memory_bytes: Some(16 << 30),
            direct: true,
        }
    }

    fn value(chosen: &[Chosen], name: &str) -> Option<String> {
        let values: Vec<_> = chosen.iter().filter(|one| one.name == name).collect();
        assert!(values.len() <= 1, "{name} is chosen twice");
        values.first().map(|one| one.value.clone())
    }

    #[test]
    fn durability_and_quiet_are_on_in_every_phase_and_mode() {
        for (mode, purpose) in [(Mode::Pio, Purpose::Run), (Mode::Lio, Purpose::Run), (Mode::Pio, Purpose::Load)] {
            let chosen = choose(&facts(mode), purpose, &[]).unwrap();
            for (name, wanted) in [
                ("innodb_flush_log_at_trx_commit", "1"),
                ("innodb_doublewrite", "ON"),
                ("innodb_adaptive_hash_index", "OFF"),
                ("innodb_flush_method", "O_DIRECT"),
            ] {
                assert_eq!(value(&chosen, name).as_deref(), Some(wanted), "{name}");
            }
        }
    }

    #[test]
    fn settings_that_a_version_lacks_are_not_set() {
        let with = |flavor, major, minor, patch| {
            let version = Version { flavor, major, minor, patch };
            choose(&Known { version, ..facts(Mode::Pio) }, Purpose::Run, &[]).unwrap()
        };
        let [new, old] = [with(Flavor::MariaDb, 11, 4, 5), with(Flavor::MariaDb, 10, 11, 19)];
        let has = |chosen: &[Chosen], name: &str| value(chosen, name).is_some();
        assert!(!has(&new, "innodb_change_buffering") && has(&old, "innodb_change_buffering"));
        assert!(!has(&new, NO_BINLOG) && has(&new, "innodb_log_file_size"));
        let mysql = with(Flavor::MySql, 8, 0, 31);
        assert!(has(&mysql, NO_BINLOG) && has(&mysql, "innodb_redo_log_capacity"));
        let purge = "innodb_purge_rseg_truncate_frequency";
        assert!(has(&mysql, purge) && !has(&new, purge));
        assert!(has(&with(Flavor::MySql, 8, 0, 29), "innodb_log_file_size"));
    }

    #[test]
    fn what_the_user_sets_takes_the_place_of_what_was_chosen() {
        let set = |name: &str, value: &str| vec![(name.to_owned(), value.to_owned())];
        let run = choose(&facts(Mode::Pio), Purpose::Run, &set("innodb_flush_neighbors", "1")).unwrap();
        assert_eq!(value(&run, "innodb_flush_neighbors").as_deref(), Some("1"));
        let load = choose(&facts(Mode::Pio), Purpose::Load, &set("innodb_flush_neighbors", "1")).unwrap();
        assert_eq!(value(&load, "innodb_flush_neighbors").as_deref(), Some("0"));
        let mysql =
            Known { version: Version { flavor: Flavor::MySql, major: 8, minor: 0, patch: 31 }, ..facts(Mode::Pio) };
        let run = choose(&mysql, Purpose::Run, &set("log_bin", "binlog")).unwrap();
        assert_eq!((value(&run, NO_BINLOG), value(&run, "log_bin").as_deref()), (None, Some("binlog")));
    }

    #[test]
    fn a_cached_run_fits_all_data_and_is_refused_beyond_the_memory() {
        let chosen = choose(&facts(Mode::Lio), Purpose::Run, &[]).unwrap();
        let mib: u64 = value(&chosen, "innodb_buffer_pool_size").unwrap().trim_end_matches('M').parse().unwrap();
        assert!((1178..1500).contains(&mib), "{mib}");
        let large = Known { data_bytes: 12 << 30, ..facts(Mode::Lio) };
        let message = choose(&large, Purpose::Run, &[]).unwrap_err().to_string();
        assert!(message.contains("16 GiB") && message.contains("--mode pio"), "{message}");
    }

    #[test]
    fn little_free_space_bounds_the_log() {
        let size = |free_log_bytes| space_for_log(&Known { free_log_bytes, ..facts(Mode::Pio) }).value;
        assert_eq!([size(1 << 20), size(4 << 30), size(1 << 40)], ["96M", "480M", "960M"]);
    }

    #[test]
    fn the_last_setting_decides_direct_io() {
        assert!(is_direct([("innodb_flush_method", "fsync"), ("innodb_flush_method", "O_DIRECT_NO_FSYNC")]));
        assert!(is_direct([("innodb_data_file_buffering", "off")]));
        assert!(!is_direct([("innodb_flush_method", "fsync")]) && !is_direct([]));
    }
}
