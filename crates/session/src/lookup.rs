//! Where a site says that its coordinators are: a file, `{"DC": {"ENV": "HOST:PORT"}}`, or a service that is asked over HTTP
//! for `/serve/jose/arras/endpoints/DC/ENV/coordinator/url`, as the original asks it. Whoever answers only names an
//! address: the coordinator there still has to prove that it has the key.

use crate::http::ask_plain;
use crate::places::Words;
use crate::usage;
use std::collections::BTreeMap;
use std::io::Read as _;
use wirespeed_control::Failure;

/// Variable with the site's file or service.
pub const SITE_VARIABLE: &str = "WIRESPEED_SITE";
/// The original's variable with the service.
pub const SERVICE_VARIABLE: &str = "DWA_CONFIG_SERVICE";
/// Longest answer or file.
const BYTES_MAX: u64 = 1 << 20;

/// The original's variable with the data centre that is meant where none is named.
pub const DATA_CENTRE_VARIABLE: &str = "STUDIO";

/// The `HOST:PORT` of the coordinator of `env` and the data centre that was typed. What was not is asked of the variables; and
/// of a file that knows one data centre, that one is meant. `None` where only a service knows, and it is not to be asked.
pub(crate) fn look_up(words: &Words, env: &str) -> Result<Option<String>, Failure> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    look_up_with(variable, words, env)
}

fn look_up_with(
    variable: impl Fn(&str) -> Option<String>,
    words: &Words,
    env: &str,
) -> Result<Option<String>, Failure> {
    let dc = words.dc.clone();
    let Some(site) = words
        .site
        .clone()
        .or_else(|| variable(SITE_VARIABLE))
        .or_else(|| variable(SERVICE_VARIABLE))
    else {
        let place = match dc {
            Some(dc) => format!("data centre {dc:?}"),
            None => format!("environment {env:?}"),
        };
        return Err(usage(
            format!("nothing says where the coordinator of {place} is"),
            format!(
                "name the site's file or service with --site, {SITE_VARIABLE} or {SERVICE_VARIABLE}, or use --host and --port"
            ),
        ));
    };
    let dc = dc.or_else(|| variable(DATA_CENTRE_VARIABLE).map(|studio| studio.to_lowercase()));
    match (site.contains("://"), dc) {
        (true, Some(dc)) => ask(&site, &dc, env, words.dry),
        (true, None) => Err(usage(
            format!("{site} is asked for a data centre, and none is named"),
            format!("name it with --dc or {DATA_CENTRE_VARIABLE}"),
        )),
        (false, dc) => read(&site, dc.as_deref(), env).map(Some),
    }
}

fn ask(service: &str, dc: &str, env: &str, dry: bool) -> Result<Option<String>, Failure> {
    let good = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if dc.is_empty() || !dc.chars().all(good) {
        return Err(usage(
            format!("{dc:?} is no name of a data centre"),
            "use letters, digits, - and _",
        ));
    }
    let Some(rest) = service.strip_prefix("http://") else {
        return Err(usage(
            format!("{service} is asked over http:// alone"),
            "it only names an address; the coordinator proves itself by its key",
        ));
    };
    if dry {
        return Ok(None);
    }
    let (host, prefix) = rest.split_once('/').unwrap_or((rest, ""));
    let prefix = prefix.trim_end_matches('/');
    let slash = if prefix.is_empty() { "" } else { "/" };
    let path = format!("{slash}{prefix}/serve/jose/arras/endpoints/{dc}/{env}/coordinator/url");
    let (status, body) = ask_plain(host, &path, BYTES_MAX).map_err(|why| {
        crate::failed(
            format!("{service}: {why}"),
            "check --site, or use --host and --port",
        )
    })?;
    if status != 200 {
        return Err(usage(
            format!(
                "{service} has no coordinator for environment {env:?} of data centre {dc:?} (HTTP {status})"
            ),
            "check --dc and --env, or use --host and --port",
        ));
    }
    let text = String::from_utf8_lossy(&body).into_owned();
    let text = serde_json::from_slice::<String>(text.as_bytes()).unwrap_or(text);
    let named = address_in(text.trim()).ok_or_else(|| {
        crate::failed(
            format!(
                "{service} answers with no address: {:?}",
                wirespeed_control::session::clean(&text)
            ),
            "use --host and --port",
        )
    });
    named.map(Some)
}

/// `HOST[:PORT]` of a URL, or of an address alone.
fn address_in(text: &str) -> Option<String> {
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next()?;
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let good = |c: char| c.is_ascii_alphanumeric() || "-_.:[]".contains(c);
    (!host.is_empty() && host.len() <= 255 && host.chars().all(good)).then(|| host.to_owned())
}

fn read(path: &str, dc: Option<&str>, env: &str) -> Result<String, Failure> {
    let unreadable = |e: &dyn std::fmt::Display| {
        usage(
            format!("cannot read the site's file {path}: {e}"),
            "check the path",
        )
    };
    let mut text = Vec::new();
    let file = std::fs::File::open(path).map_err(|e| unreadable(&e))?;
    let read = file.take(BYTES_MAX + 1).read_to_end(&mut text);
    if read.map_err(|e| unreadable(&e))? as u64 > BYTES_MAX {
        return Err(unreadable(&"it is too long"));
    }
    let site: BTreeMap<String, BTreeMap<String, String>> = serde_json::from_slice(&text).map_err(|e| {
        usage(
            format!("invalid site file {path}: {e}"),
            r#"write {"DC": {"ENV": "HOST:PORT"}}"#,
        )
    })?;
    let names = |names: Vec<&String>| names.into_iter().cloned().collect::<Vec<_>>().join(", ");
    let known = || names(site.keys().collect());
    let dc = match (dc, &site.keys().collect::<Vec<_>>()[..]) {
        (Some(dc), _) => dc,
        (None, [only]) => only.as_str(),
        (None, all) => {
            return Err(usage(
                format!("{path} has {} data centres, and none is named", all.len()),
                format!("name one with --dc or {DATA_CENTRE_VARIABLE}: {}", known()),
            ));
        }
    };
    let environments = site.get(dc).ok_or_else(|| {
        usage(
            format!("{path} has no data centre {dc:?}"),
            format!("it has: {}", known()),
        )
    })?;
    environments.get(env).cloned().ok_or_else(|| {
        usage(
            format!("{path} has no environment {env:?} in {dc:?}"),
            format!("it has: {}", names(environments.keys().collect())),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;
    use std::net::TcpListener;

    fn words(site: Option<&str>, dc: Option<&str>) -> Words {
        Words {
            site: site.map(str::to_owned),
            dc: dc.map(str::to_owned),
            ..Words::default()
        }
    }

    /// A service that answers each request in turn; what it was asked.
    fn service(answers: &'static [&'static str]) -> (String, std::thread::JoinHandle<Vec<String>>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let serving = std::thread::spawn(move || {
            let answer = |answer: &&str| {
                let (mut stream, _) = listener.accept().unwrap();
                let mut asked = Vec::new();
                let mut piece = [0; 1024];
                while !asked.ends_with(b"\r\n\r\n") {
                    let count = stream.read(&mut piece).unwrap();
                    asked.extend_from_slice(&piece[..count]);
                }
                stream.write_all(answer.as_bytes()).unwrap();
                String::from_utf8_lossy(&asked).lines().next().unwrap().to_owned()
            };
            answers.iter().map(answer).collect()
        });
        (base, serving)
    }

    #[test]
    fn a_service_is_asked_as_the_original_asks() {
        let (base, serving) = service(&[
            "HTTP/1.1 200 OK\r\n\r\nhttp://there:8087/coordinator/1/sessions\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n\"there.x:88/\"\n trailing",
            "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n<html>\n",
            "garbage\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 17\r\n\r\nhttp://there:808",
        ]);
        let look_up = |site: &str, dc, env| look_up(&words(Some(site), Some(dc)), env).map(Option::unwrap);
        assert_eq!(look_up(&base, "gld", "prod").unwrap(), "there:8087");
        assert_eq!(
            look_up(&format!("{base}/a/"), "gld", "stb").unwrap(),
            "there.x:88"
        );
        let missing = look_up(&base, "gld", "usn").unwrap_err().message;
        assert!(
            missing.contains("\"usn\"") && missing.contains("404"),
            "{missing}"
        );
        for _ in 0..3 {
            assert!(look_up(&base, "gld", "prod").is_err());
        }
        let asked = serving.join().unwrap();
        assert_eq!(
            asked[0],
            "GET /serve/jose/arras/endpoints/gld/prod/coordinator/url HTTP/1.0"
        );
        assert!(asked[1].starts_with("GET /a/serve/jose/"), "{asked:?}");
        assert!(look_up(&base, "gld", "prod").unwrap_err().message.contains(&base));
        assert!(look_up("https://x", "gld", "prod").is_err());
        assert!(look_up(&base, "a/../b", "prod").is_err());
    }

    #[test]
    fn a_data_centre_that_is_not_named_is_the_studios_or_the_only_one() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path.display().to_string()
        };
        let one = file("one", r#"{"gld": {"prod": "there:1", "stb": "here:2"}}"#);
        let two = file("two", r#"{"gld": {"stb": "there:1"}, "las": {"stb": "here:2"}}"#);
        let none = file("none", "{}");
        let at = |site: Option<&String>, dc: Option<&str>, studio: Option<&str>| {
            let variable = |name: &str| studio.filter(|_| name == DATA_CENTRE_VARIABLE).map(str::to_owned);
            let found = look_up_with(variable, &words(site.map(String::as_str), dc), "stb");
            found.map(Option::unwrap).map_err(|failure| failure.message)
        };
        assert_eq!(at(Some(&one), None, None), Ok("here:2".into()));
        assert_eq!(at(Some(&two), None, Some("LAS")), Ok("here:2".into()));
        assert_eq!(at(Some(&two), Some("gld"), Some("LAS")), Ok("there:1".into()));
        for (site, studio, word) in [
            (Some(&two), None, "2 data centres"),
            (Some(&none), None, "0 data centres"),
            (Some(&one), Some("las"), "no data centre \"las\""),
            (Some(&"http://x".to_owned()), None, "none is named"),
            (None, None, "environment \"stb\""),
        ] {
            let refused = at(site, None, studio).unwrap_err();
            assert!(refused.contains(word), "{refused}");
        }
    }
}
