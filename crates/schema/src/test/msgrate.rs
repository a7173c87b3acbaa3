//! `msgrate`: iterations of posted sends and receives between many ranks and their neighbours.

use super::asked::{Asked, Parameters, Value, WINDOW};
use crate::parameter::{Parameter, Section};
use crate::plan::error::PlanError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `--pattern`.
pub static PATTERN: Parameter = Parameter {
    key: "pattern",
    section: Section::ManyRanks,
    help: "Order of posting: single, pair, pre-post, all-start [default: pre-post]",
    remedy: "choose from: single, pair, pre-post, all-start",
    example: "pattern = [\"single\", \"pair\", \"pre-post\", \"all-start\"]",
    column: "pattern",
    ..Parameter::NAME
};

/// `--grid`.
pub static GRID: Parameter = Parameter {
    key: "grid",
    section: Section::ManyRanks,
    help: "Who is whose neighbour: ring, 2d (9-point stencil), 3d (27-point stencil) [default: ring]",
    remedy: "choose from: ring, 2d, 3d",
    example: "grid = [\"ring\", \"2d\", \"3d\"]",
    column: "grid",
    ..Parameter::NAME
};

/// `--peers`.
pub static PEERS: Parameter = Parameter {
    key: "peers",
    section: Section::ManyRanks,
    help: "Neighbours of a rank on the ring [default: 6, fewer where there are fewer ranks]",
    remedy: "give a number of neighbours from 1 to 1023, such as 6",
    example: "peers = 1",
    column: "neighbours",
    ..Parameter::COUNT
};

/// `--stride`.
pub static STRIDE: Parameter = Parameter {
    key: "stride",
    section: Section::ManyRanks,
    help: "Ranks between two neighbours on the ring [default: 1]",
    remedy: "give the number of ranks of each node, such as 1",
    example: "stride = 1",
    column: "stride",
    ..Parameter::COUNT
};

/// `--cache-state`.
pub static CACHE_STATE: Parameter = Parameter {
    key: "cache_state",
    section: Section::ManyRanks,
    help: "What the caches hold when an iteration begins: hot, rotating, touched, flushed [default: flushed]",
    more: "hot: all messages leave from one place and arrive in one. rotating: iterations walk through more memory than \
           the caches hold. touched: what is sent was just written, what came was read. flushed: other data fill the \
           caches.",
    remedy: "choose from: hot, rotating, touched, flushed",
    example: "cache_state = [\"hot\", \"rotating\", \"touched\", \"flushed\"]",
    column: "cache_state",
    ..Parameter::NAME
};

/// `--cache-size`.
pub static CACHE_SIZE: Parameter = Parameter {
    key: "cache_size",
    section: Section::ManyRanks,
    help: "Memory that each rank writes to empty the caches [default: 2 x the largest cache, divided among the ranks that share it]",
    more: "At most 1/16 of the machine's memory for all ranks together, where no size is given.",
    remedy: "give a size of at least 64 bytes, such as 8M",
    example: "cache_size = \"8M\"",
    column: "cache_bytes",
    ..Parameter::SIZE
};

/// What only msgrate has.
pub(crate) static OWN: [&Parameter; 6] = [&PATTERN, &GRID, &PEERS, &STRIDE, &CACHE_STATE, &CACHE_SIZE];
/// Neighbours on the ring when none are given; fewer where there are fewer ranks.
const PEERS_DEFAULT: u32 = 6;
const PEERS_MAX: u64 = 1023;
const CACHE_BYTES_MIN: u64 = 64;
const CACHE_BYTES_MAX: u64 = 1 << 40;

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
#[non_exhaustive]
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

impl MsgRate {
    /// Neighbours on the ring, one rank after the other, with hot caches.
    pub fn new(size_bytes: u64, pattern: Pattern, peers: u32, window_msgs: u64) -> Self {
        Self {
            size_bytes,
            pattern,
            window_msgs,
            grid: Grid::Ring,
            peers,
            stride_ranks: 1,
            cache_state: CacheState::Hot,
            cache_bytes: 0,
        }
    }

    /// Another arrangement of the ranks.
    #[must_use]
    pub fn with_grid(mut self, grid: Grid) -> Self {
        self.grid = grid;
        self
    }

    /// Another state of the caches, and the memory of a rank that belongs to it.
    #[must_use]
    pub fn with_caches(mut self, state: CacheState, cache_bytes: u64) -> Self {
        (self.cache_state, self.cache_bytes) = (state, cache_bytes);
        self
    }

    /// The parameters as they are asked for. Whether the ranks can be arranged that way is not checked here.
    pub(crate) fn read(asked: &Asked) -> Result<Self, PlanError> {
        let words = asked.words;
        let grid = words.named(&GRID, Grid::Ring, &Grid::ALL.map(|g| (g.name(), g)))?;
        if grid != Grid::Ring && (words.get(&PEERS).is_some() || words.get(&STRIDE).is_some()) {
            return Err(PlanError::new(
                format!("--grid {} has its own neighbours", grid.name()),
                "leave --peers and --stride out, or use --grid ring",
            ));
        }
        let count = |parameter: &'static Parameter| -> Result<Option<u32>, PlanError> {
            Ok(words.count(parameter, 1..=PEERS_MAX)?.map(|count| count as u32))
        };
        let pattern = words.named(&PATTERN, Pattern::PrePost, &Pattern::ALL.map(|p| (p.name(), p)))?;
        let states = CacheState::ALL.map(|state| (state.name(), state));
        let cache_state = words.named(&CACHE_STATE, CacheState::Flushed, &states)?;
        let stride_ranks = count(&STRIDE)?.unwrap_or(1);
        let nodes = asked.ranks / stride_ranks;
        Ok(MsgRate {
            size_bytes: asked.size_bytes,
            pattern,
            window_msgs: asked.window()?,
            grid,
            peers: count(&PEERS)?.unwrap_or(PEERS_DEFAULT.min(nodes.saturating_sub(1)).max(1)),
            stride_ranks,
            cache_state,
            cache_bytes: cache_bytes(cache_state, asked)?,
        })
    }

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
        let own_places = self.own_places_bytes(neighbours);
        match self.cache_state {
            CacheState::Hot => self.size_bytes.saturating_mul(2),
            CacheState::Rotating => own_places.saturating_mul(self.rotations(neighbours)),
            CacheState::Touched | CacheState::Flushed => own_places,
        }
    }

    /// Iterations until a rotating iteration comes back to its memory.
    pub fn rotations(&self, neighbours: u64) -> u64 {
        let once = self.own_places_bytes(neighbours);
        match self.cache_state {
            CacheState::Rotating => self.cache_bytes.div_ceil(once.max(1)).clamp(1, 1 << 20),
            _ => 1,
        }
    }

    fn own_places_bytes(&self, neighbours: u64) -> u64 {
        let messages = neighbours.saturating_mul(self.window_msgs);
        messages.saturating_mul(self.size_bytes).saturating_mul(2)
    }
}

fn cache_bytes(state: CacheState, asked: &Asked) -> Result<u64, PlanError> {
    let given = asked.words.get(&CACHE_SIZE).is_some();
    if given && !state.has_size() {
        return Err(PlanError::new(
            format!("--cache-state {} has no --cache-size", state.name()),
            "leave the size out, or use --cache-state flushed or rotating",
        ));
    }
    let size = asked.words.size(&CACHE_SIZE, CACHE_BYTES_MIN..=CACHE_BYTES_MAX)?;
    Ok(match (size, state.has_size()) {
        (Some(bytes), _) => bytes,
        (None, true) => (asked.cache_bytes)().max(CACHE_BYTES_MIN),
        (None, false) => 0,
    })
}

impl Parameters for MsgRate {
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn window(&self) -> u64 {
        self.window_msgs
    }

    fn variant(&self) -> String {
        let (pattern, state) = (self.pattern.name(), self.cache_state.name());
        match self.pattern {
            Pattern::Single => format!("{pattern} {state}"),
            _ => format!("{pattern} {} p={} {state}", self.grid.name(), self.peers),
        }
    }

    fn values(&self) -> Vec<Value> {
        vec![
            (&PATTERN, self.pattern.name().to_owned()),
            (&GRID, self.grid.name().to_owned()),
            (&PEERS, self.peers.to_string()),
            (&STRIDE, self.stride_ranks.to_string()),
            (&WINDOW, self.window_msgs.to_string()),
            (&CACHE_STATE, self.cache_state.name().to_owned()),
            (&CACHE_SIZE, self.cache_bytes.to_string()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two neighbours and four messages of 8 B, there and back: 128 B.
    #[test]
    fn memory_is_as_large_as_the_state_of_the_cache_asks() {
        for (cache_state, cache_bytes, rotations, buffer_bytes) in [
            (CacheState::Hot, 0, 1, 16),
            (CacheState::Touched, 0, 1, 128),
            (CacheState::Flushed, 4096, 1, 128),
            (CacheState::Rotating, 1, 1, 128),
            (CacheState::Rotating, 4096, 32, 4096),
            (CacheState::Rotating, 4097, 33, 33 * 128),
        ] {
            let test = MsgRate {
                size_bytes: 8,
                pattern: Pattern::PrePost,
                window_msgs: 4,
                grid: Grid::Ring,
                peers: 2,
                stride_ranks: 1,
                cache_state,
                cache_bytes,
            };
            let found = (test.rotations(2), test.buffer_bytes(2));
            assert_eq!(found, (rotations, buffer_bytes), "{cache_state:?} {cache_bytes}");
        }
    }
}
