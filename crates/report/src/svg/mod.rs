//! Line and scatter charts and heat maps as SVG: linear and logarithmic axes, intervals, fits, annotations, legend, light and dark.
//!
//! Every picture of the project that has axes is drawn here. The same chart gives the same bytes on every machine; text
//! is escaped, so a hostile label stays a label; nothing is fetched, no script runs. It never computes a figure: what a
//! chart shows is what the caller put into it.
//!
//! ```
//! use wirespeed_report::svg::{Axis, Chart, Look, Mark, Point, Series, Unit};
//! let chart = Chart {
//!     title: "bandwidth against message size".into(),
//!     x: Axis::log("message size", Unit::BinaryBytes),
//!     y: Axis::log("bandwidth", Unit::Si("B/s")),
//!     series: vec![Series::new("tcp", Look::Line, vec![Point::new(64.0, 5e7), Point::new(65536.0, 3e9)])],
//!     marks: vec![Mark::Horizontal { y: 2.85e9, label: "95 % of the best".into() }],
//!     ..Chart::new("size-tcp")
//! };
//! assert!(chart.standalone().starts_with("<svg "));
//! ```

mod axes;
mod cover;
mod data;
mod draw;
mod fold;
mod heat;
mod image;
mod labels;
mod layout;
mod scale;
mod shades;
mod style;
mod text;
mod ticks;
mod unit;

pub(crate) use fold::key;
pub use heat::{Cell, Heat, Shading};
pub(crate) use scale::range;
pub use style::style;
pub use text::escape;
pub use unit::Unit;
use wirespeed_schema::order::InOrder;

/// Width of a chart unless it says otherwise, in CSS pixels.
pub const WIDTH: u32 = 640;
/// Width of a chart in a small window, in CSS pixels.
const NARROW: u32 = 360;
/// Height of the plot area unless the chart says otherwise, in CSS pixels.
pub const PLOT_HEIGHT: u32 = 300;

/// How an axis places its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scale {
    /// Equal differences are equal lengths.
    #[default]
    Linear,
    /// Equal ratios are equal lengths. Values that are not above zero cannot be shown; the description counts them.
    Log,
}

/// One axis.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Axis {
    /// What it shows: `message size`.
    pub label: String,
    /// How values are placed.
    pub scale: Scale,
    /// How values are written.
    pub unit: Unit,
    /// Ends of the axis; absent: those of the data, with a margin.
    pub range: Option<(f64, f64)>,
    /// A linear axis begins at zero, whatever the data.
    pub from_zero: bool,
    /// Ticks with texts of their own instead of computed ones: percentiles, names of cases.
    pub ticks: Vec<(f64, String)>,
    /// Of a map whose places are named, groups of neighbours, such as the hosts of a rack: the first place of each as the axis is
    /// read, and its name. A map that is too large is folded by them.
    pub groups: Vec<(f64, String)>,
}

impl Axis {
    /// A linear axis over the range of the data.
    pub fn linear(label: impl Into<String>, unit: Unit) -> Axis {
        Axis {
            label: label.into(),
            unit,
            ..Axis::default()
        }
    }

    /// A logarithmic axis over the range of the data.
    pub fn log(label: impl Into<String>, unit: Unit) -> Axis {
        Axis {
            scale: Scale::Log,
            ..Axis::linear(label, unit)
        }
    }

    /// Its named places in the order in which they are read: columns from the left, rows from the top.
    pub(crate) fn places(&self, from_the_top: bool) -> Vec<(f64, &str)> {
        let mut all: Vec<(f64, &str)> = self.ticks.iter().map(|(at, name)| (*at, name.as_str())).collect();
        all.order_by(|a, b| a.0.total_cmp(&b.0));
        if from_the_top {
            all.reverse();
        }
        all
    }
}

/// One value of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Place on the horizontal axis.
    pub x: f64,
    /// Place on the vertical axis.
    pub y: f64,
    /// Interval of `y` (of `x` in a series that looks [`Look::Across`]), lower and upper end.
    pub interval: Option<(f64, f64)>,
}

impl Point {
    /// A point without an interval.
    pub fn new(x: f64, y: f64) -> Point {
        Point { x, y, interval: None }
    }

    /// A point whose `y` lies within `low..=high`.
    pub fn within(x: f64, y: f64, low: f64, high: f64) -> Point {
        Point {
            x,
            y,
            interval: Some((low, high)),
        }
    }
}

/// How a series looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// Points joined by a line; their intervals are a band.
    Line,
    /// Points alone; their intervals are bars.
    Points,
    /// Points alone; their intervals are those of `x`, bars from left to right: a forest plot.
    Across,
    /// A line without points, dashed: a fit or a limit.
    Fit,
    /// Steps filled down to the lower end of the axis: a histogram. Each point's `x` begins its step.
    Steps,
}

/// Points that belong together.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Its name in the legend; empty: not in the legend.
    pub label: String,
    /// How it looks.
    pub look: Look,
    /// Number of its colour and marker; absent: its place in the chart. Give a fit the number of the data it fits.
    pub color: Option<usize>,
    /// Its points, in the order in which a line joins them. Those with NaN or infinities are left out.
    pub points: Vec<Point>,
}

impl Series {
    /// A series in the colour of its place.
    pub fn new(label: impl Into<String>, look: Look, points: Vec<Point>) -> Series {
        Series {
            label: label.into(),
            look,
            color: None,
            points,
        }
    }

    /// The same in the colour and marker number `color`.
    pub fn colored(self, color: usize) -> Series {
        Series {
            color: Some(color),
            ..self
        }
    }
}

/// An annotation.
#[derive(Debug, Clone, PartialEq)]
pub enum Mark {
    /// A line at `x`: a threshold, a knee.
    Vertical {
        /// Where.
        x: f64,
        /// What it says.
        label: String,
    },
    /// A line at `y`: a limit, 95 % of the best.
    Horizontal {
        /// Where.
        y: f64,
        /// What it says.
        label: String,
    },
    /// A ring around a point.
    Spot {
        /// Where.
        x: f64,
        /// Where.
        y: f64,
        /// What it says.
        label: String,
    },
    /// A shaded range of the horizontal axis: warm-up.
    Shade {
        /// Its beginning.
        from: f64,
        /// Its end.
        to: f64,
        /// What it says.
        label: String,
    },
}

/// A chart.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Chart {
    /// Tells the charts of one page apart; letters, digits and hyphens, others become hyphens.
    pub id: String,
    /// Heading: what it answers, in a sentence; else what it shows.
    pub title: String,
    /// What it shows, where the title answers: `bandwidth against message size`.
    pub subtitle: String,
    /// What it shows, for those who do not see it. The range of each series is added.
    pub description: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The data.
    pub series: Vec<Series>,
    /// Values by two things, drawn instead of series.
    pub heat: Option<Heat>,
    /// Annotations.
    pub marks: Vec<Mark>,
    /// What the points' intervals are, for the legend: `95 % interval of the median`.
    pub interval_label: String,
    /// Width in CSS pixels.
    pub width: u32,
    /// Height of the plot area in CSS pixels; title, labels and legend come on top.
    pub plot_height: u32,
}

impl Chart {
    /// An empty chart of the usual size.
    pub fn new(id: impl Into<String>) -> Chart {
        Chart {
            id: id.into(),
            width: WIDTH,
            plot_height: PLOT_HEIGHT,
            ..Chart::default()
        }
    }

    /// What it shows, whether or not its title says so.
    pub fn subject(&self) -> &str {
        match self.subtitle.as_str() {
            "" => &self.title,
            subtitle => subtitle,
        }
    }

    /// A file of its own, with its style.
    pub fn standalone(&self) -> String {
        draw::draw(self, draw::Place::File)
    }

    /// Two elements, for windows with and without room, to be put into an element of class `ws-pair` on a page that holds
    /// [`style`] once, which shows the one that fits. The page writes title and subtitle above them.
    pub fn inline(&self) -> String {
        let narrow = Chart {
            width: NARROW,
            plot_height: match self.y.ticks.is_empty() {
                true => self.plot_height * 3 / 4,
                false => self.plot_height,
            },
            ..self.clone()
        };
        draw::draw(self, draw::Place::Wide) + &draw::draw(&narrow, draw::Place::Narrow)
    }
}
