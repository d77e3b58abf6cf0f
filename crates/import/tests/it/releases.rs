//! Reports in the layout of each release and in the languages of sites, with the values that they print.

use mindful_import::rows::{self, ReportRow};

use crate::measured::one;

/// Each figure by its path in the row as JSON, and its value; `None` is unknown.
fn assert_figures(name: &str, text: impl Into<Vec<u8>>, wanted: &[(&str, Option<f64>)]) {
    let step = one(name, text);
    let json: serde_json::Value = serde_json::from_str(&rows::json(&[ReportRow::of(&step).unwrap()])).unwrap();
    for (path, value) in wanted {
        let is = json[0].pointer(&format!("/{path}")).unwrap_or_else(|| panic!("no {path}"));
        let same = is
            .as_f64()
            .zip(*value)
            .map_or(is.is_null() && value.is_none(), |(is, value)| (is - value).abs() <= 1e-4 * value.abs() + 1e-9);
        assert!(same, "{name}: {path} is {is}, not {value:?}\n{}", json[0]);
    }
}

const AWR_10: &str = "
WORKLOAD REPOSITORY report for

DB Name         DB Id    Instance     Inst Num Release     RAC Host
------------ ----------- ------------ -------- ----------- --- ------------
ORCL          1171152340 orcl                1 10.2.0.4.0  NO  dbhost1

              Snap Id      Snap Time      Sessions Curs/Sess
            --------- ------------------- -------- ---------
Begin Snap:      1201 19-Jan-09 10:00:12        45       5.2
  End Snap:      1202 19-Jan-09 11:00:25        47       5.3
   Elapsed:               60.22 (mins)
   DB Time:               12.34 (mins)

Cache Sizes
~~~~~~~~~~~                       Begin        End
                             ---------- ----------
               Buffer Cache:     1,024M     1,024M  Std Block Size:         8K
           Shared Pool Size:       512M       512M      Log Buffer:     5,520K

Load Profile
~~~~~~~~~~~~                            Per Second       Per Transaction
                                   ---------------       ---------------
                  Redo size:              3,036.04              6,823.57
              Logical reads:              1,250.77              2,811.20
             Physical reads:                 80.10                180.03
                   Executes:                 21.55                 48.44

Top 5 Timed Events                                         Avg %Total
~~~~~~~~~~~~~~~~~~                                        wait   Call
Event                                 Waits    Time (s)   (ms)   Time Wait Class
------------------------------ ------------ ----------- ------ ------ ----------
CPU time                                            410          55.4
db file sequential read             250,123         301      1   40.7   User I/O
          -------------------------------------------------------------
Time Model Statistics                     DB/Inst: ORCL/orcl  Snaps: 1201-1202
-> Total time in database user-calls (DB Time): 740.5s

Statistic Name                                       Time (s) % of DB Time
------------------------------------------ ------------------ ------------
DB CPU                                                  410.2         55.4
DB time                                                 740.5          N/A
background cpu time                                      30.1          N/A
          -------------------------------------------------------------

Operating System Statistics                DB/Inst: ORCL/orcl  Snaps: 1201-1202

Statistic                                       Total
-------------------------------- --------------------
BUSY_TIME                                      51,200
IDLE_TIME                                     670,800
NUM_CPUS                                            2
PHYSICAL_MEMORY_BYTES                   8,589,934,592
          -------------------------------------------------------------

Wait Events                                DB/Inst: ORCL/orcl  Snaps: 1201-1202
-> s  - second

                                                                   Avg
                                             %Time  Total Wait    wait     Waits
Event                                 Waits  -outs    Time (s)    (ms)      /txn
---------------------------- -------------- ------ ----------- ------- ---------
db file sequential read             250,123     .0         301       1     155.6
log file parallel write               4,021     .0          12       3       2.5
          -------------------------------------------------------------
End of Report
";

#[test]
fn awr_of_10_shows_cpus_in_its_statistics() {
    assert_figures(
        "awr_10.txt",
        AWR_10,
        &[
            ("cpus", Some(2.0)),
            ("elapsed_s", Some(3_613.2)),
            ("db_time_s", Some(740.5)),
            ("db_cpu_cores", Some((410.2 + 30.1) / 3_613.2)),
            ("single_read/waits", Some(250_123.0)),
            ("single_read/mean_us", Some(301e6 / 250_123.0)),
            ("log_write/mean_us", Some(12e6 / 4_021.0)),
            ("direct_read/waits", Some(0.0)),
            ("read_requests_per_s", None),
        ],
    );
}

/// A report that states each figure in more than one place.
pub(crate) const AWR_11: &str = "
WORKLOAD REPOSITORY report for

DB Name         DB Id    Instance     Inst Num Startup Time    Release     RAC
------------ ----------- ------------ -------- --------------- ----------- ---
ORCL          1171152340 orcl                1 19-Jan-12 08:03 11.2.0.2.0  NO

Host Name        Platform                         CPUs Cores Sockets Memory(GB)
---------------- -------------------------------- ---- ----- ------- ----------
dbhost1          Linux x86 64-bit                    8     4       1      15.58

              Snap Id      Snap Time      Sessions Curs/Sess
            --------- ------------------- -------- ---------
Begin Snap:      1201 19-Jan-12 10:00:53        45       5.2
  End Snap:      1202 19-Jan-12 10:05:58        47       5.3
   Elapsed:                5.08 (mins)
   DB Time:               20.50 (mins)

Load Profile              Per Second    Per Transaction   Per Exec   Per Call
~~~~~~~~~~~~         ---------------    --------------- ---------- ----------
      DB Time(s):                4.0                0.1       0.00       0.01
       DB CPU(s):                1.5                0.1       0.00       0.01
       Redo size:           36,036.0            6,823.6
   Logical reads:           41,250.8            2,811.2
  Physical reads:            8,080.1              180.0
        Executes:              721.6               48.4

Instance Efficiency Percentages (Target 100%)
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
            Buffer  Hit   %:   80.41    In-memory Sort %:  100.00

Top 5 Timed Foreground Events
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
                                                           Avg
                                                          wait   % DB
Event                                 Waits     Time(s)   (ms)   time Wait Class
------------------------------ ------------ ----------- ------ ------ ----------
db file sequential read           2,462,114         713      0   58.0 User I/O
DB CPU                                              457          37.2
          -------------------------------------------------------------
IO Profile                  Read+Write/Second     Read/Second    Write/Second
~~~~~~~~~~                  ----------------- --------------- ---------------
            Total Requests:           8,190.3         8,085.1           105.2
             Redo Requests:              13.2             0.0            13.2

Time Model Statistics                      DB/Inst: ORCL/orcl  Snaps: 1201-1202

Statistic Name                                       Time (s) % of DB Time
------------------------------------------ ------------------ ------------
DB CPU                                                  457.2         37.2
DB time                                               1,230.0
          -------------------------------------------------------------
Operating System Statistics                DB/Inst: ORCL/orcl  Snaps: 1201-1202

Statistic                                  Value        End Value
------------------------- ---------------------- ----------------
NUM_CPUS                                       8
          -------------------------------------------------------------
Foreground Wait Class                      DB/Inst: ORCL/orcl  Snaps: 1201-1202
-> s  - second, ms - millisecond -    1000th of a second

                                                                  Avg
                                      %Time       Total Wait     wait
Wait Class                      Waits -outs         Time (s)     (ms)  %DB time
-------------------- ---------------- ----- ---------------- -------- ---------
User I/O                    2,463,000     0              714        0      58.1
Commit                      #########     0              ###        1       1.0
          -------------------------------------------------------------
Foreground Wait Events                     DB/Inst: ORCL/orcl  Snaps: 1201-1202
-> s  - second, ms - millisecond -    1000th of a second

                                                             Avg
                                        %Time Total Wait    wait    Waits   % DB
Event                             Waits -outs   Time (s)    (ms)     /txn   time
-------------------------- ------------ ----- ---------- ------- -------- ------
db file sequential read       2,462,114     0        713       0    155.6   58.0
direct path read temp             1,200     0          6       5      0.1     .5
          -------------------------------------------------------------
Background Wait Events                     DB/Inst: ORCL/orcl  Snaps: 1201-1202

                                                             Avg
                                        %Time Total Wait    wait    Waits   % bg
Event                             Waits -outs   Time (s)    (ms)     /txn   time
-------------------------- ------------ ----- ---------- ------- -------- ------
log file parallel write           4,021     0         12       3      2.5   30.1
db file sequential read             100     0          0       0      2.5   30.1
          -------------------------------------------------------------
Wait Event Histogram                       DB/Inst: ORCL/orcl  Snaps: 1201-1202

                                                    % of Waits
                                 -----------------------------------------------
                           Total
Event                      Waits  <1ms  <2ms  <4ms  <8ms <16ms <32ms  <=1s   >1s
-------------------------- ----- ----- ----- ----- ----- ----- ----- ----- -----
db file sequential read    2462K  97.0   2.0    .5    .3    .2
log file parallel write     4021   1.0  60.0  30.0   9.0
          -------------------------------------------------------------
Instance Activity Stats                    DB/Inst: ORCL/orcl  Snaps: 1201-1202

Statistic                                     Total     per Second     per Trans
-------------------------------- ------------------ -------------- -------------
physical read IO requests                 2,463,200        8,079.2          1.0
physical read total IO requests           2,465,000        8,085.1          1.0
physical reads                            2,463,500        8,080.1          1.0
physical write IO requests                   21,738           71.3          1.0
physical write total IO requests             32,073          105.2          1.0
redo writes                                   4,010           13.2          1.0
          -------------------------------------------------------------
End of Report
";

#[test]
fn awr_of_11_has_narrow_columns_and_whole_milliseconds() {
    assert_figures(
        "awr_11.txt",
        AWR_11,
        &[
            ("elapsed_s", Some(304.8)),
            ("cpus", Some(8.0)),
            ("average_active_sessions", Some(20.5 * 60.0 / 304.8)),
            ("single_read/mean_us", Some(713e6 / 2_462_114.0)),
            ("direct_read/waits", Some(0.0)),
            ("direct_read_temp/mean_us", Some(5_000.0)),
            ("log_write/mean_us", Some(12e6 / 4_021.0)),
            ("redo_writes_per_s", Some(4_010.0 / 304.8)),
        ],
    );
    let step = one("awr_11.txt", AWR_11);
    let table = rows::flashdba(&[ReportRow::of(&step).unwrap()]);
    let cells: Vec<_> = table.lines().map(|line| line.split(',').collect::<Vec<_>>()).collect();
    let cell = |name: &str| cells[1][cells[0].iter().position(|column| *column == name).unwrap()];
    assert_eq!((cell("Wait Class Commit Waits"), cell("Wait Class Network Waits")), ("", "0"), "too wide is not none");
}

const AWR_12_2: &str = "
WORKLOAD REPOSITORY PDB report (PDB snapshots)

DB Name         DB Id    Unique Name DB Role          Edition Release    RAC CDB
------------ ----------- ----------- ---------------- ------- ---------- --- ---
CDB1          1171152340 CDB1        PRIMARY          EE      18.0.0.0.0 NO  YES

Instance     Inst Num Startup Time
------------ -------- ---------------
cdb1                1 19-Jan-19 08:03

Container DB Id  Container Name       Open Time
--------------- --------------- ---------------
     2222222222 PDB1            19-Jan-19 08:04

Host Name        Platform                         CPUs Cores Sockets Memory(GB)
---------------- -------------------------------- ---- ----- ------- ----------
dbhost1          Linux x86 64-bit                   48    24       2     376.17

              Snap Id      Snap Time      Sessions Curs/Sess  PDBs
            --------- ------------------- -------- --------- -----
Begin Snap:    ###### 19-Jan-19 10:00:53        45       5.2     1
  End Snap:    ###### 19-Jan-19 11:00:53        47       5.3     1
   Elapsed:               ##### (mins)
   DB Time:              120.50 (mins)

Load Profile                    Per Second   Per Transaction  Per Exec  Per Call
~~~~~~~~~~~~~~~            ---------------   --------------- --------- ---------
             DB Time(s):               2.0               0.1      0.00      0.01
              DB CPU(s):               0.5               0.1      0.00      0.01
      Background CPU(s):               0.1               0.1      0.00      0.01
      Redo size (bytes):          36,036.0           6,823.6
  Logical read (blocks):          41,250.8           2,811.2
 Physical read (blocks):           8,080.1             180.0
       Read IO requests:           8,079.2             180.0
         Executes (SQL):             721.6              48.4

Top 10 Foreground Events by Total Wait Time
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
                                           Total Wait       Avg   % DB Wait
Event                                Waits Time (sec)      Wait   time Class
------------------------------ ----------- ---------- --------- ------ --------
db file sequential read              29.1M      5432.1  186.67us   75.1 User I/O
DB CPU                                         1800.4             24.9
          -------------------------------------------------------------
IO Profile                  Read+Write/Second     Read/Second    Write/Second
~~~~~~~~~~                  ----------------- --------------- ---------------
            Total Requests:          8,200.5         8,090.5           110.0
         Database Requests:          8,150.5         8,079.2            71.3
             Redo Requests:             13.2             0.0            13.2

Foreground Wait Events                     DB/Inst: CDB1/cdb1  Snaps: 1201-1202
-> s  - second, ms - millisecond, us - microsecond, ns - nanosecond

                                                             Avg
                                        %Time Total Wait    Wait    Waits   % DB
Event                             Waits -outs   Time (s)             /txn   time
-------------------------- ------------ ----- ---------- ------- -------- ------
db file sequential read           29.1M             5.4K 186.67us     9.9   75.1
log file sync                         7                0  482.00us    0.0     .0
          -------------------------------------------------------------
End of Report
";

#[test]
fn a_pdb_report_of_18c_has_means_with_units_and_an_io_profile() {
    assert_figures(
        "awr_18c_pdb.txt",
        AWR_12_2,
        &[
            ("elapsed_s", Some(3_600.0)),
            ("cpus", Some(48.0)),
            ("single_read/mean_us", Some(186.67)),
            ("single_read/error_us", Some(0.005)),
            ("log_sync/mean_us", Some(482.0)),
            ("all_read_requests_per_s", Some(8_090.5)),
            ("redo_writes_per_s", Some(13.2)),
            ("write_requests_but_redo_per_s", Some(96.8)),
            ("db_cpu_cores", Some(0.6)),
        ],
    );
    let step = one("awr_18c_pdb.txt", AWR_12_2);
    assert_eq!(step.target, "oracle: CDB1/PDB1 (cdb1) on dbhost1", "two databases of one container are two targets");
}

/// The page of 21c and 23ai, whose names and corners may be cells of either kind.
fn page(release: &str) -> String {
    format!(
        "<html lang=\"en\"><head><title>AWR Report for DB: ORCL</title></head><body class=\"awr\">\n\
         <h1 class=\"awr\">\n    WORKLOAD REPOSITORY report for\n\n</h1>\n<p />\n\
         <table border=\"0\" class=\"tdiff\" summary=\"This table displays database instance information\">\
         <tr><th>DB Name</th><th>DB Id</th><th>Unique Name</th><th>Role</th><th>Edition</th><th>Release</th><th>RAC</th><th>CDB</th></tr>\n\
         <tr><td scope=\"row\">ORCL</td><td>1171152340</td><td>orcl</td><td>PRIMARY</td><td>EE</td><td>{release}</td><td>NO</td><td>YES</td></tr></table>\n\
         <table summary=\"This table displays host information\"><tr><th>Host Name</th><th>Platform</th><th>CPUs</th><th>Cores</th><th>Sockets</th><th>Memory (GB)</th></tr>\
         <tr><td>dbhost1</td><td>Linux x86 64-bit</td><td>16</td><td>8</td><td>1</td><td>62.5</td></tr></table>\n\
         <table summary=\"This table displays snapshot information\"><tr><td></td><th>Snap Id</th><th>Snap Time</th><th>Sessions</th><th>Cursors/Session</th></tr>\
         <tr><td>Begin Snap:</td><td>12</td><td>01-Mar-24 10:00:00</td><td>90</td><td>2.1</td></tr>\
         <tr><td>End Snap:</td><td>13</td><td>01-Mar-24 10:21:49</td><td>91</td><td>2.1</td></tr>\
         <tr><td>Elapsed:</td><td>&#160;</td><td>21.82 (mins)</td><td></td><td></td></tr>\
         <tr><td>DB Time:</td><td>&#160;</td><td>87.28 (mins)</td><td></td><td></td></tr></table>\n\
         <h3 class=\"awr\">Load Profile</h3>\n<table summary=\"This table displays load profile\">\
         <tr><td></td><th>Per Second</th><th>Per Transaction</th><th>Per Exec</th><th>Per Call</th></tr>\
         <tr><td>Logical read (blocks):</td><td>68,115.4</td><td>1.0</td><td></td><td></td></tr></table>\n\
         <h3 class=\"awr\">Top 10 Foreground Events by Total Wait Time</h3>\n\
         <table summary=\"This table displays top 10 wait events by total wait time\">\
         <tr><th rowspan=\"2\">Event</th><th colspan=\"2\">Total</th><th rowspan=\"2\">Avg Wait</th><th rowspan=\"2\">% DB time</th><th rowspan=\"2\">Wait Class</th></tr>\
         <tr><th>Waits</th><th>Wait Time (sec)</th></tr>\
         <tr><td>direct path read</td><td>6,904,693</td><td>4,712.2</td><td>682.46us</td><td>90.0</td><td rowspan=\"2\">User I/O</td></tr>\
         <tr><td>db file sequential read</td><td>109</td><td>.1</td><td>749.07us</td><td>.0</td></tr></table>\n\
         <h3 class=\"awr\">Background Wait Events</h3>\n<table summary=\"This table displays background wait events statistics\"></table>\n\
         <h3 class=\"awr\">Other Instance Activity Stats</h3>\n\
         <table summary=\"This table displays Instance activity statistics. For each instance, activity total, activity per second\">\
         <tr><th>Statistic</th><th>Total</th><th>per Second</th><th>per Trans</th></tr>\
         <tr><td>physical read IO requests</td><td>10,535,057</td><td>8,047.3</td><td>1.0</td></tr></table>\nEnd of Report\n</body></html>\n"
    )
}

#[test]
fn pages_of_late_releases_have_spans_and_corners() {
    for release in ["21.0.0.0.0", "23.0.0.0.0"] {
        assert_figures(
            "awr.html",
            page(release),
            &[
                ("elapsed_s", Some(1_309.2)),
                ("average_active_sessions", Some(4.0)),
                ("cpus", Some(16.0)),
                ("read_requests_per_s", Some(8_047.3)),
                ("logical_reads_per_s", Some(68_115.4)),
                ("direct_read/waits", Some(6_904_693.0)),
                ("direct_read/mean_us", Some(4_712.2e6 / 6_904_693.0)),
                ("single_read/mean_us", Some(749.07)),
                ("log_write/waits", None),
            ],
        );
    }
    let findings = format!("{:?}", one("awr.html", page("23.0.0.0.0")).findings);
    assert!(
        findings.contains("no row that could be read") && findings.contains("Background Wait Events"),
        "{findings}"
    );
}

/// `text` with other separators for groups of digits and for decimals, save in releases.
fn separated(text: &str, group: &str, point: &str) -> String {
    let (mut other, mut rest) = (String::new(), text);
    let of_number = |c: char| c.is_ascii_digit() || c == '.' || c == ',';
    while let Some(begin) = rest.find(of_number) {
        let end = begin + rest[begin..].find(|c| !of_number(c)).unwrap_or(rest.len() - begin);
        let number = &rest[begin..end];
        let is_number = number.ends_with(|c: char| c.is_ascii_digit()) && number.matches('.').count() < 2;
        let parts = number.split('.').map(|part| part.replace(',', group)).collect::<Vec<_>>();
        other += &rest[..begin];
        other += &if is_number { parts.join(point) } else { number.to_owned() };
        rest = &rest[end..];
    }
    other + rest
}

#[test]
fn numbers_are_read_whatever_separates_their_digits() {
    let figures = [
        ("elapsed_s", Some(304.8)),
        ("logical_reads_per_s", Some(41_250.8)),
        ("single_read/waits", Some(2_462_114.0)),
        ("single_read/mean_us", Some(713e6 / 2_462_114.0)),
        ("redo_writes_per_s", Some(4_010.0 / 304.8)),
    ];
    let unbroken = [("\u{202f}", ","), ("\u{a0}", ","), ("'", "."), ("\u{2019}", "."), ("'", ",")];
    for (group, point) in [(".", ","), (" ", ","), (" ", ".")].into_iter().chain(unbroken) {
        let text = separated(AWR_11, group, point);
        assert_ne!(text, AWR_11);
        assert_figures(&format!("awr{group}{point}.txt"), text, &figures);
        let page = separated(&page("19.0.0.0.0"), group, point);
        assert_figures(
            &format!("awr{group}{point}.html"),
            page,
            &[("elapsed_s", Some(1_309.2)), ("single_read/mean_us", Some(749.07))],
        );
    }
    let entities = page("19.0.0.0.0").replace("6,904,693", "6&#8239;904&nbsp;693");
    assert_figures("awr.html", entities, &[("direct_read/waits", Some(6_904_693.0))]);
    // Where commas group, a blank may end a column: the figure is unknown, not its first group.
    let blanks = page("19.0.0.0.0").replace("6,904,693", "6 904 693");
    assert_figures("awr.html", blanks, &[("direct_read/waits", None), ("direct_read/mean_us", Some(682.46))]);
}

#[test]
fn snapshots_are_dated_in_the_languages_of_sites() {
    let begins = one("awr.txt", AWR_11).events;
    for (from, to) in [
        ("19-Jan-12", "19-Ene-12"),
        ("19-Jan-12", "19-JANV.-12"),
        ("19-Jan-12", "19-Gen-12"),
        ("19-Jan-12", "19-1月 -12"),
        ("19-Jan-12", "19-01-12"),
        ("19-Jan-12", "19.01.2012"),
        ("19-Jan-12", "2012-01-19"),
        ("19-Jan-12", "2012/01/19"),
    ] {
        assert_eq!(one("awr.txt", AWR_11.replace(from, to)).events, begins, "{to}");
    }
    let unknown = one("awr.txt", AWR_11.replace("19-Jan-12 10:", "01/02/12 10:"));
    let began = format!("{:?}", unknown.events);
    assert!(began.contains("boundaries_us: [0, 304800000]"), "a date that may be of two months is none: {began}");
}

#[test]
fn cpu_of_a_cut_report_is_unknown_without_the_backgrounds() {
    let end = AWR_10.find("background cpu time").unwrap();
    assert_figures("awr.txt", &AWR_10[..end], &[("db_cpu_cores", None), ("elapsed_s", Some(3_613.2))]);
    let wide = AWR_10.replace("                 30.1 ", "                ##### ");
    assert_ne!(wide, AWR_10);
    assert_figures("awr.txt", wide, &[("db_cpu_cores", None)]);
}
