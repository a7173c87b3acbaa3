//! Parameters of the tests on posted sends and receives: `msgrate` between many ranks, and the tests of the well-known
//! MPI benchmarks by their own names and definitions.

pub use crate::test::defined::{Buffers, Defined};
pub use crate::test::msgrate::{CacheState, Grid, MsgRate, Pattern};
