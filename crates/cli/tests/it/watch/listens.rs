//! `watch --listen`: what is served, to whom, and that nobody who asks can hold it.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use mindful_conformance::not_run;
use serde_json::{Value, json};

use crate::mindful::Mindful;

struct Watching {
    child: Child,
    place: String,
    _mindful: Mindful,
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `watch` of the null engine on a free port.
fn watching() -> Watching {
    let mindful = Mindful::new();
    let args = ["watch", "--target", "null:", "--interval", "200ms", "--listen", "127.0.0.1:0"];
    let mut child = mindful.command(&args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let place = lines
        .map_while(Result::ok)
        .find_map(|line| line.strip_prefix("mindful: serving http://")?.strip_suffix("/metrics").map(str::to_owned));
    Watching { child, place: place.unwrap(), _mindful: mindful }
}

/// What is answered to `request`; empty where nothing is.
fn asked(place: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(place).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let (_, mut text) = (stream.write_all(request.as_bytes()), Vec::new());
    let _ = stream.read_to_end(&mut text);
    String::from_utf8(text).unwrap()
}

/// The samples, once there are some.
fn metrics(place: &str) -> String {
    let begun = Instant::now();
    loop {
        let answer = asked(place, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
        let (head, text) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{answer}"));
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && head.contains("application/openmetrics-text"), "{head}");
        assert!(head.contains(&format!("Content-Length: {}\r\n", text.len())), "{head}");
        if text.ends_with("# EOF\n") {
            return text.to_owned();
        }
        assert!(begun.elapsed() < Duration::from_mins(1), "{answer}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The name and the labels of each selector in the queries of the dashboard.
fn selectors(dashboard: &Value) -> Vec<(String, String)> {
    let panels = dashboard["panels"].as_array().unwrap();
    let queries = panels.iter().flat_map(|panel| panel["targets"].as_array().unwrap());
    let mut selectors = Vec::new();
    for query in queries.map(|target| target["expr"].as_str().unwrap()) {
        let mut rest = query;
        while let Some((before, after)) = rest.split_once('{') {
            let name = before.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap();
            let (labels, more) = after.split_once('}').unwrap();
            selectors.push((name.to_owned(), labels.to_owned()));
            rest = more;
        }
    }
    selectors
}

#[test]
fn the_dashboard_asks_for_what_is_served() {
    let watching = watching();
    let text = metrics(&watching.place);
    let families: BTreeSet<&str> =
        text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect();
    assert_eq!(families, ["mindful_counter", "mindful_gauge", "mindful_latency_seconds"].into());
    assert!(text.contains("mindful_counter_total{source=\"client\",name=\"client_cpu\",unit=\"us\"} "), "{text}");
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");
    let read = |name: &str| std::fs::read_to_string(format!("{docs}/{name}")).unwrap();
    // The page of all metrics, which is compared with what samplers give.
    let (page, dashboard): (String, Value) = (read("metrics.md"), serde_json::from_str(&read("grafana.json")).unwrap());
    let selectors = selectors(&dashboard);
    assert!(selectors.len() > 20);
    for (name, labels) in selectors {
        let family = ["_total", "_bucket"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
        assert!(families.contains(family), "{name}");
        let Some(counter) = labels.strip_prefix("name=\"").and_then(|rest| rest.strip_suffix('"')) else { continue };
        let served = text.contains(&format!("name=\"{counter}\""));
        assert!(served || page.contains(&format!("`{counter}`")), "{counter} is served by nobody");
    }
}

/// How long a client may take for its request.
const PATIENCE: Duration = Duration::from_secs(2);

/// One who says a letter and no more.
fn dawdling(place: &str) -> TcpStream {
    let mut stream = TcpStream::connect(place).unwrap();
    stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    // Who is turned away may be so before the letter.
    let _ = stream.write_all(b"G");
    stream
}

/// Waits until nothing more comes.
fn cut_off(stream: &mut TcpStream) {
    let read = stream.read(&mut [0]);
    let ended = !read.as_ref().is_err_and(|e| matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut));
    assert!(ended && !matches!(read, Ok(1..)), "the dawdling are kept: {read:?}");
}

/// Whether it is neither answered nor cut off so far.
fn is_held(stream: &mut TcpStream) -> bool {
    stream.set_nonblocking(true).unwrap();
    let read = stream.read(&mut [0]);
    stream.set_nonblocking(false).unwrap();
    read.is_err_and(|e| e.kind() == ErrorKind::WouldBlock)
}

/// Eight dawdle and a ninth comes, whose end is awaited, and then that of the eight. Whether the ninth was turned away
/// while all eight were held; `None` where that took so long that the eight may have been cut off in between.
fn a_ninth_is_turned_away(place: &str) -> Option<bool> {
    let begun = Instant::now();
    let mut eight: Vec<TcpStream> = (0..8).map(|_| dawdling(place)).collect();
    cut_off(&mut dawdling(place));
    let held = eight.iter_mut().all(is_held);
    let reported = begun.elapsed() < PATIENCE;
    eight.iter_mut().for_each(cut_off);
    assert!(begun.elapsed() >= PATIENCE, "cut off before their time");
    reported.then_some(held)
}

#[test]
fn clients_that_dawdle_or_shout_hold_nothing() {
    let watching = watching();
    metrics(&watching.place);
    let turned_away = (0..5).find_map(|_| a_ninth_is_turned_away(&watching.place));
    assert_eq!(turned_away, Some(true), "eight are all that are let in at once");
    // Each of these finds a place: who came before has given its own back.
    assert!(
        asked(&watching.place, "GET /metrics HTTP/1.1\r\n\r\n").contains("200 OK"),
        "the dawdling hold their places"
    );
    assert!(!asked(&watching.place, &"GET /".repeat(4_096)).contains("200 OK"), "a request without end");
    assert!(asked(&watching.place, "GET /../../etc/passwd HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404"));
    assert!(asked(&watching.place, "POST /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405"));
    metrics(&watching.place);
}

#[test]
fn only_this_host_is_served_unless_asked_otherwise() {
    let mindful = Mindful::new();
    let refused = |place: &str| {
        let output = mindful.run(&["watch", "--target", "null:", "--duration", "200ms", "--listen", place]);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    for place in ["0.0.0.0:0", "[::]:0", "192.0.2.1:80"] {
        assert!(refused(place).contains("--listen-to-others"), "{place}");
    }
    assert!(refused("localhost").contains("127.0.0.1:9719"));
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    assert!(refused(&taken.local_addr().unwrap().to_string()).contains("cannot be had"));
    let reported =
        ["watch", "--target", "null:", "--duration", "200ms", "--interval", "100ms", "--listen", "0.0.0.0:0"];
    let served = mindful.run(&[&reported[..], &["--listen-to-others"]].concat());
    assert!(served.status.success(), "{served:?}");
}

/// A server of Prometheus on a port of its own, that asks `place` twice a second.
struct Prometheus {
    child: Child,
    place: String,
    _folder: tempfile::TempDir,
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Prometheus {
    fn of(place: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let job = json!({"job_name": "mindful", "scrape_interval": "500ms", "scrape_timeout": "500ms",
            "static_configs": [{"targets": [place]}]});
        std::fs::write(folder.path().join("prometheus.yml"), json!({"scrape_configs": [job]}).to_string()).unwrap();
        // Free a moment ago.
        let place = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
        let listens = format!("--web.listen-address={place}");
        let args = ["--config.file=prometheus.yml", "--storage.tsdb.path=data", &listens];
        let mut command = Command::new("prometheus");
        command.args(args).current_dir(folder.path()).stdout(Stdio::null()).stderr(Stdio::null());
        let Ok(child) = command.spawn() else {
            not_run("no Prometheus here: apt-get install prometheus");
            return None;
        };
        Some(Self { child, place, _folder: folder })
    }

    /// What it answers; `None` while it does not yet.
    fn get(&self, path: &str) -> Option<Value> {
        let mut stream = TcpStream::connect(&self.place).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let mut text = String::new();
        write!(stream, "GET /api/v1/{path} HTTP/1.0\r\n\r\n").ok()?;
        stream.read_to_string(&mut text).ok()?;
        serde_json::from_str(text.split_once("\r\n\r\n")?.1).ok()
    }

    fn query(&self, text: &str) -> Option<Value> {
        let escaped: Vec<String> = text.bytes().map(|byte| format!("%{byte:02X}")).collect();
        self.get(&format!("query?query={}", escaped.concat()))
    }

    /// The answer to `text` once it has a series, or what it says after 20 s.
    fn answered(&self, text: &str) -> Value {
        let begun = Instant::now();
        loop {
            let answer = self.query(text).unwrap_or_default();
            if !answer["data"]["result"].as_array().is_none_or(Vec::is_empty)
                || begun.elapsed() > Duration::from_mins(1)
            {
                return answer;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

#[test]
fn prometheus_takes_what_is_served_and_each_query() {
    let watching = watching();
    metrics(&watching.place);
    let Some(prometheus) = Prometheus::of(&watching.place) else { return };
    let up = prometheus.answered("up == 1");
    assert!(up["data"]["result"][0]["metric"]["job"] == "mindful", "{up:#}, {:#?}", prometheus.get("targets"));
    let cpu = prometheus.answered("rate(mindful_counter_total{source=\"client\",name=\"client_cpu\"}[5s])");
    let used = cpu["data"]["result"][0]["value"][1].as_str().and_then(|value| value.parse::<f64>().ok());
    assert!(used.is_some_and(|us| us > 0.0), "{cpu:#}");
    let reported = prometheus.get("targets/metadata").unwrap();
    let kinds: BTreeSet<(&str, &str)> = reported["data"].as_array().unwrap().iter().filter_map(kind).collect();
    for kind in [("mindful_counter", "counter"), ("mindful_gauge", "gauge"), ("mindful_latency_seconds", "histogram")] {
        assert!(kinds.contains(&kind), "{kind:?} as OpenMetrics: {reported:#}");
    }
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/grafana.json");
    let dashboard: Value = serde_json::from_str(&std::fs::read_to_string(page).unwrap()).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    for target in panels.iter().flat_map(|panel| panel["targets"].as_array().unwrap()) {
        let query = target["expr"].as_str().unwrap().replace("$__rate_interval", "5s");
        let answer = prometheus.query(&query).unwrap();
        assert_eq!(answer["status"], "success", "{query}: {answer:#}");
    }
}

/// Name and kind of a metric that Prometheus knows of.
fn kind(metadata: &Value) -> Option<(&str, &str)> {
    metadata["metric"].as_str().zip(metadata["type"].as_str())
}
