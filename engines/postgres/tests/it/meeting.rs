//! Ranks that meet in the namespace of a real server.

use std::sync::Arc;

use mindful_conformance::assert_says;
use mindful_core::Engine;
use mindful_core::contract::event::{Events, Silent};
use mindful_core::plan::settings::Settings;
use mindful_core::ranks::rendezvous::Rendezvous;
use mindful_postgres::ENGINE;

use crate::support::{Server, programs};

fn meet(server: &Server) -> mindful_core::Result<Box<dyn Rendezvous>> {
    let settings = Settings::defaults(ENGINE.options());
    let options = ENGINE.parse_options(&server.url("bench", "postgres"), &settings)?;
    let meeting = options.open_rendezvous(&(Arc::new(Silent) as Arc<dyn Events>))?.expect("ranks meet in PostgreSQL");
    meeting.prepare()?;
    Ok(meeting)
}

#[test]
fn ranks_that_come_together_make_one_place_to_meet() {
    let server = Server::start(&programs()[0], &[]);
    std::thread::scope(|scope| {
        let ranks: Vec<_> = (0..4).map(|_| scope.spawn(|| meet(&server).map(drop))).collect();
        for rank in ranks {
            rank.join().unwrap().unwrap();
        }
    });
    let meeting = meet(&server).unwrap();
    mindful_conformance::rendezvous::rows_and_chunks_are_kept_apart(&*meeting, &std::thread::sleep);
    assert_eq!(server.sql("SELECT count(*)::text FROM mindful.meeting"), ["0"], "nothing is left");
    assert!(meeting.location().contains("schema \"mindful\" of postgres://bench@"), "{}", meeting.location());
    // It is not a dataset, is listed as mindful's own and is removed with it.
    let target = server.target(&[]).unwrap();
    assert_eq!(target.dataset().unwrap(), None);
    let listed: Vec<_> = target.inventory().unwrap().into_iter().map(|object| object.name).collect();
    assert!(listed.contains(&"\"mindful\".\"meeting\"".to_owned()), "{listed:?}");
    target.cleanup().unwrap();
    assert_eq!(server.sql("SELECT count(*)::text FROM pg_namespace WHERE nspname = 'mindful'"), ["0"]);
}

#[test]
fn a_place_to_meet_that_others_changed_is_refused() {
    let server = Server::start(&programs()[0], &[]);
    drop(meet(&server).unwrap());
    server.sql("ALTER TABLE mindful.meeting ADD COLUMN more text DEFAULT 'x'");
    assert_says(meet(&server).err().unwrap(), &["is not as mindful made it"]);
    server.sql("DROP SCHEMA mindful CASCADE; CREATE SCHEMA mindful");
    assert_says(meet(&server).err().unwrap(), &["was not made by mindful"]);
}
