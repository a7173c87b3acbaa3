//! Transports of the program that a build was made without: listed, with the reason.

use wirespeed::Registry;
use wirespeed::schema::case::TransportOptions;
use wirespeed::transport::options::{OptionError, OptionSpec};
use wirespeed::transport::registry::Entry;
use wirespeed::transport::{Availability, Limits, NO_SHORTIOV, SizeLimit, Support, Transport};

/// Why there is no MPI.
pub const NO_MPI: &str = "this build was made without MPI (feature \"mpi\")";
const NO_UCX: &str = "this build was made without UCX (feature \"ucx\")";

/// Name, what it would be, and why it is not.
const ABSENT: [(&str, &str, &str); 3] = [
    ("uct", "one device of UCX", NO_UCX),
    ("ucp", "UCX's protocols over its devices", NO_UCX),
    ("mpi", "any MPI library", NO_MPI),
];

/// One of them.
struct Absent<const AT: usize>;

impl<const AT: usize> Transport for Absent<AT> {
    const NAME: &'static str = ABSENT[AT].0;
    const SUMMARY: &'static str = ABSENT[AT].1;
    const OPTIONS: &'static [OptionSpec] = &[];
    const MESSAGES: Support = Support::Lacks(ABSENT[AT].2);
    const TAGGED: Support = Support::Lacks(ABSENT[AT].2);
    const ONE_SIDED: Support = Support::Lacks(ABSENT[AT].2);
    type Options = ();

    fn parse(_: &TransportOptions) -> Result<(), OptionError> {
        // Whatever its options are, the reason is what the user must know.
        Ok(())
    }

    fn probe() -> Availability {
        Availability::Missing(ABSENT[AT].2.to_owned())
    }

    fn limits(_: &()) -> Limits {
        let none = || SizeLimit::never(ABSENT[AT].2);
        Limits::of_messages(&[], [none(), none(), none(), NO_SHORTIOV])
    }
}

/// `registry` with what this build lacks.
pub fn join(registry: Registry) -> Registry {
    let registry = match cfg!(feature = "ucx") {
        true => registry,
        false => registry
            .with(Entry::of_absent::<Absent<0>>())
            .with(Entry::of_absent::<Absent<1>>()),
    };
    match cfg!(feature = "mpi") {
        true => registry,
        false => registry.with(Entry::of_absent::<Absent<2>>()),
    }
}
