//! The server settings mindful chooses, each with its reason.

use mindful_core::Result;
use mindful_instance::capacity::{FEWEST_CONNECTIONS, cache_of_all, carries, memory_bytes};
use mindful_instance::options::Mode;
use mindful_instance::program::{Chosen, Purpose};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Known {
    pub major: u32,
    pub mode: Mode,
    pub cache: Option<u64>,
    pub connections: u32,
    pub data_bytes: u64,
    pub free_log_bytes: u64,
    /// Memory of the host, bytes; `None` if unknown.
    pub memory_bytes: Option<u64>,
    pub direct: bool,
}

const MIB: u64 = 1 << 20;

/// The settings for `purpose`; the user's (`set`) replace the chosen ones during the measurement.
pub(super) fn choose(facts: &Known, purpose: Purpose, set: &[(String, String)]) -> Result<Vec<Chosen>> {
    let mut chosen = safety();
    chosen.extend(space_for_wal(facts.free_log_bytes));
    chosen.extend(match purpose {
        Purpose::Load => for_load(),
        Purpose::Run => for_run(facts)?,
    });
    if facts.major >= 18 {
        chosen.push(Chosen::of(
            "io_method",
            "sync",
            "a process reads for itself, so its time and counters are its own",
        ));
    }
    if purpose == Purpose::Run {
        for (name, value) in set {
            chosen.retain(|other| other.name != *name);
            chosen.push(Chosen::of(name, value, "given by --set"));
        }
    }
    Ok(chosen)
}

fn safety() -> Vec<Chosen> {
    vec![
        Chosen::of("fsync", "on", "durability is never weakened"),
        Chosen::of("full_page_writes", "on", "durability is never weakened"),
        Chosen::of("synchronous_commit", "on", "a commit waits until its log is on storage"),
        Chosen::of("wal_compression", "off", "no CPU is spent to save log"),
        Chosen::of("autovacuum", "off", "only the workload uses the tables"),
        Chosen::of("max_wal_senders", "0", "a private server has no replica"),
        Chosen::of("max_logical_replication_workers", "0", "a private server has no replica"),
        Chosen::of("jit", "off", "no statement is long enough to be compiled"),
        Chosen::of("huge_pages", "try", "fewer TLB misses where the host has huge pages"),
    ]
}

/// No checkpoint that the clock or the log forces falls into the window: the limits are an hour, and as much log as
/// fits a quarter of the free space. Powers of two keep the setting equal between runs even if the free space changes a
/// little.
fn space_for_wal(free_log_bytes: u64) -> [Chosen; 3] {
    let size = 1_u64 << (free_log_bytes / 4 / MIB).clamp(256, 32 << 10).ilog2();
    [
        Chosen::of("max_wal_size", format!("{size}MB"), "no checkpoint for lack of log space in the window"),
        Chosen::of("checkpoint_timeout", "1h", "no timed checkpoint in the window"),
        Chosen::of("wal_buffers", "16MB", "the server's own choice for a larger cache"),
    ]
}

fn for_load() -> Vec<Chosen> {
    vec![
        Chosen::of("shared_buffers", "16MB", "COPY then writes through a ring that stays in the CPU's cache"),
        Chosen::of("max_connections", FEWEST_CONNECTIONS.to_string(), "a load needs few"),
        Chosen::of(
            "wal_level",
            "minimal",
            "a table that its own transaction made needs no log: its files are synced instead",
        ),
        Chosen::of("track_io_timing", "off", "a load is not measured"),
    ]
}

fn for_run(facts: &Known) -> Result<Vec<Chosen>> {
    let (cache, why) = cache_for_run(facts)?;
    let mut chosen = vec![
        Chosen::of("shared_buffers", format!("{}MB", cache.div_ceil(MIB)), why),
        Chosen::of(
            "max_connections",
            facts.connections.to_string(),
            "the requested sessions, and some that observe them",
        ),
        Chosen::of("wal_level", "replica", "the server's own default, as a database in use has it"),
        Chosen::of("track_io_timing", "on", "read and write times are part of the result"),
        Chosen::of("track_wal_io_timing", "on", "the time of a sync is part of the result"),
    ];
    if facts.mode == Mode::Pio && facts.major >= 16 {
        chosen.push(if facts.direct {
            Chosen::of("debug_io_direct", "data", "a physical read reaches the device, not the page cache")
        } else {
            Chosen::of(
                "debug_io_direct",
                "",
                "this file system does not support direct I/O: the page cache may serve physical reads",
            )
        });
    }
    Ok(chosen)
}

/// Size of the cache in bytes. In pio mode it is small, but holds eight blocks for each connection. In lio mode it
/// holds all data, with 15 % and 64 MiB to spare.
fn cache_for_run(facts: &Known) -> Result<(u64, &'static str)> {
    let (size, why) = match (facts.cache, facts.mode) {
        (Some(size), _) => (size, "given by --cache"),
        (None, Mode::Pio) => {
            ((32 * MIB).max(u64::from(facts.connections) * 8 * 8192), "small, so that most visits are physical reads")
        }
        (None, Mode::Lio) => {
            let wanted = cache_of_all(facts.data_bytes);
            (wanted.next_multiple_of(64 * MIB).max(128 * MIB), "all data fits, so that no visit is a physical read")
        }
    };
    carries("cache", size, facts.memory_bytes).map(|()| (size, why))
}

pub(super) fn check_cache(given: Option<u64>) -> Result<()> {
    given.map_or(Ok(()), |size| carries("cache", size, memory_bytes()))
}

/// Whether `kinds`, as `debug_io_direct` lists them (`data`, `wal`, `wal_init`), take reads and writes of tables and indexes past the page cache.
pub(crate) fn is_direct_io(kinds: &str) -> bool {
    kinds.split(',').any(|kind| kind.trim().eq_ignore_ascii_case("data"))
}

#[cfg(test)]
mod tests {
    use mindful_instance::capacity::connections_for;

    use super::*;

    fn facts(mode: Mode) -> Known {
        Known {
            major: 18,
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
    fn durability_is_on_in_every_phase_and_mode() {
        for (mode, purpose) in [(Mode::Pio, Purpose::Run), (Mode::Lio, Purpose::Run), (Mode::Pio, Purpose::Load)] {
            let chosen = choose(&facts(mode), purpose, &[]).unwrap();
            for name in ["fsync", "full_page_writes", "synchronous_commit"] {
                assert_eq!(value(&chosen, name).as_deref(), Some("on"));
            }
        }
    }

    #[test]
    fn direct_io_is_for_measured_physical_reads_only() {
        let of = |mode, purpose| value(&choose(&facts(mode), purpose, &[]).unwrap(), "debug_io_direct");
        assert_eq!(of(Mode::Pio, Purpose::Run).as_deref(), Some("data"));
        assert_eq!(of(Mode::Pio, Purpose::Load), None);
        assert_eq!(of(Mode::Lio, Purpose::Run), None);
        for (major, chosen) in [(16, Some("data")), (15, None)] {
            let old = Known { major, ..facts(Mode::Pio) };
            assert_eq!(value(&choose(&old, Purpose::Run, &[]).unwrap(), "debug_io_direct").as_deref(), chosen);
        }
    }

    #[test]
    fn what_the_user_sets_holds_in_a_run_only() {
        let set = [("shared_buffers".to_owned(), "64MB".to_owned())];
        let buffers = |purpose| value(&choose(&facts(Mode::Pio), purpose, &set).unwrap(), "shared_buffers");
        assert_eq!(buffers(Purpose::Run).as_deref(), Some("64MB"));
        assert_eq!(buffers(Purpose::Load).as_deref(), Some("16MB"));
    }

    #[test]
    fn a_cached_run_fits_all_data_and_is_refused_beyond_the_memory() {
        let chosen = choose(&facts(Mode::Lio), Purpose::Run, &[]).unwrap();
        let mib: u64 = value(&chosen, "shared_buffers").unwrap().trim_end_matches("MB").parse().unwrap();
        assert!((1178..1400).contains(&mib), "{mib}");
        let large = Known { data_bytes: 12 << 30, ..facts(Mode::Lio) };
        let message = choose(&large, Purpose::Run, &[]).unwrap_err().to_string();
        assert!(message.contains("16 GiB") && message.contains("--mode pio"), "{message}");
    }

    #[test]
    fn little_free_space_bounds_the_log() {
        let chosen = |free: u64| value(&space_for_wal(free), "max_wal_size").unwrap();
        assert_eq!(chosen(1 << 20), "256MB");
        assert_eq!(chosen(10 << 30), "2048MB");
        assert_eq!(chosen(36 << 30), chosen(60 << 30), "another run's data is no other setting");
        assert_eq!(chosen(10 << 40), "32768MB");
    }

    #[test]
    fn data_is_direct_at_any_place_in_the_list() {
        assert!(["data", "wal, data", "DATA,wal"].into_iter().all(is_direct_io));
        assert!(!["", "wal", "wal,wal_init"].into_iter().any(is_direct_io));
    }
}
