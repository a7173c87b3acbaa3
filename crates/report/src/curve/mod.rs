//! What curves say: thresholds of size, the window that is enough, the knee of a load.
//!
//! Every finding comes with the figures that it rests on; a smooth curve has no threshold, an idle one no knee.

mod bounds;
pub mod load;
mod load_words;
mod plateau;
pub mod section;
pub mod sizes;
pub mod window;

pub use bounds::bounds;
pub(crate) use bounds::transport_of;
pub use load::{
    Capacity, Knee, LoadPoint, NoKnee, UNLIMITED_PER_S, capacity, carried, knee, rate_offered_per_s,
};
pub use load_words::load_words;
pub use plateau::{CurvePoint, Plateau, plateau};
pub use sizes::{Change, Model, Segment, Segments, SizePoint, segments};
pub use window::{Enough, InUse, Little, WindowPoint, enough, little};
