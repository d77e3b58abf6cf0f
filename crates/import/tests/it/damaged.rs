//! Damaged parts of files: never in a figure, always counted and reported, in every format and verb.

use std::io::Cursor;

use mindful_import::recognised;
use mindful_import::waits::{Field, Filter};

use crate::measured::{read, runs};

const WAIT: &str = "WAIT #1: nam='db file sequential read' ela= 7 file#=1 block#=9 blocks=1 obj#=8 tim=2000007\n";
const EXEC: &str = "EXEC #1:c=5,e=9,p=1,cr=4,cu=0,mis=0,r=1,dep=0,og=1,plh=3,tim=2000099\n";

/// The evidence of damage in the run that is made of a file.
fn damage(name: &str, text: impl Into<Vec<u8>>) -> Vec<String> {
    let all = runs(read(name, text).unwrap());
    let events = all.iter().flat_map(|run| &run.events).filter_map(|event| match event {
        mindful_core::contract::event::Event::Finding(finding) if finding.text.contains("damaged") => {
            Some(finding.evidence.clone())
        }
        _ => None,
    });
    events.collect()
}

#[test]
fn damaged_lines_of_a_trace_are_counted_and_reported() {
    let long = format!("WAIT #1: nam='{}' ela= 7 tim=2\n", "x".repeat(5_000));
    let statement = format!("SELECT {}\n", "x".repeat(3 << 20));
    let damaged = [
        "WAIT #1: nam='db file sequential read' ela= 99999999999999999999999 file#=1 tim=2000008\n",
        "WAIT #1: nam='db file sequential read' el\n",
        "WAIT #1: nam='db file sequential read' ela= 7 file#=1 blWAIT #1: nam='db file scattered read' ela= 9 p1=1\n",
        "WAIT #1: nam='db file sequential read' ela= 7 file#=\u{fffd}\u{fffd} tim=2000008\n",
        "WAIT #1: nam='db file sequential read' ela= 7 file#=1 tim=20\0\0\n",
        "WAIX #1: nam='db file sequential read' ela= 7 file#=1 tim=2000008\n",
        "EXEC #1:c=5,e=9x,p=1,cr=4,cu=0,mis=0,r=1,dep=0,og=1,plh=3,tim=2000099\n",
        "FETCH #1:c=5,e\n",
        &long,
    ];
    let sound = [
        WAIT,
        EXEC,
        "ERROR #1:err=1400 tim=2000100\n",
        "PARSE ERROR #1:len=9 dep=0 uid=0\n",
        "STAT #1 id=1 cnt=1 pid=0 pos=1 obj=0 op='SORT AGGREGATE (cr=4 pr=0 pw=0 time=4 us)'\n",
        "select 'WAIT' from dual\n",
        &statement,
        "WAIT #1: nam='enq: TX - row lock contention' ela= 3 name|mode=1415053318 usn<<16 | slot=6 sequence=4 tim=2000200\n",
        "WAIT #1: nam='latch free' ela= 3 address=18446744073709551615 number=0 tries=0 obj#=-1 tim=2000300\r\n",
    ];
    let text = WAIT.repeat(9) + &sound.concat();
    assert_eq!(damage("t.trc", text.clone()), [] as [&str; 0]);
    for (number, line) in damaged.iter().enumerate() {
        let found = damage("t.trc", format!("{text}{line}{WAIT}"));
        assert_eq!(found.first().map(String::as_str), Some("1 line"), "line {number}: {found:?}");
    }
    let whole = format!("{text}{}{WAIT}", damaged.concat());
    let fields = Field::parse_list("event").unwrap();
    let source = recognised("t.trc", Box::new(Cursor::new(whole + "WAIT #1: nam='cut"))).unwrap();
    let summary = source.grouped(&fields, &Filter::default()).unwrap().summary("t.trc");
    assert_eq!((summary.waits_in_trace, summary.damaged_lines, summary.zero_bytes), (13, 10, 2));
}

#[test]
fn zeros_within_a_file_of_any_format_are_reported() {
    for (name, text) in crate::samples::of_each_format() {
        let whole = [&text.clone().into_bytes()[..], b"\n", &[0; 5_000], b"\n"].concat();
        let before = read(&name, text.clone()).unwrap().len();
        let Ok(steps) = read(&name, whole) else { continue };
        assert_eq!(steps.len(), before, "{name}");
        let reported = runs(steps).iter().any(|run| format!("{:?}", run.events).contains("5,000 zero bytes"));
        assert!(reported, "{name}");
    }
}

#[test]
fn damaged_rows_and_records_are_counted_and_reported() {
    let record = |clock: &str, count: &str| {
        format!("<begin record>\ntimestamp,microsec,{clock}\nlabel,x\nlatencyunit,millisec\n1,{count}\n<end record>\n")
    };
    let histogram = record("1000000", "5") + &record("2000000", "####") + &record("x", "6") + &record("3000000", "9");
    let matrix = "Large/Small,0,1,2\n0,0,100,200\n1,0,x1,90\ny,0,80,70\n";
    let cases: [(&str, String, &str); 5] = [
        ("h.txt", histogram + "<begin record>\n1,2\n", "3 records"),
        ("a_iops.csv", matrix.to_owned(), "2 lines"),
        (
            "o.txt",
            "ORION VERSION 12.1.0.2.0\n\nMaximum Small IOPS=50 @ Small=9 and Large=0\nMaximum Small IOPS=5\n"
                .to_owned(),
            "1 line",
        ),
        ("w.csv", "Num_concurrent_workers,Oracle_Logical_IOPS\n1,0.5\nx,0.7\n4,y\n".to_owned(), "2 rows"),
        ("i.txt", "FILE|SESSIONS|ELAPSED|LIO\na.8|8|60|100\nb.9|9|60|100|7\nnoise\n".to_owned(), "2 rows"),
    ];
    for (name, text, wanted) in cases {
        let found = damage(name, text);
        assert!(matches!(&found[..], [one] if one.ends_with(wanted)), "{name}: {found:?}");
    }
}
