//! Resource properties of both port types (GFD.88, 4): what a client reads before it transfers.

use super::exchange::{Asked, Shared};
use super::failed::{Failed, now};
use super::files;
use crate::soap::names::{LIFETIME, PROPERTIES, PROPERTIES_ACTION, RANDOM, STREAM};
use crate::soap::write::plain_response;
use crate::soap::{Fault, Mechanism, Name};
use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};
use wirespeed_schema::calendar::rfc3339;

/// The answer with every property that was asked for; an unknown one is a fault.
pub(super) fn reply(
    shared: &Shared,
    asked: &Asked,
    names: &[Name],
    multiple: bool,
    stream: Option<&str>,
) -> Result<String, Failed> {
    let known = match stream {
        Some(id) => of_stream(shared, id)?,
        None => of_file(shared, asked)?,
    };
    if names.is_empty() {
        return Err(Fault::client("no resource property is named").into());
    }
    let mut content = String::new();
    for name in names {
        let mut found = known.iter().filter(|(n, _)| n == name).peekable();
        if found.peek().is_none() {
            let text = format!("no resource property {{{}}}{}", name.namespace, name.local);
            return Err(Fault::client(text).into());
        }
        for (name, value) in found {
            // Writing to a String cannot fail.
            let _ = write!(
                content,
                "<v:{local} xmlns:v=\"{}\">{value}</v:{local}>",
                name.namespace,
                local = name.local
            );
        }
    }
    let local = match multiple {
        true => "GetMultipleResourceProperties",
        false => "GetResourceProperty",
    };
    let action = format!("{PROPERTIES_ACTION}/{local}/{local}Response");
    let content = format!("<rp:{local}Response xmlns:rp=\"{PROPERTIES}\">{content}</rp:{local}Response>");
    Ok(plain_response(&action, &content, None))
}

fn mechanisms(namespace: &str) -> impl Iterator<Item = (Name, String)> {
    Mechanism::ALL
        .map(|m| (Name::new(namespace, "TransferMechanism"), m.uri()))
        .into_iter()
}

fn of_file(shared: &Shared, asked: &Asked) -> Result<Vec<(Name, String)>, Failed> {
    let file = shared.readable(asked)?;
    let facts = files::facts(&file).map_err(|_| Fault::server("cannot look at the resource"))?;
    let mut known = vec![
        (Name::new(RANDOM, "Size"), facts.size_bytes.to_string()),
        (Name::new(RANDOM, "Readable"), "true".to_owned()),
        (
            Name::new(RANDOM, "Writeable"),
            shared.root.is_writable().to_string(),
        ),
    ];
    known.extend(mechanisms(RANDOM));
    let names = ["CreateTime", "ModificationTime", "AccessTime"];
    for (name, time) in names.into_iter().zip(facts.times) {
        if let Some(time) = time {
            known.push((Name::new(RANDOM, name), time));
        }
    }
    Ok(known)
}

fn of_stream(shared: &Shared, id: &str) -> Result<Vec<(Name, String)>, Failed> {
    let unknown = || Fault::resource_unknown("no such stream; it may have ended");
    let stream = shared.streams.find(id).ok_or_else(unknown)?;
    let stream = stream.lock();
    let file = shared
        .file(stream.version.as_deref(), &stream.path)
        .map_err(Fault::from)?;
    let facts = files::facts(&file).map_err(|_| Fault::server("cannot look at the resource"))?;
    let ends = SystemTime::now() + shared.limits.stream_life;
    let ends = ends.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let mut known = vec![
        (Name::new(LIFETIME, "CurrentTime"), now()),
        (Name::new(LIFETIME, "TerminationTime"), rfc3339(ends)),
        (Name::new(STREAM, "Size"), facts.size_bytes.to_string()),
        (Name::new(STREAM, "Position"), stream.position.to_string()),
        (Name::new(STREAM, "Readable"), "true".to_owned()),
        (
            Name::new(STREAM, "Writeable"),
            shared.root.is_writable().to_string(),
        ),
        (Name::new(STREAM, "Seekable"), "true".to_owned()),
        (
            Name::new(STREAM, "EndOfStream"),
            (stream.position >= facts.size_bytes).to_string(),
        ),
    ];
    known.extend(mechanisms(STREAM));
    Ok(known)
}
