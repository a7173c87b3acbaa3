//! Where a coordinator is: a host and a port as typed, or a data centre and an environment that the site resolves. It must
//! never guess an address.

use crate::coordinator::DEFAULT_PORT;
use crate::lookup::look_up;
use crate::usage;
use wirespeed_control::Failure;
use wirespeed_control::address::Address;

/// Environments that there are; the first one is meant where only a data centre is named.
pub const ENVIRONMENTS: [&str; 5] = ["prod", "usn", "stb", "stb2", "local"];

/// What was typed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Words {
    /// `--dc`.
    pub dc: Option<String>,
    /// `--env`.
    pub env: Option<String>,
    /// `--host`.
    pub host: Option<String>,
    /// `--port`.
    pub port: Option<u16>,
    /// `--local-only`.
    pub local_only: bool,
    /// The site's file, or the URL of its service.
    pub site: Option<String>,
    /// No service is asked.
    pub dry: bool,
}

/// Where a session is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meant {
    /// Embedded on this machine.
    Here,
    /// At this coordinator.
    At(Address),
    /// At the coordinator that a service names, which was not asked.
    Unasked,
}

/// What the words mean.
pub fn resolve(words: &Words) -> Result<Meant, Failure> {
    let env = words.env.as_deref();
    if let Some(strange) = env.filter(|env| !ENVIRONMENTS.contains(env)) {
        return Err(usage(
            format!("there is no environment {strange:?}"),
            format!("choose from: {}", ENVIRONMENTS.join(", ")),
        ));
    }
    let is_local = words.local_only || env == Some("local") || words.dc.as_deref() == Some("local");
    if let Some(host) = &words.host {
        if is_local {
            return Err(usage(
                "--host names a coordinator, and the session is to be local",
                "leave --host out, or --local-only, --env local and --dc=local",
            ));
        }
        return parse(host, words.port).map(Meant::At);
    }
    if words.port.is_some() {
        return Err(usage("--port without --host", "add --host localhost"));
    }
    if is_local || words.dc.is_none() && env.is_none() && words.site.is_none() {
        return Ok(Meant::Here);
    }
    match look_up(words, env.unwrap_or(ENVIRONMENTS[0]))? {
        Some(found) => parse(&found, None).map(Meant::At),
        None => Ok(Meant::Unasked),
    }
}

fn parse(host: &str, port: Option<u16>) -> Result<Address, Failure> {
    let address = Address::parse_or(host, DEFAULT_PORT);
    let mut address = address.map_err(|e| usage(format!("--host: {e}"), e.remedy()))?;
    address.port = port.unwrap_or(address.port);
    Ok(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(change: impl FnOnce(&mut Words)) -> Result<Option<String>, String> {
        let mut words = Words::default();
        change(&mut words);
        match resolve(&words).map_err(|failure| failure.message)? {
            Meant::Here => Ok(None),
            Meant::At(address) => Ok(Some(address.to_string())),
            Meant::Unasked => Ok(Some("unasked".to_owned())),
        }
    }

    #[test]
    fn nothing_and_local_are_embedded() {
        assert_eq!(words(|_| ()), Ok(None));
        assert_eq!(words(|w| w.local_only = true), Ok(None));
        assert_eq!(words(|w| w.env = Some("local".into())), Ok(None));
        assert_eq!(words(|w| w.dc = Some("local".into())), Ok(None));
    }

    #[test]
    fn hosts_and_sites_resolve_and_nonsense_is_named() {
        let host = |host: &str, port| {
            words(|w| {
                w.host = Some(host.into());
                w.port = port;
            })
        };
        assert_eq!(host("localhost", Some(9)), Ok(Some("localhost:9".into())));
        assert_eq!(host("localhost", None), Ok(Some("localhost:8087".into())));
        assert_eq!(host("localhost:77", None), Ok(Some("localhost:77".into())));
        assert_eq!(host("::1", None), Ok(Some("[::1]:8087".into())));
        let folder = tempfile::tempdir().unwrap();
        let site = folder.path().join("site.json");
        std::fs::write(&site, r#"{"gld": {"prod": "there:1", "stb": "here"}}"#).unwrap();
        let at = |dc: &str, env: Option<&str>| {
            words(|w| {
                w.dc = Some(dc.into());
                w.env = env.map(Into::into);
                w.site = Some(site.display().to_string());
            })
        };
        assert_eq!(at("gld", None), Ok(Some("there:1".into())));
        assert_eq!(at("gld", Some("stb")), Ok(Some("here:8087".into())));
        assert!(at("gld", Some("usn")).unwrap_err().contains("usn"));
        assert!(at("xyz", None).unwrap_err().contains("xyz"));
        let dry = |dc: &str, site: String| {
            words(|w| {
                w.dry = true;
                w.dc = Some(dc.into());
                w.site = Some(site);
            })
        };
        let file = || site.display().to_string();
        assert_eq!(dry("gld", file()), Ok(Some("there:1".into())), "a file is read");
        assert!(dry("xyz", file()).unwrap_err().contains("xyz"));
        assert_eq!(dry("gld", "http://192.0.2.1".into()), Ok(Some("unasked".into())));
        assert!(dry("g/d", "http://192.0.2.1".into()).is_err());
        assert!(dry("gld", "https://192.0.2.1".into()).is_err());
        // A site that is named is meant, also where nothing else is.
        let at_site = |env: Option<&str>| {
            words(|w| {
                w.env = env.map(Into::into);
                w.site = Some("/nonexistent/site".into());
            })
        };
        assert!(at_site(None).unwrap_err().contains("/nonexistent/site"));
        assert!(at_site(Some("stb")).unwrap_err().contains("/nonexistent/site"));
        assert_eq!(at_site(Some("local")), Ok(None));
        assert!(
            words(|w| w.env = Some("nowhere".into()))
                .unwrap_err()
                .contains("nowhere")
        );
        assert!(words(|w| w.port = Some(1)).is_err());
    }
}
