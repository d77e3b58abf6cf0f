//! Pages by the keyboard alone, in a real browser.

use std::path::Path;

use crate::browser::chromium::{Browser, Tab};
use crate::charts::{index, sweep};
use crate::forms::page;
use mindful_report::html::site::IndexedRun;

/// All controls that a key can reach; of radio buttons with one name, the selected one.
const CONTROLS: &str =
    "(window.all = [...document.querySelectorAll('summary, a[href], input, select, [tabindex=\"0\"]')]
  .filter((one) => one.checkVisibility() && (one.type !== 'radio' || one.checked))).length";
/// The focused control, whether the focus is visible, and its kind.
const ACTIVE: &str = "(() => { const at = document.activeElement, style = getComputedStyle(at);
  return [all.indexOf(at), style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0, at.outerHTML.slice(0, 120)] })()";
const OPENED: &str = "document.activeElement.tagName === 'SUMMARY' && document.activeElement.parentElement.open";

fn press_tab(tab: &mut Tab) {
    tab.press("Tab", 9, "");
}

/// Presses Tab until all controls of the page had a visible focus.
fn reaches_all(tab: &mut Tab, least: u64) {
    let all = tab.promised(CONTROLS).as_u64().unwrap();
    assert!(all >= least, "{all} controls");
    for at in 0..all {
        press_tab(tab);
        let active = tab.promised(ACTIVE);
        assert_eq!(active[0], at, "Tab goes from one to the next: {active}");
        assert_eq!(active[1], true, "the focus is visible: {active}");
    }
}

fn written(folder: &Path, page: &str) -> std::path::PathBuf {
    let file = folder.join("page.html");
    std::fs::write(&file, page).unwrap();
    file
}

#[test]
fn a_page_is_read_by_the_keyboard_alone() {
    let folder = tempfile::tempdir().unwrap();
    let Some(browser) = Browser::shared() else { return };
    let run = sweep(&[1, 4]);
    let file = written(folder.path(), &page(&run));
    reaches_all(&mut browser.opened(&file, false), 8);
    let mut tab = browser.opened(&file, false);
    for _ in 0..20 {
        press_tab(&mut tab);
        if tab.promised("document.activeElement.tagName") == "SUMMARY" {
            break;
        }
    }
    assert_eq!(tab.promised(OPENED), false);
    tab.press("Enter", 13, "\r");
    assert_eq!(tab.promised(OPENED), true, "Enter shows the figures of a chart");
    press_tab(&mut tab);
    let inside = "document.activeElement.closest('details') !== null && document.activeElement.className";
    assert_eq!(tab.promised(inside), "wide", "and Tab moves on to them");
    drop(tab);
    let file = written(folder.path(), &index(vec![run], IndexedRun::unreadable("bad", "no run")));
    reaches_all(&mut browser.opened(&file, false), 3);
}
