//! Transports of wholes: they move a file in blocks between here and a service. The service is no rank, and tells the engine
//! nothing; all that is measured is measured here.

use super::port::Facts;
use super::{Connect, ConnectError, Support, Transport};
use crate::bulk::{BulkOutcome, Course};
use wirespeed_schema::byteio::Transfer;

/// What a transport of wholes says of messages.
pub const NO_MESSAGES: Support =
    Support::Lacks("it moves files between here and a service, no messages between ranks");

/// What a bulk transfer came to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Carried {
    /// What the engine counted and timed.
    pub outcome: BulkOutcome,
    /// Connection by connection, with what was found out before and after; whatever makes it no good is its error.
    pub record: Transfer,
    /// What is known of the service and the way to it.
    pub facts: Facts,
}

/// A transport that moves a whole in blocks between here and a service, which is no rank. This one's service has nothing but
/// zeros, and is everywhere:
///
/// ```
/// use std::sync::Arc;
/// use wirespeed::bulk::{self, Block, BulkError, BulkPlan, BulkPort, Connector, Course, Destination};
/// use wirespeed::bulk::{Hooks, NoDigest, Receiver, Wire};
/// use wirespeed::schema::byteio::Transfer;
/// use wirespeed::schema::case::{Case, GroupKind, RankSpec, Role, TransportOptions};
/// use wirespeed::schema::test::{Bulk as Shape, Test};
/// use wirespeed::transport::options::{OptionError, OptionSpec};
/// use wirespeed::transport::registry::Entry;
/// use wirespeed::transport::{Availability, Bulk, Carried, Connect, ConnectError, Limits};
/// use wirespeed::transport::{NO_MESSAGES, SizeLimit, Support, Transport};
/// use wirespeed::{Registry, ThreadBootstrap, measure};
///
/// struct Zeros;
///
/// impl Transport for Zeros {
///     const NAME: &'static str = "zeros";
///     const SUMMARY: &'static str = "an example";
///     const OPTIONS: &'static [OptionSpec] = &[];
///     const MESSAGES: Support = NO_MESSAGES;
///     const TAGGED: Support = NO_MESSAGES;
///     const ONE_SIDED: Support = NO_MESSAGES;
///     const BULK: Support = Support::Native;
///     type Options = ();
///
///     fn parse(_: &TransportOptions) -> Result<(), OptionError> {
///         Ok(())
///     }
///
///     fn probe() -> Availability {
///         Availability::Ready
///     }
///
///     fn limits(_: &()) -> Limits {
///         let none = || SizeLimit::never("it moves files");
///         Limits::of_messages(&[GroupKind::Hosts], [none(), none(), none(), none()]).with_ranks_max(1)
///     }
/// }
///
/// struct Link;
///
/// impl BulkPort for Link {
///     fn post(&mut self, _: Block) -> Result<(), BulkError> {
///         Ok(())
///     }
///
///     fn complete<R: Receiver>(&mut self, block: Block, receiver: &mut R) -> Result<(), BulkError> {
///         receiver.copy(&vec![0; block.size_bytes as usize])
///     }
/// }
///
/// impl Connector for Zeros {
///     type Port = Link;
///
///     fn connect(&self, _: usize, _: &Arc<Wire>) -> Result<Link, BulkError> {
///         Ok(Link)
///     }
/// }
///
/// impl Hooks for Zeros {
///     fn done(&self, _: Block, _: &[u8]) -> Result<(), BulkError> {
///         Ok(())
///     }
///
///     fn stop(&self) -> bool {
///         false
///     }
/// }
///
/// impl Bulk for Zeros {
///     fn carry(ctx: &Connect, _: &(), course: &mut Course) -> Result<Carried, ConnectError> {
///         let shape = ctx.case.test.bulk().expect("check lets nothing else pass");
///         let plan = BulkPlan {
///             total_bytes: shape.total_bytes,
///             block_bytes: shape.size_bytes,
///             threads: shape.connections as usize,
///             depth: shape.outstanding_ops as usize,
///             attempts_max: 1,
///             writes: false,
///             stall: std::time::Duration::from_secs(1),
///         };
///         let outcome = bulk::run::<NoDigest, _, _>(course, plan, (&Zeros, &Destination::Discard), &Zeros, &[]);
///         let record = Transfer {
///             payload_bytes: outcome.bytes,
///             elapsed_ns: outcome.elapsed.as_nanos() as u64,
///             error: outcome.error.as_ref().map(|error| error.why.clone()),
///             ..Transfer::default()
///         };
///         Ok(Carried { outcome, record, ..Carried::default() })
///     }
/// }
///
/// let registry = Registry::empty().with(Entry::of_bulk::<Zeros>());
/// let case = Case::new(Test::BulkGet(Shape::new(1000, 9500, 2, 1)), "zeros")
///     .with_group(GroupKind::Hosts)
///     .with_ranks(vec![RankSpec::new(Role::Sink)]);
/// let outcome = measure(&case, &registry, &ThreadBootstrap::group(1)[0], &mut |_| ())?;
/// assert_eq!((outcome.received.messages, outcome.received.bytes), (10, 9500));
/// assert!(outcome.floor.is_some() && outcome.error.is_none());
/// # Ok::<(), wirespeed::MeasureError>(())
/// ```
pub trait Bulk: Transport {
    /// Do the case's transfer once, or offer its requests for as long as the case says. The blocks move, and count, in
    /// [`run`](crate::bulk::run) or [`offer`](crate::bulk::offer) with this course; what comes before and after does not.
    fn carry(ctx: &Connect, options: &Self::Options, course: &mut Course) -> Result<Carried, ConnectError>;
}
