//! One session on its own thread: connect, report ready, then slice after slice.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use mindful_core::contract::clock::{Clock, Notifier};
use mindful_core::contract::session::Session;
use mindful_core::contract::slice::{Placement, SliceOrder, SliceReport, session_name};
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::contract::target::Target;
use mindful_core::record::run::StepHead;
use mindful_core::result::Finding;
use mindful_core::workload::Workload;
use mindful_core::{Error, Result};
use parking_lot::Mutex;

use crate::step::boundaries::EarlyStop;
use crate::step::gate::{Gate, Signal};

pub(crate) enum Message {
    Ready,
    Rehearsed,
    Slice(u32, Box<SliceReport>),
    Clock(Option<Finding>),
    /// The session has done its work; it stays connected where that went well.
    Done(Result<()>),
}

pub(crate) struct Mailbox {
    messages: Mutex<VecDeque<Message>>,
    bell: Arc<dyn Notifier>,
}

impl Mailbox {
    pub(crate) fn new(clock: &dyn Clock) -> Self {
        Self { messages: Mutex::default(), bell: clock.new_notifier() }
    }

    pub(crate) fn put(&self, message: Message) {
        self.messages.lock().push_back(message);
        self.bell.notify();
    }

    pub(crate) fn take(&self, at_most: Duration) -> Option<Message> {
        let mut next = None;
        self.bell.wait(at_most, &mut || {
            next = self.messages.lock().pop_front();
            next.is_none()
        });
        next
    }
}

pub(crate) struct Shared<'a> {
    pub target: &'a dyn Target,
    pub workload: &'a Workload,
    pub clock: &'a dyn Clock,
    pub gate: &'a Gate,
    pub mailbox: &'a Mailbox,
    /// Ends the step early, for any reason.
    pub halt: &'a StopFlag,
    pub early_stop: &'a EarlyStop,
    /// Slices that a session may run ahead: see `boundaries::ahead`.
    pub ahead: usize,
    pub head: &'a StepHead,
    pub clock_offset_us: i64,
}

impl Shared<'_> {
    /// The main function of a session's thread; `number` counts the sessions of this process.
    pub(crate) fn live(&self, number: u32, placement: Placement) {
        let outcome = self.work(number, placement).map_err(|error| error.at(session_name(placement.session)));
        let (outcome, session) = match outcome {
            Ok(session) => (Ok(()), session),
            Err(error) => (Err(error), None),
        };
        self.mailbox.put(Message::Done(outcome));
        if session.is_some() {
            // The cost of a disconnect for the target, and for the process that ends with it, belongs to no window.
            self.gate.wait_to_leave();
        }
    }

    /// The session after its work; `None` without work.
    fn work(&self, number: u32, placement: Placement) -> Result<Option<Box<dyn Session>>> {
        let Some(connected) = self.gate.in_turn(|| self.target.session(self.workload, placement)) else {
            return Ok(None);
        };
        let mut session = connected?;
        self.mailbox.put(Message::Ready);
        if !self.gate.wait_for_rehearsal() {
            return Ok(None);
        }
        session.rehearse()?;
        self.mailbox.put(Message::Rehearsed);
        match self.gate.wait() {
            Signal::Abort => Ok(None),
            Signal::Go(boundaries) => {
                self.slices(number, &mut *session, &boundaries)?;
                Ok(Some(session))
            }
        }
    }

    fn slices(&self, number: u32, session: &mut dyn Session, boundaries: &[i64]) -> Result<()> {
        if let Some([begin_us, end_us]) = self.window_us(boundaries) {
            session.set_unread_interval(begin_us, end_us);
        }
        let (mut first_op, mut next) = (0, 0);
        while let Some((index, boundary)) = self.next_slice(next, session, boundaries) {
            if self.halt.is_requested() || self.early_stop.reached(index as u32) {
                break;
            }
            let max_ops = self.head.ops.map(|ops| ops - first_op);
            let order =
                SliceOrder { index: index as u32, begin_us: boundary[0], end_us: boundary[1], first_op, max_ops };
            let last = self.early_stop.or_last(boundaries).min(index + 1 + self.ahead);
            let report = session.run_slice_ahead(&order, boundaries.get(index + 2..=last).unwrap_or_default())?;
            refuse_other_slice(report.index, index..boundaries.len() - 1)?;
            first_op += report.total_ops();
            next = report.index as usize + 1;
            self.mailbox.put(Message::Slice(number, Box::new(report)));
            if self.head.ops.is_some_and(|ops| first_op >= ops) {
                break;
            }
        }
        Ok(())
    }

    /// The ends of the window, if its end is known by now.
    fn window_us(&self, boundaries: &[i64]) -> Option<[i64; 2]> {
        let timed = self.head.duration_s.is_some() && self.head.ops.is_none();
        let (begin, end) = (boundaries.get(self.head.warmup_slices as usize)?, boundaries.last()?);
        timed.then_some([*begin, *end])
    }

    /// The first slice from `next` on that has something left to do, with its boundaries: an operation may outlast
    /// whole slices. A session that is under way reports which one that is.
    fn next_slice<'b>(&self, next: usize, session: &dyn Session, boundaries: &'b [i64]) -> Option<(usize, &'b [i64])> {
        let now_us = self.clock.now_us() + self.clock_offset_us;
        let mut left = boundaries.windows(2).enumerate().skip(next);
        left.find(|(_, boundary)| session.is_under_way() || boundary[1] > now_us)
    }
}

/// A server's answer names its slice, which must be one of the ordered ones.
fn refuse_other_slice(reported: u32, due: Range<usize>) -> Result<()> {
    if due.contains(&(reported as usize)) {
        return Ok(());
    }
    let what = format!("slice {reported} was reported, and slice {} was due", due.start);
    Err(Error::run(what, "check that the server is the one that it should be"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_of_a_slice_that_nobody_asked_for_is_refused() {
        assert!(refuse_other_slice(3, 3..5).is_ok() && refuse_other_slice(4, 3..5).is_ok());
        for reported in [2, 5, u32::MAX] {
            let line = refuse_other_slice(reported, 3..5).unwrap_err().to_string();
            assert!(line.contains("slice 3 was due"), "{line}");
        }
    }
}
