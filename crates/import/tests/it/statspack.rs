//! Statspack reports in the layout of 8i and of late releases, with the values that they print.

use mindful_import::rows::{self, ReportRow};

use crate::measured::one;
use crate::releases::assert_figures;

/// Statspack as 8i writes it: hundredths of a second, and `OPS` for a cluster.
const STATSPACK_8: &str = "
STATSPACK report for

DB Name         DB Id    Instance     Inst Num Release     OPS Host
------------ ----------- ------------ -------- ----------- --- ------------
MAIL          3872358523 MAIL                1 8.1.7.0.0   NO  mailhost

                Snap Id     Snap Time      Sessions
                ------- ------------------ --------
 Begin Snap:          1 08-Sep-01 10:00:00       33
   End Snap:          2 08-Sep-01 10:15:02       35
    Elapsed:                  15.03 (mins)

Cache Sizes
~~~~~~~~~~~
           db_block_buffers:      64000          log_buffer:     163840
              db_block_size:       8192    shared_pool_size:   52428800

Load Profile
~~~~~~~~~~~~                            Per Second       Per Transaction
                                   ---------------       ---------------
                  Redo size:              3,036.04              6,823.57
              Logical reads:              1,250.77              2,811.20
             Physical reads:                 80.10                180.03
                   Executes:                 21.55                 48.44

Top 5 Wait Events
~~~~~~~~~~~~~~~~~                                             Wait     % Total
Event                                               Waits  Time (cs)   Wt Time
-------------------------------------------- ------------ ------------ -------
db file sequential read                            72,131       57,910   58.04
log file sync                                       1,200        1,810    1.80
          -------------------------------------------------------------
Wait Events for DB: MAIL  Instance: MAIL  Snaps: 1 -2
-> cs - centisecond -  100th of a second
-> ms - millisecond - 1000th of a second
-> ordered by wait time desc, waits desc (idle events last)

                                                                    Avg
                                                     Total Wait    wait  Waits
Event                               Waits   Timeouts  Time (cs)    (ms)   /txn
---------------------------- ------------ ---------- ----------- ------ ------
db file sequential read            72,131          0      57,910      8   11.5
log file sync                       1,200          3       1,810     15    0.2
          -------------------------------------------------------------
Instance Activity Stats for DB: MAIL  Instance: MAIL  Snaps: 1 -2

Statistic                                    Total   per Second    per Trans
--------------------------------- ---------------- ------------ ------------
physical reads                              72,246         80.1         11.5
redo writes                                  1,205          1.3          0.2
          -------------------------------------------------------------
End of Report
";

/// Statspack as 11.2 and later write it, with tenths of a millisecond above a column of tildes.
const STATSPACK_11: &str = "
STATSPACK report for

Database    DB Id    Instance     Inst Num  Startup Time   Release     RAC
~~~~~~~~ ----------- ------------ -------- --------------- ----------- ---
          1171152340 orcl                1 19-Jan-12 08:03 19.0.0.0.0  NO

Host Name             Platform                CPUs Cores Sockets   Memory (G)
~~~~ ---------------- ---------------------- ----- ----- ------- ------------
     dbhost1          Linux x86 64-bit       #####     4       1         15.6

Snapshot       Snap Id     Snap Time      Sessions Curs/Sess Comment
~~~~~~~~    ---------- ------------------ -------- --------- ------------------
Begin Snap:         21 23-Jan-12 10:52:25       37       1.1
  End Snap:         22 23-Jan-12 11:02:26       37       1.1
   Elapsed:      10.02 (mins) Av Act Sess:       0.1
   DB time:       0.80 (mins)      DB CPU:       0.15 (mins)

Load Profile              Per Second    Per Transaction    Per Exec    Per Call
~~~~~~~~~~~~      ------------------  ----------------- ----------- -----------
      DB time(s):                0.1                1.2        0.00        0.04
       DB CPU(s):                0.0                0.2        0.00        0.01
   Logical reads:              745.2           10,923.4
  Physical reads:              129.3            1,894.9

Top 5 Timed Events                                                    Avg %Total
~~~~~~~~~~~~~~~~~~                                                   wait   Call
Event                                            Waits    Time (s)   (ms)   Time
----------------------------------------- ------------ ----------- ------ ------
db file sequential read                         76,367          42      1    1.1
CPU time                                                        15            .4
          -------------------------------------------------------------
Foreground Wait Events  DB/Inst: ORCL/orcl  Snaps: 21-22
-> Only events with Total Wait Time (s) >= .001 are shown

                                                                    Avg          %Total
                                          %Tim Total Wait   wait    Waits   Call
Event                               Waits out   Time (s)   (ms)     /txn   Time
---------------------------- ------------ ---- ---------- ------ -------- ------
db file sequential read            76,367    0         42      1  1,862.6    1.1
          -------------------------------------------------------------
OS Statistics  DB/Inst: ORCL/orcl  Snaps: 21-22
-> ordered by statistic type (CPU use, Virtual Memory, Hardware Config), Name

Statistic                                  Total
------------------------- ----------------------
BUSY_TIME                                  5,180
IDLE_TIME                                232,450
NUM_CPUS                                       4
          -------------------------------------------------------------
End of Report
";

#[test]
fn statspack_of_8i_counts_hundredths_and_of_19c_milliseconds() {
    assert_figures(
        "sp_8i.lst",
        STATSPACK_8,
        &[
            ("elapsed_s", Some(901.8)),
            ("single_read/mean_us", Some(579.1e6 / 72_131.0)),
            ("log_sync/mean_us", Some(18.1e6 / 1_200.0)),
            ("blocks_read_per_s", Some(80.1)),
            ("redo_writes_per_s", Some(1_205.0 / 901.8)),
            ("average_active_sessions", None),
            ("cpus", None),
        ],
    );
    let json = rows::json(&[ReportRow::of(&one("sp_8i.lst", STATSPACK_8)).unwrap()]);
    assert!(json.contains("\"cluster\": false") && json.contains("\"host\": \"mailhost\""), "{json}");
    assert_figures(
        "sp_19c.lst",
        STATSPACK_11,
        &[
            ("elapsed_s", Some(601.2)),
            ("cpus", Some(4.0)),
            ("single_read/mean_us", Some(42e6 / 76_367.0)),
            ("db_time_s", Some(48.0)),
        ],
    );
    let step = one("sp_19c.lst", STATSPACK_11);
    assert_eq!(
        step.target, "oracle: ? (orcl) on dbhost1",
        "a number of CPUs that is too wide does not rename the database"
    );
}
