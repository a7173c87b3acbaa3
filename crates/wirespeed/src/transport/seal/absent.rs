//! In the place of keys and sealed ports in a build without the feature `seal`: why there are none.

use super::Cipher;
use crate::transport::absent::NoPort;
use crate::transport::{Connect, ConnectError};
use std::convert::Infallible;

/// What a user is told who asks for a cipher.
pub const WHY: &str = "off: this build was made without encryption of measured data (feature \"seal\")";

/// No keys.
pub struct Keys(Infallible);

impl Keys {
    /// Why there are none.
    pub fn agree(_: &Connect, _: Cipher) -> Result<Keys, ConnectError> {
        Err(ConnectError::Other(WHY.to_owned()))
    }
}

/// No port: there are no keys for one.
pub fn sealed<P>(_: P, keys: Keys) -> Result<NoPort, ConnectError> {
    match keys.0 {}
}
