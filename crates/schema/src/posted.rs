//! Parameters of the tests on posted sends and receives: `msgrate` between many ranks, and the tests of the well-known
//! MPI benchmarks by their own names and definitions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// In which order sends and receives are posted in an iteration of `msgrate`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// The first half of the ranks sends to the second half.
    Single,
    /// One neighbour after the other: receives from one, sends to the opposite one, wait for both.
    Pair,
    /// Receives are posted before the iteration begins; then all sends, one wait, and the next iteration's receives.
    PrePost,
    /// Receives and sends of all neighbours, then one wait.
    AllStart,
}

impl Pattern {
    /// Every pattern, in the order of the tables.
    pub const ALL: [Pattern; 4] = [
        Pattern::Single,
        Pattern::Pair,
        Pattern::PrePost,
        Pattern::AllStart,
    ];

    /// The name as typed and printed.
    pub fn name(self) -> &'static str {
        match self {
            Pattern::Single => "single",
            Pattern::Pair => "pair",
            Pattern::PrePost => "pre-post",
            Pattern::AllStart => "all-start",
        }
    }
}

/// How ranks are arranged, and so who is whose neighbour. Every arrangement wraps around.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Grid {
    /// A ring of the ranks that are a stride apart; neighbours are the nearest on both sides.
    Ring,
    /// A plane: the 8 neighbours of a 9-point stencil.
    #[serde(rename = "2d")]
    Plane,
    /// A box: the 26 neighbours of a 27-point stencil.
    #[serde(rename = "3d")]
    Box,
}

impl Grid {
    /// Every arrangement, in the order of the tables.
    pub const ALL: [Grid; 3] = [Grid::Ring, Grid::Plane, Grid::Box];

    /// The name as typed and printed.
    pub fn name(self) -> &'static str {
        match self {
            Grid::Ring => "ring",
            Grid::Plane => "2d",
            Grid::Box => "3d",
        }
    }
}

/// What the caches hold of the messages' memory when an iteration begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CacheState {
    /// All messages leave from one place and arrive in one.
    Hot,
    /// Each message has a place of its own, and the iterations walk through more memory than the caches hold.
    Rotating,
    /// Each message has a place of its own; before an iteration everything to be sent was written and everything that
    /// arrived was read, as an application would.
    Touched,
    /// Each message has a place of its own; before an iteration the caches are filled with other data.
    Flushed,
}

impl CacheState {
    /// Every state, in the order of the tables.
    pub const ALL: [CacheState; 4] = [
        CacheState::Hot,
        CacheState::Rotating,
        CacheState::Touched,
        CacheState::Flushed,
    ];

    /// The name as typed and printed.
    pub fn name(self) -> &'static str {
        match self {
            CacheState::Hot => "hot",
            CacheState::Rotating => "rotating",
            CacheState::Touched => "touched",
            CacheState::Flushed => "flushed",
        }
    }

    /// Whether a size of memory belongs to it.
    pub fn has_size(self) -> bool {
        matches!(self, CacheState::Rotating | CacheState::Flushed)
    }
}

/// Iterations of posted sends and receives with every neighbour: `msgrate`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct MsgRate {
    /// Payload of each message.
    pub size_bytes: u64,
    /// Order of posting.
    pub pattern: Pattern,
    /// Messages to each neighbour in an iteration.
    pub window_msgs: u64,
    /// Arrangement of the ranks.
    pub grid: Grid,
    /// Neighbours of a rank; of a grid, as many as the stencil has where the grid is wide enough. `single` has one,
    /// whatever stands here.
    pub peers: u32,
    /// Neighbouring ranks of the ring are so many ranks apart: the ranks of a node, where each node's ranks follow each
    /// other.
    pub stride_ranks: u32,
    /// What the caches hold when an iteration begins.
    pub cache_state: CacheState,
    /// Memory of a rank that is walked through or filled between iterations; 0 where the state needs none.
    pub cache_bytes: u64,
}

/// Whether a definition sends every message of a window from one place, and receives it in one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Buffers {
    /// One place a side, as the originals do unless told otherwise.
    Single,
    /// A place for each message of the window.
    Multiple,
}

impl Buffers {
    /// Both, in the order of the tables.
    pub const ALL: [Buffers; 2] = [Buffers::Single, Buffers::Multiple];

    /// The name as typed and printed.
    pub fn name(self) -> &'static str {
        match self {
            Buffers::Single => "single",
            Buffers::Multiple => "multiple",
        }
    }
}

/// A test of a well-known MPI benchmark, by its own definition: `osu_bw`, `imb_pingpong` and their kin.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Defined {
    /// Payload of each message.
    pub size_bytes: u64,
    /// Messages before the acknowledgement; 1 for a ping-pong.
    pub window_msgs: u64,
    /// Reuse of memory within a window.
    pub buffers: Buffers,
}

impl MsgRate {
    /// Neighbours that a rank sends to, or receives from.
    pub fn neighbours(&self) -> u64 {
        match self.pattern {
            Pattern::Single => 1,
            _ => u64::from(self.peers),
        }
    }

    /// Bytes of the messages' memory of a rank with so many neighbours: 2 x peers x messages x size where every message
    /// has a place of its own. Saturates.
    pub fn buffer_bytes(&self, neighbours: u64) -> u64 {
        let own_places = neighbours
            .saturating_mul(self.window_msgs)
            .saturating_mul(self.size_bytes)
            .saturating_mul(2);
        match self.cache_state {
            CacheState::Hot => self.size_bytes.saturating_mul(2),
            CacheState::Rotating => own_places.saturating_mul(self.rotations(neighbours)),
            CacheState::Touched | CacheState::Flushed => own_places,
        }
    }

    /// Iterations until a rotating iteration comes back to its memory.
    pub fn rotations(&self, neighbours: u64) -> u64 {
        let once = neighbours
            .saturating_mul(self.window_msgs)
            .saturating_mul(self.size_bytes)
            .saturating_mul(2);
        match self.cache_state {
            CacheState::Rotating => self.cache_bytes.div_ceil(once.max(1)).clamp(1, 1 << 20),
            _ => 1,
        }
    }
}

impl Defined {
    /// Bytes of the messages' memory of a rank. Saturates.
    pub fn buffer_bytes(&self) -> u64 {
        let places = match self.buffers {
            Buffers::Single => 1,
            Buffers::Multiple => self.window_msgs,
        };
        self.size_bytes.saturating_mul(places).saturating_mul(2)
    }
}
