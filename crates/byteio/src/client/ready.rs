//! What is made ready at the service before blocks move: a new version, a place to write to, a stream.

use super::asked::TransferError;
use super::told::broke_off;
use super::{ClientOptions, Direction, Way, lookup};
use wirespeed::bulk::BulkError;
use wirespeed_schema::byteio::Transfer;

/// What a transfer's blocks go to or come from.
pub(super) struct Ready {
    /// Options of the links.
    pub links: ClientOptions,
    /// Whether a stream was opened.
    pub opened: bool,
    /// The new version that a put writes, where the service is ours.
    pub version: Option<ClientOptions>,
}

impl Ready {
    /// The version takes its place if the transfer is right, and is forgotten if not.
    pub fn end(&self, transfer: &mut Transfer, total_bytes: u64) {
        let Some(version) = &self.version else { return };
        if transfer.error.is_none() {
            let Err(error) = lookup::commit_version(version, total_bytes) else {
                return;
            };
            transfer.verified = false;
            broke_off(
                transfer,
                &BulkError {
                    why: format!("could not put the new version in its place: {error}"),
                    ..error
                },
            );
        }
        lookup::drop_version(version);
    }

    /// Forget the version.
    pub fn forget(&self) {
        self.version.as_ref().map(lookup::drop_version);
    }
}

/// A put to a service of ours writes a new version; what it writes to elsewhere is emptied, unless one request replaces it.
/// A stream is opened. `own`: the service is wirespeed. A foreign stream cannot be cut.
pub(super) fn made_ready(
    options: &ClientOptions,
    own: bool,
    total_bytes: u64,
    block_bytes: u64,
) -> Result<Ready, TransferError> {
    let version = match (options.direction, own) {
        (Direction::Put, true) => lookup::begin_version(options)?,
        (Direction::Put, false) if options.way == Way::Bulk => {
            return Err(TransferError::usage(
                "the service is not wirespeed, and does not offer the bulk stream",
                "choose another mechanism",
            ));
        }
        (Direction::Put, false) if options.way == Way::Http && total_bytes > block_bytes => {
            return Err(TransferError::usage(
                format!(
                    "the service is not wirespeed: it may take each block for the whole file, unless there is one of \
                     {total_bytes} bytes"
                ),
                format!("send the file in one block of {total_bytes} bytes"),
            ));
        }
        (Direction::Put, false) if options.way == Way::Http && total_bytes > 0 => None,
        (Direction::Put, false) if !options.stream => {
            lookup::clear(options)?;
            None
        }
        _ => None,
    };
    let whole = version.as_ref().unwrap_or(options);
    let stream = match options.stream {
        true => lookup::open_stream(whole).inspect_err(|_| {
            version.as_ref().map(lookup::drop_version);
        })?,
        false => None,
    };
    Ok(Ready {
        opened: stream.is_some(),
        links: ClientOptions {
            url: stream.unwrap_or_else(|| whole.url.clone()),
            ..options.clone()
        },
        version,
    })
}
