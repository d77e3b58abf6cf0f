//! Panics of a driver: drivers panic at answers that they did not expect. Such a panic is an error like any other, and prints
//! nothing.

use std::any::Any;
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Calls a driver, and returns the words of its panic.
pub fn caught<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    let (mut call, mut done) = (Some(call), None);
    catch(&mut || done = call.take().map(|call| call()))?;
    Ok(done.unwrap_or_else(|| unreachable!("a call that did not panic has returned")))
}

fn catch(call: &mut dyn FnMut()) -> Result<(), String> {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                before(info);
            }
        }));
    });
    let before = QUIET.replace(true);
    let called = panic::catch_unwind(AssertUnwindSafe(call));
    QUIET.set(before);
    called.map_err(|panic| words(&*panic))
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no words".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_panic_are_returned() {
        assert_eq!(caught(|| 7), Ok(7));
        assert_eq!(caught(|| -> u8 { panic!("row {} is short", 1) }), Err("row 1 is short".to_owned()));
    }
}
