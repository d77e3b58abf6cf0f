//! A small made-up file of each format, under a name that fits.

use crate::made::{Dress, Made, showcase};

/// Every dress of a report.
pub const DRESSES: [Dress; 9] = [
    Dress::Awr10,
    Dress::Awr11,
    Dress::Awr11Narrow,
    Dress::Awr12,
    Dress::Awr19,
    Dress::Html11,
    Dress::Html,
    Dress::Html23,
    Dress::Statspack,
];

/// What the format calls itself, a name, and the file.
pub fn of_each_format() -> Vec<(&'static str, &'static str, String)> {
    let small = Made { foreground: showcase().foreground[..2].to_vec(), ..showcase() };
    let reports = DRESSES.into_iter().map(|dress| {
        let what = if dress == Dress::Statspack { "Statspack report" } else { "AWR report" };
        (what, "awr.txt.128", small.report(dress))
    });
    let others = [
        ("10046 trace", "slob1_ora_1.trc", TRACE),
        ("event histogram records", "records.txt", RECORDS),
        ("Orion result", "disks_summary.txt", SUMMARY),
        ("Orion result", "disks_iops.csv", MATRIX),
        ("pgio result", "pgio.out", PGIO),
        ("fio result", "fio.json", FIO),
        ("table of workers", "LIO.csv", WORKERS),
    ];
    reports.chain(others.into_iter().map(|(what, name, text)| (what, name, text.to_owned()))).collect()
}

const TRACE: &str = "\
Oracle Database 12c Enterprise Edition Release 12.1.0.1.0 - 64bit Production
Instance name: slob1
PARSING IN CURSOR #46 len=74 dep=1 uid=803 oct=3 lid=803 tim=1 hv=2 ad='6' sqlid='309mwpa4tk161'
SELECT COUNT(C2) FROM CF1
WAIT #46: nam='db file sequential read' ela= 977 file#=7 block#=29 blocks=1 obj#=-1 tim=1377520823036634
WAIT #46: nam='db file scattered read' ela= 12 p1=4 p2=99 p3=16
WAIT #46: nam='db file parallel read' ela= 12 files=1 blocks=39 requests=39 obj#=8 tim=1377520823046634
WAIT #46: nam='direct path read' ela= 5 file number=6 first dba=128 block cnt=32 obj#=1 tim=1377520824036634
WAIT #46: nam='cell single block physical read' ela= 5 cellhash#=6 diskhash#=128 bytes=8192 obj#=1 tim=1377520825036634
FETCH #46:c=39994,e=1704156,p=257,cr=259,cu=0,mis=0,r=1,dep=1,og=1,plh=1,tim=1377520825036635
";
const RECORDS: &str = "\
<begin record>
timestamp, microsec, 86399000000, 26-AUG-13 04.26.51.653754 PM +02:00
label, db file sequential read
latencyunit, millisec
datasource, v$event_histogram
1, 100
2, 50
1, 10
<end record>

<begin record>
timestamp, microsec, 1000000, 26-AUG-13 04.26.54.653754 PM +02:00
label, db file sequential read
latencyunit, millisec
1, 13
1, 100
2, 150
<end record>
";
const SUMMARY: &str = "\
ORION VERSION 11.2.0.1.0

Command line:
-run oltp -testname disks -num_disks 12

Small IO size: 8 KB
Duration for each Data Point: 60 seconds

Maximum Large MBPS=812.50 @ Small=0 and Large=24
Maximum Small IOPS=2114 @ Small=24 and Large=0
Minimum Small Latency=4567.89 usecs @ Small=1 and Large=0
";
const MATRIX: &str = "Large/Small,      0,      1,      2\n      0,      0,    176,    344\n      1,     56,    101\n";
const PGIO: &str = "\
Launching sessions. 4 schema(s) will be accessed by 128 thread(s) each.
Launch phase took 288 seconds.
DBNAME:  pg10. 4 schemas, 128 threads(each). Run time: 123 seconds. RIOPS >390969< CACHE_HITS/s >12345<
";
const FIO: &str = r#"fio: a note
{"fio version": "fio-3.36", "timestamp": 1700000000, "global options": {"bs": "8k", "direct": "1"},
 "jobs": [{"jobname": "r", "error": 0, "job options": {"rw": "randrw", "numjobs": "16"},
 "read": {"total_ios": 1000, "io_bytes": 8192000, "bw_bytes": 819200, "runtime": 10000, "iops": 100.0,
 "clat_ns": {"min": 90000, "max": 900000, "mean": 150000.0, "N": 1000, "percentile": {"99.000000": 880000},
 "bins": {"100000": 900, "800000": 100}}},
 "write": {"total_ios": 10, "runtime": 10, "clat": {"mean": 5.5, "percentile": {"50.0": 5}}}}]}
"#;
const WORKERS: &str = "Num_concurrent_workers,Oracle_Logical_IOPS\n1,0.75\n2,1.5  \n4,3.2\n";
