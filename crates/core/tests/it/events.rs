//! An event is read back as the value that was written.

use mindful_core::contract::event::Event;
use proptest::prelude::*;

proptest! {
    #[test]
    fn a_reading_keeps_each_digit_of_its_values(values in prop::collection::vec(prop::option::of(prop::num::f64::NORMAL), 1..20)) {
        let event = Event::Sample { source: "report".to_owned(), boundary: 1, at_us: 5, cost_us: 0, values };
        let line = serde_json::to_string(&event).unwrap();
        prop_assert_eq!(serde_json::from_str::<Event>(&line).unwrap(), event);
    }
}
