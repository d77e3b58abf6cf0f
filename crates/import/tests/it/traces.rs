//! 10046 traces.
#![expect(clippy::format_push_string, clippy::format_collect, reason = "short texts, put together for once")]

use std::io::Cursor;

use mindful_core::contract::metric::Counter;
use mindful_core::result::trace::{ReadFigures, TraceSummary};
use mindful_import::recognised;
use mindful_import::waits::{Field, Filter};
use proptest::prelude::*;

use crate::measured::{grew, read, slices};
use crate::samples;

fn grouped(text: impl Into<Vec<u8>>, fields: &str, filter: &str) -> mindful_core::Result<TraceSummary> {
    let (fields, filter) = (Field::parse_list(fields)?, Filter::parse(filter)?);
    Ok(recognised("t", Box::new(Cursor::new(text.into())))?.grouped(&fields, &filter)?.summary("t"))
}

/// The errors of both readers of a trace, if they refuse it.
fn refusals(text: &str) -> [Option<String>; 2] {
    [read("t.trc", text).map(drop), grouped(text, "event", "").map(drop)].map(|read| Some(read.err()?.to_string()))
}

/// Reads of one block, of several neighbours, of several others, and past the cache.
const SINGLE: usize = 0;
const SCATTERED: usize = 1;
const DIRECT: usize = 3;

fn trace(waits: &[(u64, u64, u64)]) -> String {
    let mut tim = 1_377_520_823_000_000;
    let mut text = String::from(
        "Oracle Database 12c Enterprise Edition Release 12.1.0.1.0 - 64bit Production\nInstance name: slob1\n\
         PARSING IN CURSOR #46929157733848 len=74 dep=1 uid=803 oct=3 lid=803 tim=1 hv=2 ad='6' sqlid='309mwpa4tk161'\n\
         SELECT COUNT(C2) FROM CF1\nEND OF STMT\n",
    );
    for (ela, file, blocks) in waits {
        tim = u64::wrapping_add(tim, ela.wrapping_add(7));
        let event = match blocks {
            0 => format!("nam='gc cr grant 2-way' ela= {ela} p1={file} p2=5 p3=1"),
            1 => format!("nam='db file sequential read' ela= {ela} file#={file} block#=9 blocks=1"),
            n if n % 2 == 0 => format!("nam='db file scattered read' ela= {ela} file#={file} block#=9 blocks={n}"),
            n => format!("nam='db file parallel read' ela= {ela} files=1 blocks={n} requests={n}"),
        };
        text += &format!("WAIT #46929157733848: {event} obj#=82008 tim={tim}\n");
    }
    text + &format!("FETCH #46929157733848:c=39994,e=1704156,p=257,cr=259,cu=0,mis=0,r=1,dep=1,og=1,plh=1,tim={tim}\n")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn every_wait_of_a_trace_is_counted_to_the_microsecond(waits in prop::collection::vec((0_u64..2_000_000, 1_u64..4, 0_u64..6), 1..400)) {
        let text = trace(&waits);
        let all = grouped(text.clone(), "event,file", "").unwrap();
        prop_assert_eq!(all.waits_in_trace, waits.len() as u64);
        prop_assert_eq!(all.all.time_us, waits.iter().map(|(ela, ..)| ela).sum::<u64>());
        let mut singles: Vec<u64> = waits.iter().filter(|(.., blocks)| *blocks == 1).map(|(ela, ..)| *ela).collect();
        singles.sort_unstable();
        let ReadFigures { figures, blocks, .. } = &all.reads[SINGLE];
        prop_assert_eq!((figures.waits, *blocks), (singles.len() as u64, Some(singles.len() as u64)));
        prop_assert_eq!(figures.max_us, singles.last().copied());
        let place = (0.95 * singles.len().saturating_sub(1) as f64) as usize;
        prop_assert_eq!(figures.counted_us.p95, singles.get(place).copied());
        prop_assert_eq!(all.groups.iter().map(|group| group.figures.waits).sum::<u64>(), waits.len() as u64);
        let some = grouped(text.clone(), "event", "ela>=1000000").unwrap();
        prop_assert_eq!(some.all.waits, waits.iter().filter(|(ela, ..)| *ela >= 1_000_000).count() as u64);
        let step = read("t.trc", text).unwrap().remove(0);
        prop_assert_eq!(grew(&step.events, Counter::SingleReads), Some(singles.len() as f64));
        prop_assert_eq!(slices(&step.events).iter().map(|(_, op)| op.ops).sum::<u64>(), singles.len() as u64);
    }

    #[test]
    fn no_trace_that_is_spoilt_makes_a_reader_panic(cut in 0.0_f64..1.0, junk in any::<Vec<u8>>()) {
        let mut text = trace(&[(10, 1, 1), (u64::MAX, 1, 1), (500, 2, 8)]).into_bytes();
        let at = (text.len() as f64 * cut) as usize;
        text.splice(at..at, junk);
        let _ = read("t.trc", text.clone());
        let _ = grouped(text.clone(), "block,second", "");
    }

    #[test]
    fn clocks_that_jump_cost_no_memory(tims in prop::collection::vec(any::<u64>(), 1..50)) {
        let text: String = tims.iter().map(|tim| format!("WAIT #1: nam='db file sequential read' ela= 7 p1=1 p2=2 p3=1 obj#=1 tim={tim}\n")).collect();
        if let Ok(steps) = read("t.trc", text) {
            prop_assert!(steps[0].events.len() < 5_000);
        }
    }
}

#[test]
fn calls_of_a_trace_are_facts_with_the_first_of_each() {
    let step = read("t.trc", trace(&[(977, 7, 1), (10_162, 7, 1)])).unwrap().remove(0);
    assert_eq!(step.facts["calls FETCH"], "1; the first p=257 cr=259 e=1704156 c=39994");
    assert_eq!(
        (step.version.as_deref(), step.target.as_str()),
        (Some("12.1.0.1.0"), "oracle: a session of instance slob1")
    );
}

#[test]
fn a_trace_that_read_ahead_has_a_finding() {
    let step = read("t.trc", trace(&[(977, 7, 1), (5_000, 7, 39)])).unwrap().remove(0);
    let finding = step.findings.iter().find(|finding| finding.code == "prefetched").unwrap();
    assert!(finding.evidence.contains("1 of 2 reads, 39 blocks"), "{}", finding.evidence);
}

#[test]
fn a_trace_without_waits_says_which_level_has_them() {
    let text = "EXEC #1:c=0,e=42,p=0,cr=0,cu=0,mis=0,r=0,dep=1,og=1,plh=1,tim=5\n";
    assert!(read("t.trc", text).unwrap_err().to_string().contains("level 8 or 12"));
}

/// Reads on Exadata, which show bytes, and a read past the cache, which shows blocks.
fn cells() -> String {
    samples::CELLS.to_owned()
        + "WAIT #5: nam='direct path read' ela= 800 file number=1 first dba=9 block cnt=32 obj#=7 tim=1370000000400000\n\
           FETCH #5:c=1,e=2,p=37,cr=9,cu=0,mis=0,r=1,dep=0,og=1,plh=1,tim=1370000000500000\n"
}

#[test]
fn bytes_of_a_read_are_blocks_of_the_size_of_a_single_one() {
    let all = grouped(cells(), "event,blocks", "").unwrap();
    assert_eq!(all.reads[SCATTERED].blocks_per_read, Some(4.0));
    assert_eq!(all.reads[DIRECT].blocks_per_read, Some(32.0), "a smart scan shows none");
    let keys: Vec<_> = all.groups.iter().map(|group| group.key.clone()).collect();
    assert!(keys.contains(&"cell multiblock physical read | 4".to_owned()), "{keys:?}");
    assert!(keys.contains(&"cell smart table scan | -".to_owned()), "{keys:?}");
    assert_eq!(grouped(cells(), "event", "blocks>=4").unwrap().all.waits, 2);
    let step = read("t.trc", cells()).unwrap().remove(0);
    assert_eq!(grew(&step.events, Counter::PhysicalReads), Some(37.0));
}

#[test]
fn an_unknown_block_size_leaves_the_blocks_unknown() {
    let text: String =
        cells().lines().filter(|line| !line.contains("single")).map(|line| format!("{line}\n")).collect();
    let all = grouped(text.clone(), "blocks", "").unwrap();
    assert_eq!((all.reads[SCATTERED].blocks_per_read, all.reads[DIRECT].blocks_per_read), (None, Some(32.0)));
    assert!(all.groups.iter().all(|group| ["-", "32"].contains(&group.key.as_str())));
    let step = read("t.trc", text).unwrap().remove(0);
    assert_eq!(grew(&step.events, Counter::PhysicalReads), None);
}

#[test]
fn a_trace_in_hundredths_of_a_second_is_refused_by_its_release() {
    let waits = trace(&[(1, 7, 1), (2, 7, 1)]);
    let (_, rest) = waits.split_once('\n').unwrap();
    for (head, release) in [
        ("Oracle8i Enterprise Edition Release 8.1.7.0.0 - Production", Some("8.1.7.0.0")),
        ("Oracle7 Server Release 7.3.4.0.0 - Production", Some("7.3.4.0.0")),
        ("Oracle9i Enterprise Edition Release 9.2.0.8.0 - Production", None),
        ("Oracle Database 23ai Free Release 23.0.0.0.0 - Production", None),
    ] {
        for error in refusals(&format!("{head}\n{rest}")) {
            let said = release.map(|release| format!(" is a trace of Oracle {release}: its times are hundredths"));
            match said {
                Some(said) => assert!(error.as_ref().is_some_and(|error| error.contains(&said)), "{head}: {error:?}"),
                None => assert_eq!(error, None, "{head}"),
            }
        }
    }
}

#[test]
fn a_wait_that_ends_where_the_trace_ends_is_left_out() {
    let text = "WAIT #1: nam='db file sequential read' ela= 5 p1=1 p2=2 p3=1 obj#=1 tim=1370000000100000\n\
        WAIT #1: nam='db file sequential read' ela= 7 p1=1 p2=2 p3=1 obj#=1 tim=1370000000200000\n\
        WAIT #1: nam='db file sequential read' ela= 97";
    let all = grouped(text, "event", "").unwrap();
    assert_eq!((all.waits_in_trace, all.all.max_us), (2, Some(7)));
}

#[test]
fn a_trace_without_head_and_time_stamps_may_count_hundredths() {
    let waits = "WAIT #1: nam='db file sequential read' ela= 2 p1=8 p2=905 p3=1\n".repeat(3);
    let calls = "EXEC #1:c=0,e=0,p=0,cr=0,cu=0,mis=0,r=0,dep=0,og=1,tim=56111900\n";
    for head in ["", calls, "Personal Oracle8 Release 8.0.4.0.0 - Production\n"] {
        for error in refusals(&format!("{head}{waits}")) {
            assert!(error.unwrap().contains("may be hundredths of a second"), "{head}");
        }
    }
    let head = "Oracle9i Enterprise Edition Release 9.0.1.4.0 - Production\n";
    let neighbours = "WAIT #1: nam='db file scattered read' ela= 12 p1=4 p2=99 p3=16\n";
    let all = grouped(format!("{head}{waits}{neighbours}"), "event", "").unwrap();
    assert_eq!((all.all.time_us, all.reads[SCATTERED].blocks_per_read), (18, Some(16.0)));
}

#[test]
fn sessions_nested_calls_and_a_limit_are_seen() {
    let head = "Oracle Database 19c Enterprise Edition Release 19.0.0.0.0 - Production\nVersion 19.21.0.0.0\n";
    let session = |id: &str, tim: u64| {
        format!(
            "*** SESSION ID:({id}) 2024-03-01T10:00:00.000000+01:00\n\
             WAIT #1: nam='db file sequential read' ela= 400 file#=7 block#=29 blocks=1 obj#=1 tim={}\n\
             EXEC #2:c=100,e=500,p=1,cr=3,cu=0,mis=0,r=0,dep=1,og=4,plh=0,tim={}\n\
             FETCH #1:c=900,e=2500,p=1,cr=9,cu=0,mis=0,r=1,dep=0,og=1,plh=0,tim={}\n",
            tim + 500,
            tim + 600,
            tim + 3_000
        )
    };
    let one = format!("{head}{}", session("12.34567", 1_000_000));
    let step = read("t.trc", one.clone()).unwrap().remove(0);
    assert_eq!(
        (step.sessions, grew(&step.events, Counter::ServerCpuUs)),
        (Some(1), Some(900.0)),
        "dep 1 is within dep 0"
    );
    let both = format!("{one}{}", session("99.7", 9_000_000));
    assert_eq!(read("t.trc", both).unwrap()[0].sessions, None);
    let limited = format!("{one}*** DUMP FILE SIZE IS LIMITED TO 10485760 BYTES ***\n");
    assert!(read("t.trc", limited.clone()).unwrap()[0].findings.iter().any(|finding| finding.evidence == "1 line"));
    assert_eq!(grouped(limited, "event", "").unwrap().damaged_lines, 1);
}
