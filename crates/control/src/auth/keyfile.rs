//! The key file: a server's certificate, its private key and the token, readable by its owner alone. Made on first use.

use super::{Identity, KEY_FILE_VARIABLE, fingerprint};
use crate::error::ControlError;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::rand::{SecureRandom, SystemRandom};
use serde::{Deserialize, Serialize};
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Larger than any key file can be.
const FILE_BYTES_MAX: u64 = 64 << 10;

/// The file's form. Binary values are base64.
#[derive(Serialize, Deserialize)]
struct Stored {
    version: u32,
    token: String,
    certificate: String,
    private_key: String,
}

/// What a server needs.
#[derive(Clone)]
pub struct KeyFile {
    identity: Identity,
    pub(crate) certificate: Vec<u8>,
    pub(crate) private_key: Vec<u8>,
}

/// The path of the key file: `given`, else the environment's, else `wirespeed/key` in the user's configuration folder.
pub fn path(given: Option<&Path>) -> Result<PathBuf, ControlError> {
    let variable = |name: &str| {
        std::env::var_os(name)
            .filter(|v| !v.is_empty())
            .map(PathBuf::from)
    };
    if let Some(path) = given.map(Path::to_owned).or_else(|| variable(KEY_FILE_VARIABLE)) {
        return Ok(path);
    }
    let folder = variable("XDG_CONFIG_HOME")
        .filter(|folder| folder.is_absolute())
        .or_else(|| variable("HOME").map(|home| home.join(".config")));
    let folder = folder.ok_or_else(|| ControlError::File {
        what: "cannot tell where the key file is".into(),
        source: io::Error::new(io::ErrorKind::NotFound, "neither HOME nor XDG_CONFIG_HOME is set"),
    })?;
    Ok(folder.join("wirespeed").join("key"))
}

impl KeyFile {
    /// The identity that clients of this server need.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// New keys that live as long as this process.
    pub(crate) fn ephemeral() -> Result<Self, ControlError> {
        let made = generate().and_then(|text| parse(&text));
        made.map_err(|why| ControlError::File {
            what: "cannot make keys".into(),
            source: io::Error::other(why),
        })
    }

    /// Read the file at `path`; refused when anybody but its owner may read or write it.
    pub fn load(path: &Path) -> Result<Self, ControlError> {
        let file = File::open(path).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => ControlError::NoKey {
                path: path.to_owned(),
            },
            _ => file_error("cannot read key file", path, source),
        })?;
        let facts = file
            .metadata()
            .map_err(|e| file_error("cannot read key file", path, e))?;
        let mode = facts.permissions().mode() & 0o777;
        if facts.is_file() && mode & 0o077 != 0 {
            return Err(ControlError::KeyMode {
                path: path.to_owned(),
                mode,
            });
        }
        let mut text = String::new();
        let read = file.take(FILE_BYTES_MAX).read_to_string(&mut text);
        let read = match read {
            Err(e) if e.kind() != io::ErrorKind::InvalidData => {
                return Err(file_error("cannot read key file", path, e));
            }
            Err(_) => Err("it is not a key file".to_owned()),
            Ok(_) => parse(&text),
        };
        read.map_err(|why| ControlError::BadKey {
            what: format!("key file {}", path.display()),
            why,
        })
    }

    /// Read the file at `path`, or make it with new keys. Two ends that make it at once get the same one.
    pub fn load_or_make(path: &Path) -> Result<Self, ControlError> {
        match Self::load(path) {
            Err(ControlError::NoKey { .. }) => {
                make(path)?;
                Self::load(path)
            }
            loaded => loaded,
        }
    }
}

fn file_error(what: &str, path: &Path, source: io::Error) -> ControlError {
    ControlError::File {
        what: format!("{what} {}", path.display()),
        source,
    }
}

fn parse(text: &str) -> Result<KeyFile, String> {
    let stored: Stored =
        serde_json::from_slice(text.as_bytes()).map_err(|_| "it is not a key file".to_owned())?;
    if stored.version != 1 {
        return Err(format!("it has version {}, this build reads 1", stored.version));
    }
    let decode = |value: &str| {
        STANDARD
            .decode(value)
            .map_err(|_| "a value is not base64".to_owned())
    };
    let certificate = decode(&stored.certificate)?;
    let token = decode(&stored.token)?;
    Ok(KeyFile {
        identity: Identity {
            fingerprint: fingerprint(&certificate),
            token: token
                .try_into()
                .map_err(|_| "its token has the wrong length".to_owned())?,
        },
        private_key: decode(&stored.private_key)?,
        certificate,
    })
}

/// New keys as a file's text.
fn generate() -> Result<String, String> {
    let mut token = [0u8; 32];
    let random = SystemRandom::new().fill(&mut token);
    random.map_err(|_| "the system has no random numbers".to_owned())?;
    let pair = rcgen::KeyPair::generate().map_err(|e| e.to_string())?;
    let parameters = rcgen::CertificateParams::new(vec![super::tls::SERVER_NAME.to_owned()]);
    let certificate = parameters
        .and_then(|parameters| parameters.self_signed(&pair))
        .map_err(|e| e.to_string())?;
    let stored = Stored {
        version: 1,
        token: STANDARD.encode(token),
        certificate: STANDARD.encode(certificate.der()),
        private_key: STANDARD.encode(pair.serialize_der()),
    };
    serde_json::to_string_pretty(&stored).map_err(|e| e.to_string())
}

/// Make the file whole or not at all: written aside, then linked to its name, which fails when there is one already.
fn make(path: &Path) -> Result<(), ControlError> {
    let text = generate().map_err(|why| file_error("cannot make keys for", path, io::Error::other(why)))?;
    let fail = |e| file_error("cannot make key file", path, e);
    let folder = path
        .parent()
        .filter(|p| !p.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(fail)?;
    let aside = folder.join(format!(".key-{}-{:x}", std::process::id(), unique()));
    let write = || {
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&aside)?;
        file.write_all(text.as_bytes())?;
        file.write_all(b"\n")?;
        file.sync_all()?;
        match std::fs::hard_link(&aside, path) {
            // Another process was first; its keys count.
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            linked => linked,
        }
    };
    let written = write();
    // There may be nothing to remove when the writing failed.
    let _ = std::fs::remove_file(&aside);
    written.map_err(fail)
}

fn unique() -> u64 {
    let mut bytes = [0u8; 8];
    // The name only has to differ from another thread's; `create_new` refuses a collision.
    let _ = SystemRandom::new().fill(&mut bytes);
    u64::from_le_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn made_once_private_and_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/key");
        assert!(matches!(KeyFile::load(&path), Err(ControlError::NoKey { .. })));
        let made = KeyFile::load_or_make(&path).unwrap();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let again = KeyFile::load_or_make(&path).unwrap();
        assert_eq!(made.identity(), again.identity());
        let entries = std::fs::read_dir(path.parent().unwrap()).unwrap().count();
        assert_eq!(entries, 1, "nothing is left beside it");
    }

    #[test]
    fn makers_at_the_same_time_agree() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        let make = || KeyFile::load_or_make(&path).unwrap().identity().clone();
        let identities: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(make)).collect();
            threads.into_iter().map(|t| t.join().unwrap()).collect()
        });
        assert!(identities.windows(2).all(|w| w[0] == w[1]));
    }

    #[test]
    fn a_file_that_others_can_read_is_refused_with_the_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        KeyFile::load_or_make(&path).unwrap();
        for mode in [0o640, 0o604, 0o620] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            let Err(error) = KeyFile::load(&path) else {
                panic!("mode {mode:o} was accepted");
            };
            assert_eq!(error.exit_code(), 5);
            assert!(error.remedy().starts_with("chmod 600 "));
        }
    }

    #[test]
    fn a_damaged_file_is_named_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        let mut options = OpenOptions::new();
        let mut file = options
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)
            .unwrap();
        file.write_all(b"{\"version\":1}").unwrap();
        assert!(matches!(
            KeyFile::load_or_make(&path),
            Err(ControlError::BadKey { .. })
        ));
    }
}
