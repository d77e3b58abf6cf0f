//! The line, and what stands before it.

/// What a run of pgio printed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Read {
    /// The database.
    pub database: Option<String>,
    /// Tables.
    pub schemas: Option<u32>,
    /// Sessions on each.
    pub threads: Option<u32>,
    /// Time from the end of the launch to the end of the last session, s.
    pub seconds: Option<f64>,
    /// Time the launch took, s, where it is reported.
    pub launch_s: Option<f64>,
    /// Reads that PostgreSQL asked for, by seconds after the launch.
    pub reads_per_s: Option<f64>,
    /// Hits of its cache by the same.
    pub hits_per_s: Option<f64>,
}

/// All runs in `text`.
pub fn results(text: &str) -> Vec<Read> {
    let mut results = Vec::new();
    let mut launch_s = None;
    for line in text.lines() {
        if line.to_ascii_lowercase().contains("launch") {
            launch_s = before(line, "second").or(launch_s);
        }
        if line.contains("RIOPS >") && line.contains("Run time:") {
            results.push(Read { launch_s: launch_s.take(), ..result(line) });
        }
    }
    results
}

fn result(line: &str) -> Read {
    let figure = |text: &str| text.trim().replace(',', "").parse::<f64>().ok().filter(|figure| figure.is_finite());
    let quoted = |name: &str| {
        let (_, rest) = line.split_once(name)?;
        figure(rest.trim_start().strip_prefix('>')?.split('<').next()?)
    };
    let name = line.split_once("DBNAME:").and_then(|(_, rest)| rest.trim().split(['.', ' ']).next());
    Read {
        database: name.filter(|name| !name.is_empty()).map(str::to_owned),
        schemas: before(line, "schema").map(|count| count as u32),
        threads: before(line, "thread").map(|count| count as u32),
        seconds: line.split_once("Run time:").and_then(|(_, rest)| figure(rest.trim().split(' ').next()?)),
        launch_s: None,
        reads_per_s: quoted("RIOPS"),
        hits_per_s: quoted("CACHE_HITS/s"),
    }
}

/// The number right before `word`.
fn before(line: &str, word: &str) -> Option<f64> {
    let at = line.find(word)?;
    let figure = line[..at].trim_end().rsplit([' ', '(', ':', '=']).next()?;
    figure.replace(',', "").parse::<f64>().ok().filter(|figure| (0.0..1e9).contains(figure))
}
