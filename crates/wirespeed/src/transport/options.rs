//! Options of a transport: what exists, and a reader that refuses what does not.

use wirespeed_schema::case::TransportOptions;
use wirespeed_schema::units;

/// One option, for `--help`, `wirespeed list` and the docs.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct OptionSpec {
    /// Name as typed.
    pub name: &'static str,
    /// Values that it takes: `poll|block`, `SIZE`, `ADDRESS`.
    pub values: &'static str,
    /// Default as typed; empty for none.
    pub default: &'static str,
    /// One line.
    pub help: &'static str,
}

impl OptionSpec {
    /// An option that takes `values` and has no default.
    pub const fn new(name: &'static str, values: &'static str, help: &'static str) -> Self {
        OptionSpec {
            name,
            values,
            default: "",
            help,
        }
    }

    /// With this default, as typed.
    #[must_use]
    pub const fn with_default(mut self, default: &'static str) -> Self {
        self.default = default;
        self
    }
}

/// An option that cannot be used as given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionError {
    /// No such option.
    #[error("{transport} has no option {name:?}; it takes: {known}")]
    Unknown {
        /// The transport.
        transport: &'static str,
        /// What was given.
        name: String,
        /// What there is.
        known: String,
    },
    /// Encryption was asked of a transport that has none.
    #[error("{transport} cannot encrypt its data: option {name}={value:?} is for {able}")]
    Clear {
        /// The transport.
        transport: &'static str,
        /// The option.
        name: &'static str,
        /// What was given.
        value: String,
        /// The transports that can.
        able: &'static str,
    },
    /// A value that it does not take.
    #[error("{transport} option {name}={value:?}: expected {expected}")]
    Value {
        /// The transport.
        transport: &'static str,
        /// The option.
        name: &'static str,
        /// What was given.
        value: String,
        /// What it takes.
        expected: String,
    },
}

/// The option that encrypts what a transport carries.
pub(crate) const ENCRYPT: &str = "encrypt";
/// The transports of this library that take it.
pub(crate) const ENCRYPT_ABLE: &str = "tcp, unix and udp";

/// Reads options by name against their specs.
pub struct OptionReader<'a> {
    transport: &'static str,
    options: &'a TransportOptions,
}

impl<'a> OptionReader<'a> {
    /// Refuses names that are not in `specs`.
    pub fn new(
        transport: &'static str,
        specs: &'static [OptionSpec],
        options: &'a TransportOptions,
    ) -> Result<Self, OptionError> {
        for (name, value) in options {
            if !specs.iter().any(|s| s.name == name) {
                if name == ENCRYPT {
                    return Err(OptionError::Clear {
                        transport,
                        name: ENCRYPT,
                        value: value.clone(),
                        able: ENCRYPT_ABLE,
                    });
                }
                let known: Vec<_> = specs.iter().map(|s| s.name).collect();
                let known = if known.is_empty() {
                    "none".to_owned()
                } else {
                    known.join(", ")
                };
                return Err(OptionError::Unknown {
                    transport,
                    name: name.clone(),
                    known,
                });
            }
        }
        Ok(OptionReader { transport, options })
    }

    /// The value as typed.
    pub fn text(&self, name: &'static str) -> Option<&'a str> {
        self.options.get(name).map(String::as_str)
    }

    /// An error for `name`.
    pub fn refuse(&self, name: &'static str, expected: impl Into<String>) -> OptionError {
        OptionError::Value {
            transport: self.transport,
            name,
            value: self.text(name).unwrap_or_default().to_owned(),
            expected: expected.into(),
        }
    }

    /// One of `choices`; the first is the default.
    pub fn choice<T: Copy>(
        &self,
        name: &'static str,
        choices: &[(&'static str, T)],
    ) -> Result<T, OptionError> {
        let Some(text) = self.text(name) else {
            return Ok(choices[0].1);
        };
        let names = || choices.iter().map(|c| c.0).collect::<Vec<_>>().join("|");
        choices
            .iter()
            .find(|c| c.0 == text)
            .map(|c| c.1)
            .ok_or_else(|| self.refuse(name, names()))
    }

    /// A size in bytes, if given.
    pub fn size(&self, name: &'static str) -> Result<Option<u64>, OptionError> {
        self.text(name)
            .map(|t| units::parse_size(t).map_err(|e| self.refuse(name, e.expected)))
            .transpose()
    }

    /// A count, if given.
    pub fn count(&self, name: &'static str) -> Result<Option<u64>, OptionError> {
        self.text(name)
            .map(|t| units::parse_count(t).map_err(|e| self.refuse(name, e.expected)))
            .transpose()
    }

    /// Anything that parses, if given.
    pub fn parse<T: std::str::FromStr>(
        &self,
        name: &'static str,
        expected: &str,
    ) -> Result<Option<T>, OptionError> {
        self.text(name)
            .map(|t| t.parse().map_err(|_| self.refuse(name, expected)))
            .transpose()
    }
}
