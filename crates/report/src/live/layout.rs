//! How the board is laid out on a screen of any size.

use mindful_analyze::figures::rates;
use mindful_core::contract::metric::Counter;
use mindful_core::result::Severity;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::Paragraph;

use super::board::{Board, REMARKS, verdict};
use super::line::reads_in_words;
use crate::drawing::characters::{curve, sparkline};
use crate::escape;
use crate::figure::{UNKNOWN, maybe, number, percent, sessions, time_us};

/// Lines of the figures: place, a blank and eight figures.
const FIGURES: u16 = 10;

pub(super) fn draw(frame: &mut Frame, board: &Board, colour: bool) {
    let [figures, curve, findings] = Layout::vertical([
        Constraint::Length(FIGURES),
        Constraint::Min(0),
        Constraint::Length((board.findings.len().min(5) + board.remarks.len().min(remarks(board)) + 2) as u16),
    ])
    .areas(frame.area());
    if let Some(watched) = &board.watched {
        let whole = figures.union(curve);
        let lines = watched.lines(whole.width.into(), whole.height.into()).into_iter().map(Line::from);
        frame.render_widget(Paragraph::new(lines.collect::<Text>()), whole);
    } else {
        frame.render_widget(Paragraph::new(figures_of(board, figures, colour)), figures);
        frame.render_widget(Paragraph::new(curve_of(board, curve)), curve);
    }
    frame.render_widget(Paragraph::new(findings_of(board, colour)), findings);
}

fn strong(text: impl Into<String>) -> Span<'static> {
    Span::styled(text.into(), Style::new().add_modifier(Modifier::BOLD))
}

fn figures_of(board: &Board, area: Rect, colour: bool) -> Text<'static> {
    let mut lines = vec![place(board, colour), Line::default()];
    let last = board.seconds.last().copied();
    let columns = usize::from(area.width.saturating_sub(34)).min(80);
    let history = |value: fn(&super::board::Second) -> Option<f64>| {
        let from = board.seconds.len().saturating_sub(columns);
        let values: Vec<_> = board.seconds[from..].iter().map(value).collect();
        sparkline(&values, columns, false)
    };
    let us = |value: Option<f64>| value.map_or_else(|| UNKNOWN.to_owned(), time_us);
    let row = |name: &str, value: String, drawn: String| {
        Line::from(vec![
            Span::raw(format!(" {name:<16}")),
            strong(format!("{value:>12}")),
            Span::raw(format!("   {drawn}")),
        ])
    };
    let reads = board.rate(Counter::PhysicalReads);
    let [name, cached] =
        reads_in_words(reads.unwrap_or_default(), board.rate(Counter::ProcessReadBytes), board.block_bytes());
    lines.push(row(&name, maybe(reads), cached));
    lines.push(row("blocks/s", maybe(last.map(|s| s.blocks_per_s)), history(|s| Some(s.blocks_per_s))));
    lines.push(row("operations/s", maybe(last.map(|s| s.ops_per_s)), history(|s| Some(s.ops_per_s))));
    lines.push(row("p50", us(last.and_then(|s| s.p50_us)), history(|s| s.p50_us)));
    lines.push(row("p99", us(last.and_then(|s| s.p99_us)), history(|s| s.p99_us)));
    lines.push(row("hit ratio", percent(rates::hit_ratio(|counter| board.rate(counter))), String::new()));
    lines.push(Line::from(format!(" {:<16}{}", "waits", waits(board))));
    lines.push(Line::from(format!(" {:<16}{}", "device", device(board))));
    Text::from(lines)
}

/// The number of the step, its progress, and its worst finding.
fn place(board: &Board, colour: bool) -> Line<'static> {
    let mut spans = vec![strong(" mindful  ")];
    if let Some(head) = &board.step {
        spans.push(strong(format!("step {}: {}  ", head.step + 1, sessions(u32::try_from(head.session_count()).ok()))));
    }
    let place = match board.place() {
        _ if !board.progress.is_empty() => board.progress.clone(),
        Some((warm_up, gone, asked)) => {
            let what = if warm_up { "warm-up" } else { "measuring" };
            match asked {
                Some(asked) => format!("{what} {gone:.0} of {asked:.0} s, {:.0} s left", (asked - gone).max(0.0)),
                None => format!("{what} {gone:.0} s"),
            }
        }
        None => "not measuring".to_owned(),
    };
    spans.push(Span::raw(format!("{place}  ")));
    let grave = board.findings.iter().any(|finding| finding.severity > Severity::Info);
    let style = if colour && grave { Style::new().fg(Color::Yellow) } else { Style::new() };
    if board.step.is_some() || grave {
        spans.push(Span::styled(verdict(&board.findings), style));
    }
    Line::from(spans)
}

fn waits(board: &Board) -> String {
    let waits = board.waits();
    if waits.is_empty() {
        return UNKNOWN.to_owned();
    }
    let named = waits.iter().take(4).map(|(name, sessions)| format!("{} {}", escape(name), number(*sessions)));
    format!("{} sessions", named.collect::<Vec<_>>().join(", "))
}

fn device(board: &Board) -> String {
    let rate = |counter| board.rate(counter);
    let mean = rates::device_read_us(rate).map_or_else(|| UNKNOWN.to_owned(), time_us);
    let (reads, queue) = (rate(Counter::DeviceReads), rates::device_in_flight(rate));
    format!("{} reads/s of {mean}, {} requests at a time", maybe(reads), maybe(queue))
}

fn curve_of(board: &Board, area: Rect) -> Text<'static> {
    let (wide, high) = (usize::from(area.width.saturating_sub(2)).min(100), usize::from(area.height.saturating_sub(2)));
    if board.curve.len() < 2 || high < 3 || wide < 20 {
        return Text::default();
    }
    let mut lines = vec![Line::from(" p99 against blocks/s so far; the number is sessions")];
    lines.extend(curve(&board.curve, wide, high, false).into_iter().map(|line| Line::from(format!(" {line}"))));
    Text::from(lines)
}

/// The number of shown remarks; a watch shows all, because they name its unmeasured parts.
fn remarks(board: &Board) -> usize {
    if board.watched.is_some() { REMARKS } else { 3 }
}

fn findings_of(board: &Board, colour: bool) -> Text<'static> {
    let mut lines = Vec::new();
    for remark in board.remarks.iter().rev().take(remarks(board)).rev() {
        lines.push(Line::from(format!(" {remark}")));
    }
    let newest = board.findings.len().saturating_sub(5);
    for finding in &board.findings[newest..] {
        let tone = match finding.severity {
            Severity::Error => Color::Red,
            Severity::Warning => Color::Yellow,
            Severity::Info => Color::Reset,
        };
        let style = if colour { Style::new().fg(tone) } else { Style::new() };
        let line = format!(" {}: {}", escape(&finding.code), escape(&finding.evidence));
        lines.push(Line::from(vec![Span::styled(format!(" {:<8}", finding.severity), style), Span::raw(line)]));
    }
    lines.push(Line::default());
    lines.push(Line::from(match board.watched {
        Some(_) => " Ctrl-C or q ends the watch",
        None => " q leaves this view, the run continues; Ctrl-C ends the run",
    }));
    Text::from(lines)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use mindful_core::contract::event::Event;
    use mindful_core::contract::metric::{Phase, Scope};
    use mindful_core::result::Finding;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::*;
    use crate::drawing::characters::Spot;
    use crate::live::board::WatchedBoard;
    use crate::live::events::{sample, source};

    fn shown(board: &Board, wide: u16, high: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(wide, high)).unwrap();
        terminal.draw(|frame| draw(frame, board, false)).unwrap();
        terminal.backend().to_string()
    }

    #[test]
    fn an_empty_board_has_a_screen_of_any_size() {
        for (wide, high) in [(1, 1), (20, 5), (80, 24), (300, 100)] {
            shown(&Board::default(), wide, high);
        }
        assert!(shown(&Board::default(), 80, 24).contains("not measuring"));
    }

    #[test]
    fn a_watch_shows_the_columns_and_the_last_seconds() {
        let watched = WatchedBoard::new("WAL", [("db".to_owned(), Scope::Database)].into());
        let mut board = Board::of(Some(watched));
        board.apply(source("db", &[Counter::Commits.name()], Phase::Boundary));
        for second in 0..60 {
            board.apply(sample("db", second, 0, &[f64::from(second * 50)]));
        }
        let shown = shown(&board, 150, 24);
        assert!(shown.contains("database") && shown.contains("WAL MiB/s") && shown.contains("50.0"), "{shown}");
        assert!(shown.contains("    59 ") && !shown.contains("    20 ") && shown.contains("ends the watch"), "{shown}");
    }

    #[test]
    fn a_watch_names_what_it_does_not_measure() {
        let mut board = Board::of(Some(WatchedBoard::new("WAL", BTreeMap::new())));
        assert!(shown(&board, 100, 24).contains("waiting for the end of the first interval"));
        let sources = ["device", "processes", "volume limits", "device latency"];
        for source in sources {
            board.apply(Event::Note { text: format!("not measured: {source}: denied") });
        }
        let shown = shown(&board, 100, 24);
        for source in sources {
            assert!(shown.contains(&format!("not measured: {source}: denied")), "{shown}");
        }
    }

    #[test]
    fn reads_from_the_page_cache_are_not_physical() {
        let mut board = Board::default();
        board.block_bytes = Some(8_192);
        board.apply(source("s", &[Counter::PhysicalReads.name(), Counter::ProcessReadBytes.name()], Phase::Boundary));
        board.apply(sample("s", 0, 0, &[0.0, 0.0]));
        board.apply(sample("s", 1, 0, &[40_000.0, 10_000.0 * 8_192.0]));
        let shown = shown(&board, 100, 24);
        assert!(shown.contains("75 % from the page cache") && !shown.contains("physical"), "{shown}");
    }

    #[test]
    fn findings_and_the_curve_so_far_are_on_the_screen() {
        let mut board = Board::default();
        let (code, text) = ("foreign-cpu".to_owned(), String::new());
        let finding = Finding { code, severity: Severity::Warning, text, evidence: "1.5 of 2 CPUs\u{1b}[2J".into() };
        board.apply(Event::Finding(finding));
        for (x, y, label) in [(100.0, 1_000.0, "1"), (190.0, 1_100.0, "2"), (200.0, 2_000.0, "4")] {
            board.curve.push(Spot { x, y, label: label.into() });
        }
        let shown = shown(&board, 100, 30);
        assert!(shown.contains("so far SUSPECT (foreign-cpu)") && shown.contains("1.5 of 2 CPUs"), "{shown}");
        assert!(shown.matches('●').count() == 3 && !shown.contains('\u{1b}'), "{shown}");
    }
}
