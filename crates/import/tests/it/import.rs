//! Old configurations become plans that mindful itself accepts.

use mindful_core::plan::settings::{Origin, Settings};
use mindful_core::plan::units::Share;
use mindful_core::plan::{KEYS, Plan};
use mindful_core::workload::Redo;
use mindful_import::{ImportedPlan, import_configuration as import};

/// Every parameter that the kits read, from the file or the environment, each with another value.
const SLOB: &str = "UPDATE_PCT=50\nSCAN_PCT=5\nRUN_TIME=600\nWORK_LOOP=1000\nSCALE=160M\nSCAN_TABLE_SZ=1M\n\
WORK_UNIT=64\nREDO_STRESS=HEAVY\nLOAD_PARALLEL_DEGREE=2\nTHREADS_PER_SCHEMA=1\nDATABASE_STATISTICS_TYPE=statspack\n\
ADMIN_SQLNET_SERVICE=admin\nSQLNET_SERVICE_BASE=rac\nSQLNET_SERVICE_MAX=2\nDBA_PRIV_USER=operator\n\
SYSDBA_PASSWD=\"open sesame\"\nEXTERNAL_SCRIPT=/bin/collect\nDO_HOTSPOT=TRUE\nHOTSPOT_MB=8\nHOTSPOT_OFFSET_MB=16\n\
HOTSPOT_FREQUENCY=3\nHOT_SCHEMA_FREQUENCY=4\nTHINK_TM_FREQUENCY=5\nTHINK_TM_MIN=.1\nTHINK_TM_MAX=.5\n\
OBFUSCATE_COLUMNS=TRUE\nUNIQUE_INDEX=TRUE\nNO_OS_PERF_DATA=TRUE\nSLOB_DEBUG=TRUE\nSLOB_TEMPDIR=/var/tmp\n\
OS_TEMP=/var/tmp\nBLOCK_SZ=8192\n";

const PGIO: &str = "UPDATE_PCT=20\nRUN_TIME=120\nNUM_SCHEMAS=4\nNUM_THREADS=2\nWORK_UNIT=255\nUPDATE_WORK_UNIT=8\n\
SCALE=1G\nDBNAME=pg10\nCONNECT_STRING=pg10\nCREATE_BASE_TABLE=TRUE\n";

fn resolved(imported: &ImportedPlan) -> Plan {
    let table: toml::Table = imported.toml.parse().unwrap();
    let mut settings = Settings::defaults(KEYS);
    for (key, value) in table {
        assert!(KEYS.iter().any(|known| known.name == key), "{key} is no key of a plan");
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        settings.set(&key, text, Origin::File("mindful.toml".to_owned()));
    }
    Plan::from_settings(&settings).unwrap()
}

#[test]
fn a_slob_configuration_keeps_its_meaning() {
    let plan = resolved(&import("slob.conf", SLOB).unwrap());
    assert_eq!(plan.update_pct, Share::parse("50").unwrap());
    assert_eq!(plan.scale.unwrap().blocks(8192), 20_480);
    assert_eq!((plan.redo, plan.ops, plan.guard.as_secs()), (Redo::Heavy, Some(1_000), 600));
    let timed = resolved(&import("slob.conf", &SLOB.replace("WORK_LOOP=1000", "WORK_LOOP=0")).unwrap());
    assert_eq!((timed.duration.as_secs(), timed.ops), (600, None));
    let fraction = import("slob.conf", &SLOB.replace("160M", "1.5G")).unwrap_err().to_string();
    assert!(fraction.contains("SCALE=1.5G is not a size"), "{fraction}");
    let spot = plan.hot_spot.unwrap();
    assert_eq!((spot.size.blocks(8192), spot.offset.blocks(8192), spot.share.hundredths()), (1_024, 2_048, 3_333));
    assert_eq!(plan.hot_schema.hundredths(), 2_500);
    assert_eq!(plan.think_time.unwrap().share.hundredths(), 2_000);
}

#[test]
fn each_line_describes_the_old_tool() {
    let toml = import("slob.conf", SLOB).unwrap().toml;
    for said in
        ["came out as 48.0 %", "visited 63 blocks", "16 KiB blocks and used 10,240", "one operation in 3, by a counter"]
    {
        assert!(toml.contains(said), "{said} is missing in\n{toml}");
    }
    let lines: Vec<_> = toml.lines().collect();
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| line.contains(" = ") && !line.starts_with('#')) {
        assert!(lines[at - 1].starts_with("# "), "no comment above {line}");
    }
}

#[test]
fn an_unknown_parameter_is_listed_with_the_nearest_one() {
    let left = import("slob.conf", &format!("UPDTE_PCT=1\n{SLOB}")).unwrap().left_behind.join("\n");
    assert!(left.contains("UPDTE_PCT (line 1): unknown parameter, did you mean UPDATE_PCT?"), "{left}");
}

#[test]
fn a_pgio_configuration_keeps_its_meaning() {
    let imported = import("pgio.conf", PGIO).unwrap();
    let plan = resolved(&imported);
    assert_eq!((plan.schemas, plan.sessions, plan.load_streams), (Some(4), 8, 2));
    assert_eq!((plan.work_unit, plan.update_work_unit), (255, Some(8)));
    assert_eq!(plan.scale.unwrap().blocks(8192), 131_072);
    assert_eq!(plan.target, "postgres:///pg10");
    assert!(imported.toml.contains("visited 256 blocks and counted 255"));
}

#[test]
fn shell_expressions_are_refused_with_their_line() {
    for value in ["$(rm -rf x)", "`date`", "\"${B}\"", "<(ls)", "'open"] {
        let error = import("slob.conf", &format!("SCAN_PCT=1\nUPDATE_PCT={value}")).unwrap_err().to_string();
        assert!(error.starts_with("slob.conf line 2: "), "{error}");
        assert_eq!(error.contains("nothing in the file is executed"), value != "'open", "{error}");
        assert!(!["rm", "date", "ls"].iter().any(|part| error.contains(part)), "a value may be a secret: {error}");
    }
}

#[test]
fn every_parameter_of_both_kits_is_carried_or_listed() {
    for (file, text) in [("slob.conf", SLOB), ("pgio.conf", PGIO)] {
        let imported = import(file, text).unwrap();
        resolved(&imported);
        let left = imported.left_behind.join("\n");
        assert!(!left.contains("unknown parameter"), "{left}");
        for (key, value) in text.lines().filter_map(|line| line.split_once('=')) {
            // A comment or a line of the list shows the name, and for a carried one its old value too.
            let named = |line: &&str| line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|w| w == key);
            let carried = imported.toml.lines().filter(|line| line.starts_with('#')).find(named);
            let listed = left.lines().find(named);
            assert!(carried.is_some() || listed.is_some(), "{key} of {file} is dropped in silence:\n{}", imported.toml);
            if let (Some(comment), None) = (carried, listed) {
                assert!(comment.contains(&format!("{key}={value}")), "{comment}");
            }
        }
        assert!(!imported.toml.contains("sesame") && !left.contains("sesame"), "{left}");
    }
}

#[test]
fn services_of_a_cluster_become_one_target() {
    let target = |text: &str| {
        let imported = import("slob.conf", &format!("UPDATE_PCT=10\nSCAN_PCT=0\n{text}")).unwrap();
        let line = imported.toml.lines().find(|line| line.starts_with("target")).map(str::to_owned);
        (line, imported.left_behind.join("\n"))
    };
    let (four, _) = target("SQLNET_SERVICE_BASE=rac\nSQLNET_SERVICE_MAX=4\n");
    assert_eq!(four.as_deref(), Some("target = \"oracle://mindful_bench@rac1..4\""));
    let (one, _) = target("SQLNET_SERVICE_BASE=sales\n");
    assert_eq!(one.as_deref(), Some("target = \"oracle://mindful_bench@sales\""));
    let (none, left) = target("SQLNET_SERVICE_MAX=4\n");
    assert!(none.is_none() && left.contains("SQLNET_SERVICE_MAX: without SQLNET_SERVICE_BASE"), "{left}");
}
