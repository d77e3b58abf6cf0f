//! One browser, asked through pipes in the protocol of its developer tools. Tests that run at the same time share it.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use base64::prelude::{BASE64_STANDARD, Engine as _};
use mindful_conformance::not_run;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Debian's name and Ubuntu's.
const BROWSERS: [&str; 2] = ["/usr/bin/chromium", "/usr/bin/chromium-browser"];

const FLAGS: [&str; 11] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--allow-file-access-from-files",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--window-size=1280,900",
];

/// Developer tools read and write the files 3 and 4 of the browser.
const PIPED: &str = r#"exec "$0" --remote-debugging-pipe "$@" 3<&0 4>&1 </dev/null >/dev/null"#;

static SHARED: Mutex<Weak<Browser>> = Mutex::new(Weak::new());

/// A test that fails with one of these leaves it consistent.
fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// It ends with the last test that has it.
pub(crate) struct Browser {
    process: Child,
    tab: Mutex<Tab>,
    _home: TempDir,
}

impl Browser {
    pub(crate) fn shared() -> Option<Arc<Self>> {
        let Some(path) = BROWSERS.into_iter().find(|path| Path::new(path).exists()) else {
            not_run("no chromium here: apt-get install chromium");
            return None;
        };
        let mut shared = locked(&SHARED);
        let browser = shared.upgrade().unwrap_or_else(|| Arc::new(Self::start(path)));
        *shared = Arc::downgrade(&browser);
        Some(browser)
    }

    fn start(path: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let complaints = home.path().join("stderr");
        let profile = format!("--user-data-dir={}", home.path().join("profile").display());
        let mut command = Command::new("sh");
        command.args(["-c", PIPED, path]).args(FLAGS).arg(profile).env("HOME", home.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(File::create(&complaints).unwrap());
        let mut process = command.spawn().unwrap();
        let (to, from) = (process.stdin.take().unwrap(), BufReader::new(process.stdout.take().unwrap()));
        let mut tab = Tab { to, from, complaints, asked: 0, session: None, loaded: Vec::new() };
        tab.open();
        Self { process, tab: Mutex::new(tab), _home: home }
    }

    /// The tab with a page, which no other test changes.
    pub(crate) fn opened(&self, file: &Path, dark: bool) -> MutexGuard<'_, Tab> {
        let mut tab = locked(&self.tab);
        let scheme = json!([{"name": "prefers-color-scheme", "value": if dark { "dark" } else { "light" }}]);
        tab.ask("Emulation.setEmulatedMedia", &json!({"features": scheme}));
        tab.show(file);
        tab
    }

    pub(crate) fn printed(&self, file: &Path) -> Vec<u8> {
        let mut tab = self.opened(file, false);
        // Its tags are for screen readers; the layout of a sheet is the same without them.
        let print = json!({"preferCSSPageSize": true, "printBackground": true, "generateTaggedPDF": false});
        BASE64_STANDARD.decode(tab.ask("Page.printToPDF", &print)["data"].as_str().unwrap()).unwrap()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let tab = self.tab.get_mut().unwrap_or_else(PoisonError::into_inner);
        let _ = tab.send("Browser.close", &json!({}));
        let _ = self.process.wait();
    }
}

pub(crate) struct Tab {
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    /// The browser's stderr.
    complaints: PathBuf,
    asked: u64,
    session: Option<Value>,
    loaded: Vec<Value>,
}

impl Tab {
    fn open(&mut self) {
        let target = self.ask("Target.createTarget", &json!({"url": "about:blank"}))["targetId"].take();
        let mut attached = self.ask("Target.attachToTarget", &json!({"targetId": target, "flatten": true}));
        self.session = Some(attached["sessionId"].take());
        for part in ["Page", "Runtime", "Log"] {
            self.ask(&format!("{part}.enable"), &json!({}));
        }
        self.ask("Page.setLifecycleEventsEnabled", &json!({"enabled": true}));
        self.ask("Emulation.setFocusEmulationEnabled", &json!({"enabled": true}));
    }

    fn send(&mut self, method: &str, params: &Value) -> std::io::Result<()> {
        self.asked += 1;
        let mut message = json!({"id": self.asked, "method": method, "params": params});
        if let Some(session) = &self.session {
            message["sessionId"] = session.clone();
        }
        self.to.write_all(format!("{message}\0").as_bytes())
    }

    /// The browser's next message. An error of a page fails its test.
    fn hear(&mut self) -> Value {
        let mut said = Vec::new();
        self.from.read_until(0, &mut said).unwrap();
        let ended = said.pop() != Some(0);
        assert!(!ended, "the browser ended: {}", std::fs::read_to_string(&self.complaints).unwrap());
        let said: Value = serde_json::from_slice(&said).unwrap();
        match said["method"].as_str() {
            Some("Runtime.consoleAPICalled" | "Runtime.exceptionThrown" | "Log.entryAdded") => panic!("{said:#}"),
            Some("Page.lifecycleEvent") if said["params"]["name"] == "load" => {
                self.loaded.push(said["params"]["loaderId"].clone());
            }
            _ => {}
        }
        said
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.send(method, params).unwrap();
        loop {
            let mut said = self.hear();
            if said["id"] == self.asked {
                assert!(said.get("error").is_none(), "{method}: {said}");
                return said["result"].take();
            }
        }
    }

    fn show(&mut self, file: &Path) {
        self.loaded.clear();
        let shown = self.ask("Page.navigate", &json!({"url": format!("file://{}", file.display())}));
        while !self.loaded.contains(&shown["loaderId"]) {
            self.hear();
        }
    }

    /// Presses a key that types `text`.
    pub(crate) fn press(&mut self, key: &str, code: u32, text: &str) {
        for event in ["keyDown", "keyUp"] {
            let event = json!({"type": event, "key": key, "code": key, "windowsVirtualKeyCode": code, "text": text});
            self.ask("Input.dispatchKeyEvent", &event);
        }
    }

    pub(crate) fn promised(&mut self, script: &str) -> Value {
        let script = json!({"expression": script, "awaitPromise": true, "returnByValue": true});
        let mut answer = self.ask("Runtime.evaluate", &script);
        assert!(answer.get("exceptionDetails").is_none(), "{answer:#}");
        answer["result"]["value"].take()
    }
}
