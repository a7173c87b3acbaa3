//! Why a transport cannot run a case, found before anything is opened.

use super::limits::{Limits, SizeLimit};
use super::options::OptionError;
use super::{Availability, Support, Transport, memory};
use crate::error::MeasureError;
use wirespeed_schema::case::{Case, GroupKind, Role};
use wirespeed_schema::kinds::Roles;
use wirespeed_schema::test::Capability;
use wirespeed_schema::units::format_asked_size;

/// A rank's options of its transport.
pub(crate) fn options_at<T: Transport>(case: &Case, rank: u32) -> Result<T::Options, MeasureError> {
    T::parse(&case.options_at(rank)).map_err(not_understood)
}

fn not_understood(error: OptionError) -> MeasureError {
    MeasureError::Usage(error.to_string())
}

/// Why a transport cannot run a case, found before anything is opened. What ranks have of their own may not be had here, so it
/// is only read.
pub fn check<T: Transport>(case: &Case) -> Result<(), MeasureError> {
    let options = T::parse(&case.options).map_err(not_understood)?;
    for (rank, _) in (0..)
        .zip(&case.ranks)
        .filter(|(_, rank)| !rank.options.is_empty())
    {
        options_at::<T>(case, rank)?;
    }
    let kind = Kind {
        name: T::NAME,
        support: match case.test.capability() {
            Capability::Messages => T::MESSAGES,
            Capability::Tagged => T::TAGGED,
            Capability::OneSided => T::ONE_SIDED,
            Capability::Bulk => T::BULK,
        },
        lossy: T::LOSSY,
        carries_payload: T::CARRIES_PAYLOAD,
    };
    kind.runs(case)?;
    if let Availability::Missing(why) | Availability::NotPermitted(why) = T::ready(&options) {
        return refuse(case, &why);
    }
    kind.takes(case, &T::limits(&options))
}

fn refuse(case: &Case, why: &str) -> Result<(), MeasureError> {
    Err(MeasureError::Unsupported(format!("{}: {why}", case.label())))
}

/// What a check needs of a transport, so that the rest of it is compiled once.
struct Kind {
    name: &'static str,
    /// Of what the case's test needs.
    support: Support,
    lossy: bool,
    carries_payload: bool,
}

impl Kind {
    /// Whether it runs tests of this kind, whatever its options.
    fn runs(&self, case: &Case) -> Result<(), MeasureError> {
        if let Support::Lacks(why) = self.support {
            let capability = case.test.capability().in_words();
            return refuse(case, &format!("{} has no {capability}: {why}", self.name));
        }
        let roles = case.test.roles();
        if self.lossy && roles == Some(Roles::Hub) {
            return refuse(case, "a hub waits for every answer, and datagrams may be lost");
        }
        let relayed = case.ranks.iter().any(|rank| rank.role == Role::Relay);
        if self.lossy && (relayed || roles == Some(Roles::Everybody)) {
            return refuse(
                case,
                "its credits wait for every message, and datagrams may be lost",
            );
        }
        if case.check && !self.carries_payload {
            return refuse(case, &format!("{} carries no payload to check", self.name));
        }
        Ok(())
    }

    /// Whether its limits hold the case.
    fn takes(&self, case: &Case, limits: &Limits) -> Result<(), MeasureError> {
        let Kind { name, support, .. } = self;
        if !limits.works_in(case.group) {
            let group = group_name(case.group);
            return refuse(case, &format!("{name} does not work between {group}"));
        }
        if case.ranks.len() > limits.ranks_max as usize {
            return refuse(case, &format!("{name} takes at most {} ranks", limits.ranks_max));
        }
        let size = case.test.largest_message_bytes();
        let asked = format_asked_size(size);
        let above = |max: u64| {
            let most = format_asked_size(max);
            let told = match most == asked {
                // They look alike, and are not.
                true => format!("size {size} B is above the limit of {max} B"),
                false => format!("size {asked} is above the limit of {most}"),
            };
            refuse(case, &told)
        };
        match limits.of(&case.test) {
            // Another layout would not help either: then the size is the reason.
            SizeLimit::Lacks(_) if (1..size).contains(&limits.largest_of(&case.test)) => {
                above(limits.largest_of(&case.test))
            }
            SizeLimit::Lacks(why) => refuse(case, &format!("no such layout on {name}: {why}")),
            SizeLimit::UpTo(max) | SizeLimit::Between(_, max) if size > max => {
                // Where no layout takes it, the limit is the most that one does.
                let most = limits.largest_of(&case.test);
                above(if size > most { most } else { max })
            }
            SizeLimit::Between(min, _) if size < min => {
                let min = format_asked_size(min);
                refuse(
                    case,
                    &format!("size {asked} is below the least of {min} for this layout"),
                )
            }
            SizeLimit::UpTo(_) | SizeLimit::Between(..) => {
                memory::check(case, matches!(support, Support::Emulated(..)))
            }
        }
    }
}

fn group_name(group: GroupKind) -> &'static str {
    match group {
        GroupKind::Threads => "threads of one process",
        GroupKind::Processes => "processes of one machine",
        GroupKind::Hosts => "two machines",
        GroupKind::Job => "processes of a launcher's job",
    }
}
