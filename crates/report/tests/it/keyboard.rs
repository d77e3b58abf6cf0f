//! Pages by the keyboard alone: keys pressed by the driver of a real browser (WebDriver).

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::charts::{index, page, sweep};
use mindful_analyze::analyze;
use mindful_conformance::not_run;
use mindful_report::html::site::IndexedRun;
use serde_json::{Value, json};

const DRIVER: &str = "/usr/bin/chromedriver";
const TAB: char = '\u{e004}';
const ENTER: char = '\u{e007}';

/// All controls that a key can reach; of radio buttons with one name, the selected one.
const CONTROLS: &str =
    "window.all = [...document.querySelectorAll('summary, a[href], input, select, [tabindex=\"0\"]')]
  .filter((one) => one.checkVisibility() && (one.type !== 'radio' || one.checked)); return all.length";
/// The focused control, whether the focus is visible, and its kind.
const ACTIVE: &str = "const at = document.activeElement, style = getComputedStyle(at);
  return [all.indexOf(at), style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0, at.outerHTML.slice(0, 120)]";
const OPENED: &str = "return document.activeElement.tagName === 'SUMMARY' && document.activeElement.parentElement.open";

struct Keyboard {
    driver: Child,
    port: u16,
    session: String,
}

impl Keyboard {
    fn start(folder: &Path) -> Option<Self> {
        if !Path::new(DRIVER).exists() {
            not_run("no chromedriver here: apt-get install chromium-driver");
            return None;
        }
        let mut command = Command::new(DRIVER);
        command.arg("--port=0").env("HOME", folder).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut driver = command.spawn().unwrap();
        let lines = BufReader::new(driver.stdout.take().unwrap()).lines().map_while(Result::ok);
        let port = |line: String| line.split_once("successfully on port ")?.1.trim_end_matches('.').parse().ok();
        let port = lines.into_iter().find_map(port).unwrap();
        let mut keyboard = Self { driver, port, session: String::new() };
        let profile = format!("--user-data-dir={}", folder.join("profile").display());
        let args = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", &profile];
        let options = json!({"capabilities": {"alwaysMatch": {"goog:chromeOptions": {"args": args}}}});
        let begun = keyboard.ask("/session", &options);
        keyboard.session = format!("/session/{}", begun["sessionId"].as_str().unwrap_or_else(|| panic!("{begun}")));
        Some(keyboard)
    }

    fn ask(&self, path: &str, body: &Value) -> Value {
        let (body, port) = (body.to_string(), self.port);
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        let head = format!("POST {}{path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close", self.session);
        write!(stream, "{head}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}", body.len())
            .unwrap();
        let (mut answer, mut length) = (BufReader::new(stream), 0);
        for line in answer.by_ref().lines().map_while(Result::ok).take_while(|line| !line.is_empty()) {
            if let Some((_, value)) =
                line.split_once(':').filter(|(name, _)| name.eq_ignore_ascii_case("content-length"))
            {
                length = value.trim().parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        answer.read_exact(&mut body).unwrap();
        serde_json::from_slice::<Value>(&body).unwrap_or_else(|error| panic!("{path}: {error}"))["value"].clone()
    }

    fn opened(&self, file: &Path) {
        assert_eq!(self.ask("/url", &json!({"url": format!("file://{}", file.display())})), Value::Null);
    }

    fn script(&self, text: &str) -> Value {
        self.ask("/execute/sync", &json!({"script": text, "args": []}))
    }

    fn press(&self, key: char) {
        let actions = json!([{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]);
        let pressed = self.ask("/actions", &json!({"actions": [{"type": "key", "id": "keys", "actions": actions}]}));
        assert_eq!(pressed, Value::Null, "{pressed}");
    }

    /// Presses Tab until all controls of the page had a visible focus.
    fn reaches_all(&self, file: &Path, least: u64) {
        self.opened(file);
        let all = self.script(CONTROLS).as_u64().unwrap();
        assert!(all >= least, "{all} controls");
        for at in 0..all {
            self.press(TAB);
            let active = self.script(ACTIVE);
            assert_eq!(active[0], at, "Tab goes from one to the next: {active}");
            assert_eq!(active[1], true, "the focus is visible: {active}");
        }
    }
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        // Its browser ends with the session.
        if let Ok(mut stream) = TcpStream::connect(("127.0.0.1", self.port)) {
            let _ = write!(stream, "DELETE {} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n", self.session);
            let _ = stream.set_read_timeout(Some(Duration::from_secs(10)));
            let _ = stream.read(&mut [0; 64]);
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

#[test]
fn a_page_is_read_by_the_keyboard_alone() {
    let folder = tempfile::tempdir().unwrap();
    let Some(keyboard) = Keyboard::start(folder.path()) else { return };
    let run = sweep(&[1, 4]);
    let analysis = analyze(&run);
    let file = folder.path().join("page.html");
    std::fs::write(&file, page(&[(&run, &analysis)])).unwrap();
    keyboard.reaches_all(&file, 8);
    keyboard.opened(&file);
    keyboard.script(CONTROLS);
    for _ in 0..20 {
        keyboard.press(TAB);
        if keyboard.script("return document.activeElement.tagName") == "SUMMARY" {
            break;
        }
    }
    assert_eq!(keyboard.script(OPENED), false);
    keyboard.press(ENTER);
    assert_eq!(keyboard.script(OPENED), true, "Enter shows the figures of a chart");
    keyboard.press(TAB);
    let inside = "return document.activeElement.closest('details') !== null && document.activeElement.className";
    assert_eq!(keyboard.script(inside), "wide", "and Tab moves on to them");
    let file = folder.path().join("index.html");
    std::fs::write(&file, index(vec![run], IndexedRun::unreadable("bad", "no run"))).unwrap();
    keyboard.reaches_all(&file, 3);
}
