//! The shades of heat maps: those of cividis, which people see alike whatever colours they see, and which is lighter for more.
//! Which value has which shade is not known here.

use std::fmt::Write as _;

/// Shades, from the least to the greatest (cividis: Nuñez, Anderton and Renslow, PLoS ONE 13, 2018).
pub const SHADES: [&str; 10] = [
    "#00224e", "#123570", "#3b496c", "#575d6d", "#68696f", "#8a8678", "#a59c74", "#c3b369", "#e1cc55",
    "#fee838",
];
/// Width of a shade in the scale.
pub const STEP: f64 = 16.0;
/// Width of the whole scale.
pub const SCALE_WIDTH: f64 = STEP * SHADES.len() as f64;

/// Rules of the style sheet.
pub fn rules() -> String {
    let mut text = String::new();
    for (index, shade) in SHADES.iter().enumerate() {
        // Writing to a String cannot fail.
        let _ = writeln!(text, ".ws-chart .ws-h{index}{{fill:{shade}}}");
    }
    text.push_str(".ws-chart .ws-on-dark{fill:#ffffff}\n.ws-chart .ws-on-light{fill:#000000}\n");
    text
}
