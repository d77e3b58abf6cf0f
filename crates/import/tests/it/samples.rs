//! A small made-up file of each format, under a name that fits.

use crate::made::{Dress, Made, showcase};

pub(crate) const DRESSES: [Dress; 9] = [
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

/// The name of the format, a file name, and the file.
pub(crate) fn of_each_format() -> Vec<(&'static str, &'static str, String)> {
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
        ("fio result", "processes.json", PROCESSES),
        ("fio result", "clients.json", CLIENTS),
        ("fio result", "old.json", OLD_FIO),
        ("Orion result", "console.txt", CONSOLE),
        ("Orion result", "both.txt", TWO_RESULTS),
        ("Orion result", "disks_lat.csv", LATENCIES),
        ("pgio result", "pgio.log", PGIO_LOG),
        ("10046 trace", "cells.trc", CELLS),
        ("Statspack report", "sp.lst", OLD_STATSPACK),
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
/// Two results; the second is of two processes.
const PROCESSES: &str = r#"{"fio version": "fio-3.33", "jobs": []}
{"fio version": "fio-3.33", "timestamp": 1700000000, "global options": {"numjobs": "2", "ioengine": "libaio", "iodepth": "4", "bs": "1m"},
 "jobs": [{"jobname": "r", "groupid": 0, "job options": {"name": "r"}, "job_start": 1699999990000,
 "read": {"total_ios": 100, "io_bytes": 104857600, "bw_bytes": 1, "runtime": 10000, "clat_ns": {"mean": 9.5, "bins": {"9": 50, "10": 50}}}},
 {"jobname": "r", "groupid": 0, "job options": {"name": "r"},
 "read": {"total_ios": 100, "io_bytes": 104857600, "bw_bytes": 1, "runtime": 10000, "clat_ns": {"mean": 11.5, "bins": {"11": 100}}}}]}
"#;
const CLIENTS: &str = r#"{"fio version": "fio-2.6", "global options": {"unified_rw_reporting": "1"}, "client_stats": [
 {"jobname": "a", "groupid": 0, "error": 0, "mixed": {"io_bytes": 100, "iops": 2.5, "runtime": 10000, "total_ios": 25}},
 {"jobname": "All clients", "groupid": 0, "error": 0, "mixed": {"io_bytes": 200, "iops": 5.0, "runtime": 10000, "total_ios": 50,
 "lat": {"mean": 1782.92}}}]}
"#;
const OLD_FIO: &str = r#"{"fio version": "fio-2.1.4", "jobs": [{"jobname": "t", "groupid": 3, "error": 0,
 "read": {"io_bytes": 36000, "bw": 1200, "iops": 300, "runtime": 30000, "clat": {"mean": 3100.5, "percentile": {"50.000000": 3280, "0.00": 0}}},
 "write": {"io_bytes": 0, "bw": 0, "iops": 0, "runtime": 0}}]}
"#;
const CONSOLE: &str = "\
ORION: ORacle IO Numbers -- Version RDBMS_19.3.0.0.0DBRU_LINUX.X64_190417
Maximum Large MBPS=1500.25 @ Small=0 and Large=5
Maximum Small IOPS=50000 @ Small=10 and Large=0
Small Read Latency: avg=160.5 us, min=120.0 us, max=1900.0 us, std dev=13.5 us @ Small=10 and Large=0
";
const TWO_RESULTS: &str = "\
ORION VERSION 11.1.0.7.0
Commandline:
-run simple
Name: /dev/sdb  Size: 21474836480
Duration for each data point: 20 seconds
Minimum Small Latency=0.26 @ Small=4 and Large=0
ORION VERSION 11.1.0.7.0
Name: /dev/sdc  Size: 21474836480
Maximum Small IOPS=14000 @ Small=5 and Large=0
";
const LATENCIES: &str = "Large/Small,      1,      2,      5\n      0,  97.7, 99.10, 1169.5\n";
const PGIO_LOG: &str = "\
Database connect string: \"-h 10.0.0.1 -U bench\".
          datname| blks_hit| blks_read|blk_read_time|tup_returned
BEFORE:  sales    | 500 | 1000 |   50 |  15
AFTER:   sales    | 900 | 11000 |   2050 |  99
DBNAME:  sales. 2 schemas, 3 threads(each). Run time: 100 seconds. RIOPS >100< CACHE_HITS/s >4< TIME_PER_READ_MS >0.2<
";
pub(crate) const CELLS: &str = "\
Oracle9i Enterprise Edition Release 9.2.0.8.0 - Production
WAIT #5: nam='cell multiblock physical read' ela= 900 cellhash#=1 diskhash#=2 bytes=65536 obj#=7 tim=1370000000100000
WAIT #5: nam='cell single block physical read' ela= 400 cellhash#=1 diskhash#=2 bytes=16384 obj#=7 tim=1370000000200000
WAIT #5: nam='cell smart table scan' ela= 300 cellhash#=1 p2=0 p3=0 obj#=7 tim=1370000000300000
";
pub(crate) const OLD_STATSPACK: &str = "\
STATSPACK report for

DB Name         DB Id    Instance     Inst Num Release     Cluster Host
------------ ----------- ------------ -------- ----------- ------- ------------
DB1           1111111111 db1                 1 9.2.0.8.0   NO      host1

            Snap Id     Snap Time      Sessions Curs/Sess Comment
            ------- ------------------ -------- --------- -------------------
Begin Snap:      90 15-Aug-07 09:00:00      215      11.9
  End Snap:      91 15-Aug-07 09:10:00      177      10.6
   Elapsed:               10.00 (mins)

Load Profile
~~~~~~~~~~~~                            Per Second       Per Transaction
                                   ---------------       ---------------
              Logical reads:             1,000.00              1.00

Wait Events for DB: DB1  Instance: db1  Snaps: 90 -91
                                                                   Avg
                                                     Total Wait   wait    Waits
Event                               Waits   Timeouts   Time (s)   (ms)     /txn
---------------------------- ------------ ---------- ---------- ------ --------
db file sequential read            40,000          0        180      4      6.0
log file parallel write      ############          0   ########      2      5.0
          -------------------------------------------------------------
End of Report
";
