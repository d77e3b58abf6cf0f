//! Services: named sets of parameters in `pg_service.conf`.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use mindful_core::plan::to_utf8;
use mindful_core::{Error, Result};
use mindful_sql::connect::environment::Environment;
use mindful_sql::connect::read_bounded;

/// The parameters of service `name`, in the order of the file. The files are those of libpq: `file` if given, else
/// `~/.pg_service.conf`; then `pg_service.conf` in `PGSYSCONFDIR`.
pub(super) fn read(name: &str, file: Option<&str>, environment: &Environment) -> Result<Vec<(String, String)>> {
    let own = file.map(PathBuf::from).or_else(|| environment.in_home(".pg_service.conf"));
    let shared = environment.path("PGSYSCONFDIR").map(|folder| folder.join("pg_service.conf"));
    let mut looked_in = Vec::new();
    for path in own.into_iter().chain(shared) {
        let place = path.display().to_string();
        match text_of(&path) {
            Ok(text) => {
                if let Some(parameters) = section(&text, name, &place)? {
                    return Ok(parameters);
                }
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => {
                return Err(Error::plan(format!("cannot read the service file {place}: {error}"), "make it readable"));
            }
        }
        looked_in.push(place);
    }
    let next = match looked_in.as_slice() {
        [] => "name its file in PGSERVICEFILE".to_owned(),
        places => format!("define [{name}] in {}, or name its file in PGSERVICEFILE", places.join(" or ")),
    };
    Err(Error::plan(format!("service `{name}` does not exist"), next))
}

/// The text of a service file.
fn text_of(path: &Path) -> io::Result<String> {
    String::from_utf8(to_utf8(read_bounded(path)?)).map_err(io::Error::other)
}

/// The lines below `[name]`, or `None` without such a section.
fn section(text: &str, name: &str, place: &str) -> Result<Option<Vec<(String, String)>>> {
    let mut lines = text.lines().enumerate().map(|(i, line)| (i + 1, line.trim()));
    if !lines.any(|(_, line)| header(line) == Some(name)) {
        return Ok(None);
    }
    let mut parameters = Vec::new();
    for (number, line) in lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        if header(line).is_some() {
            break;
        }
        let (key, value) = line.split_once('=').ok_or_else(|| {
            Error::plan(format!("line {number} of {place} is not `key=value`"), "correct it, or put `#` in front")
        })?;
        parameters.push((key.trim_end().to_owned(), value.trim_start().to_owned()));
    }
    Ok(Some(parameters))
}

fn header(line: &str) -> Option<&str> {
    line.strip_prefix('[')?.strip_suffix(']')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_file_without_an_end_is_refused() {
        let error = text_of(Path::new("/dev/zero")).unwrap_err().to_string();
        assert!(error.contains("longer than 1048576 bytes"), "{error}");
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "[bench]\nhost=db1\n").unwrap();
        assert_eq!(text_of(file.path()).unwrap(), "[bench]\nhost=db1\n");
        let utf16: Vec<u8> = "\u{feff}[bench]\nhost=db1\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        std::fs::write(file.path(), utf16).unwrap();
        assert_eq!(text_of(file.path()).unwrap(), "[bench]\nhost=db1\n", "as PowerShell writes it");
    }
}
