//! Ranks that meet in a table of a real server.

use std::sync::Arc;
use std::time::Duration;

use mindful_conformance::{dataset_plan, quick_place};
use mindful_core::Engine;
use mindful_core::contract::event::{Events, Silent};
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::plan::settings::Settings;
use mindful_core::ranks::rendezvous::{MAX_CHUNK_BYTES, Rendezvous};
use mindful_mysql::ENGINE;
use mindful_mysql::private::Instance;

use crate::shared;
use crate::support::{Kind, MARIADB, MYSQL, OLDER, each, sql, started, target_at};

fn meet(server: &Instance, database: &str) -> mindful_core::Result<Box<dyn Rendezvous>> {
    let settings = Settings::defaults(ENGINE.options());
    let options = ENGINE.parse_options(&shared::url(&server.socket(), database), &settings)?;
    let meeting = options.open_rendezvous(&(Arc::new(Silent) as Arc<dyn Events>))?.expect("ranks meet in MySQL");
    meeting.prepare()?;
    Ok(meeting)
}

fn ranks_meet_in(kind: Kind) {
    let (shared, database) = (shared::server(kind), shared::name());
    let server = &shared.server;
    std::thread::scope(|scope| {
        let ranks: Vec<_> = (0..4).map(|_| scope.spawn(|| meet(server, &database).map(drop))).collect();
        for rank in ranks {
            rank.join().unwrap().unwrap();
        }
    });
    let meeting = meet(server, &database).unwrap();
    mindful_conformance::rendezvous::rows_and_chunks_are_kept_apart(&*meeting, &std::thread::sleep);
    let most: Vec<u8> = (0..MAX_CHUNK_BYTES).map(|byte| (byte % 253) as u8).collect();
    meeting.write_chunk("j", 0, 0, &most).unwrap();
    assert_eq!(meeting.read_chunk("j", 0, 0).unwrap().unwrap(), most, "the longest chunk goes whole");
    meeting.remove_rows("j", None).unwrap();
    assert_eq!(sql(server, &format!("SELECT COUNT(*) FROM {database}.meeting")), "0", "nothing is left");
    assert!(
        meeting.location().starts_with(&format!("database `{database}` of mysql://root@")),
        "{}",
        meeting.location()
    );

    // It is not a dataset, does not block a load, is listed as mindful's own and is removed with it.
    let target = target_at(&shared::url(&server.socket(), &database), &[]).unwrap();
    assert_eq!(target.dataset().unwrap(), None);
    target.load(&dataset_plan(1, 64), &Silent, &StopFlag::default()).unwrap();
    let listed: Vec<_> = target.inventory().unwrap().into_iter().map(|object| object.name).collect();
    assert!(listed.contains(&format!("`{database}`.`meeting`")), "{listed:?}");
    target.cleanup().unwrap();
    let left = format!("SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = '{database}'");
    assert_eq!(sql(server, &left), "0");
}

#[test]
fn ranks_that_come_together_make_one_place() {
    each([MARIADB, MYSQL, OLDER], ranks_meet_in);
}

#[test]
fn many_ranks_at_once_do_not_block_each_other() {
    let (shared, database) = (shared::server(MARIADB), shared::name());
    std::thread::scope(|scope| {
        for rank in 0..16 {
            let (server, database) = (&shared.server, &database);
            scope.spawn(move || {
                let meeting = meet(server, database).unwrap();
                let row = |body: &str| mindful_core::ranks::rendezvous::RankRow {
                    rank,
                    token: format!("t{rank}"),
                    body: body.to_owned(),
                };
                for turn in 0..20 {
                    let lease = Duration::from_mins(1);
                    assert_eq!(meeting.claim_rank("j", &row("here"), lease).unwrap(), None, "{rank} {turn}");
                    meeting.write_chunk("j", rank, 0, &[7; 1000]).unwrap();
                    assert!(meeting.update_row("j", &row(&format!("{turn}")), lease).unwrap(), "{rank} {turn}");
                    meeting.read_rows("j").unwrap();
                    meeting.remove_rows("j", Some(rank)).unwrap();
                }
            });
        }
    });
    assert_eq!(sql(&shared.server, &format!("SELECT COUNT(*) FROM {database}.meeting")), "0");
}

#[test]
fn a_place_to_meet_that_others_made_or_changed_is_refused() {
    let (shared, database) = (shared::server(MARIADB), shared::name());
    let server = &shared.server;
    let refused = || meet(server, &database).err().unwrap().to_string();
    drop(meet(server, &database).unwrap());
    sql(server, &format!("ALTER TABLE {database}.meeting ADD COLUMN more INT"));
    assert!(refused().contains("is not as mindful made it: it has the column more int"), "{}", refused());
    sql(server, &format!("DROP TABLE {database}.meeting"));
    sql(server, &format!("CREATE TABLE {database}.meeting (job INT) ENGINE = InnoDB"));
    assert!(refused().contains("it lacks mindful's mark"), "{}", refused());
    let target = target_at(&shared::url(&server.socket(), &database), &[]).unwrap();
    let kept = target.cleanup().unwrap().into_iter().find(|object| object.name.ends_with("`meeting`")).unwrap();
    assert!(kept.kept_because.is_some(), "what others made stays");
    sql(server, &format!("DROP TABLE {database}.meeting"));
    sql(server, &format!("CREATE TABLE {database}.letters (n INT) ENGINE = InnoDB"));
    assert!(refused().contains("was not made by mindful"), "{}", refused());
}

#[test]
fn a_server_that_refuses_a_chunk_is_named_with_a_next_step() {
    let place = quick_place();
    let server = started(MARIADB, &place.path().join("db"), &[("set", "max_allowed_packet=65536")]);
    let error = meet(&server, "short").err().unwrap().to_string();
    assert!(error.contains("accepts statements of at most 65536 bytes"), "{error}");
    assert!(error.contains("SET GLOBAL max_allowed_packet = 1048576"), "{error}");
    sql(&server, "SET GLOBAL max_allowed_packet = 1048576");
    drop(meet(&server, "short").unwrap());
}
