//! Where a site says that its coordinators are: a file, `{"DC": {"ENV": "HOST:PORT"}}`, or a service that is asked over HTTP
//! for `/serve/jose/arras/endpoints/DC/ENV/coordinator/url`, as the original asks it. Whoever answers only names an
//! address: the coordinator there still has to prove that it has the key.

use crate::http::ask_plain;
use crate::usage;
use std::collections::BTreeMap;
use wirespeed_control::Failure;

/// Variable with the site's file or service.
pub const SITE_VARIABLE: &str = "WIRESPEED_SITE";
/// The original's variable with the service.
pub const SERVICE_VARIABLE: &str = "DWA_CONFIG_SERVICE";
/// Longest answer or file.
const BYTES_MAX: u64 = 1 << 20;

/// The `HOST:PORT` of the coordinator of `dc` and `env`. `site` is what was typed; the variables are asked where nothing
/// was.
pub(crate) fn look_up(site: Option<&str>, dc: &str, env: &str) -> Result<String, Failure> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let typed = site.map(str::to_owned);
    let Some(site) = typed
        .or_else(|| variable(SITE_VARIABLE))
        .or_else(|| variable(SERVICE_VARIABLE))
    else {
        return Err(usage(
            format!("nothing says where data centre {dc:?} is"),
            format!(
                "name the site's file or service with --site, {SITE_VARIABLE} or {SERVICE_VARIABLE}, or use --host and --port"
            ),
        ));
    };
    match site.contains("://") {
        true => ask(&site, dc, env),
        false => read(&site, dc, env),
    }
}

fn ask(service: &str, dc: &str, env: &str) -> Result<String, Failure> {
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
    let text = serde_json::from_str::<String>(&text).unwrap_or(text);
    address_in(text.trim()).ok_or_else(|| {
        crate::failed(
            format!(
                "{service} answers with no address: {:?}",
                wirespeed_control::session::clean(&text)
            ),
            "use --host and --port",
        )
    })
}

/// `HOST[:PORT]` of a URL, or of an address alone.
fn address_in(text: &str) -> Option<String> {
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next()?;
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let good = |c: char| c.is_ascii_alphanumeric() || "-_.:[]".contains(c);
    (!host.is_empty() && host.len() <= 255 && host.chars().all(good)).then(|| host.to_owned())
}

fn read(path: &str, dc: &str, env: &str) -> Result<String, Failure> {
    let unreadable = |e: &dyn std::fmt::Display| {
        usage(
            format!("cannot read the site's file {path}: {e}"),
            "check the path",
        )
    };
    let long = std::fs::metadata(path).is_ok_and(|facts| facts.len() > BYTES_MAX);
    if long {
        return Err(unreadable(&"it is too long"));
    }
    let text = std::fs::read_to_string(path).map_err(|e| unreadable(&e))?;
    let site: BTreeMap<String, BTreeMap<String, String>> = serde_json::from_str(&text).map_err(|e| {
        usage(
            format!("invalid site file {path}: {e}"),
            r#"write {"DC": {"ENV": "HOST:PORT"}}"#,
        )
    })?;
    let names = |names: Vec<&String>| names.into_iter().cloned().collect::<Vec<_>>().join(", ");
    let environments = site.get(dc).ok_or_else(|| {
        usage(
            format!("{path} has no data centre {dc:?}"),
            format!("it has: {}", names(site.keys().collect())),
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
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;

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
        ]);
        assert_eq!(look_up(Some(&base), "gld", "prod").unwrap(), "there:8087");
        assert_eq!(
            look_up(Some(&format!("{base}/a/")), "gld", "stb").unwrap(),
            "there.x:88"
        );
        let missing = look_up(Some(&base), "gld", "usn").unwrap_err().message;
        assert!(
            missing.contains("\"usn\"") && missing.contains("404"),
            "{missing}"
        );
        for _ in 0..2 {
            assert!(look_up(Some(&base), "gld", "prod").is_err());
        }
        let asked = serving.join().unwrap();
        assert_eq!(
            asked[0],
            "GET /serve/jose/arras/endpoints/gld/prod/coordinator/url HTTP/1.0"
        );
        assert!(asked[1].starts_with("GET /a/serve/jose/"), "{asked:?}");
        assert!(
            look_up(Some(&base), "gld", "prod")
                .unwrap_err()
                .message
                .contains(&base)
        );
        assert!(look_up(Some("https://x"), "gld", "prod").is_err());
        assert!(look_up(Some(&base), "a/../b", "prod").is_err());
    }
}
