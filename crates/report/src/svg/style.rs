//! Colours and the style sheet, light and dark.
//!
//! Colours are told apart by contrast, also by people who see no difference between red and green: tests compute both.
//! Series also differ in their markers, so colour never carries a meaning alone.

use std::fmt::Write as _;

/// Colours of one background.
pub struct Palette {
    /// Behind everything.
    pub background: &'static str,
    /// Titles and values.
    pub ink: &'static str,
    /// Labels of axes and annotations.
    pub soft: &'static str,
    /// Grid.
    pub grid: &'static str,
    /// Series.
    pub series: [&'static str; COLORS],
}

/// Series colours before they begin again.
pub const COLORS: usize = 6;

/// On white.
pub const LIGHT: Palette = Palette {
    background: "#ffffff",
    ink: "#1b1f24",
    soft: "#57606a",
    grid: "#e3e6ea",
    series: ["#0072b2", "#e26c00", "#5b1a55", "#2e8b6f", "#111111", "#b4001e"],
};

/// On near black.
pub const DARK: Palette = Palette {
    background: "#14171c",
    ink: "#e8eaed",
    soft: "#a3acb8",
    grid: "#2c323a",
    series: ["#4da6e0", "#f28e2b", "#e8f7d0", "#b565a7", "#ffe94a", "#6b7f74"],
};

/// What does not depend on the background.
const SHAPES: &str = "\
.ws-chart{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;max-width:100%;height:auto}
.ws-chart text{font-size:12px;stroke:none}
.ws-chart .ws-title{font-size:15px;font-weight:600}
.ws-pair{container-type:inline-size}
.ws-pair .ws-chart{display:block;width:100%}
.ws-pair .ws-wide{max-width:860px}
.ws-pair .ws-narrow{display:none;max-width:500px}
@container (max-width:540px){.ws-pair .ws-wide{display:none}.ws-pair .ws-narrow{display:block}}
.ws-chart .ws-grid{stroke-width:1;fill:none}
.ws-chart .ws-axis{stroke-width:1;fill:none}
.ws-chart .ws-line{fill:none;stroke:currentColor;stroke-width:2;stroke-linejoin:round}
.ws-chart .ws-fit{fill:none;stroke:currentColor;stroke-width:1.5;stroke-dasharray:6 4}
.ws-chart .ws-band{fill:currentColor;fill-opacity:.18;stroke:none}
.ws-chart .ws-bar{stroke:currentColor;stroke-width:1.2;fill:none}
.ws-chart .ws-steps{fill:currentColor;fill-opacity:.35;stroke:currentColor;stroke-width:1}
.ws-chart .ws-dot{fill:currentColor;stroke:none}
.ws-chart .ws-mark{stroke-width:1.2;stroke-dasharray:2 3;fill:none}
.ws-chart .ws-spot{stroke-width:1.5;fill:none}
.ws-chart .ws-shade{stroke:none;fill-opacity:.12}
.ws-chart .ws-note{stroke-width:5px;paint-order:stroke;stroke-linejoin:round}
";

/// The style sheet of every chart. Follows the reader's preference, on paper the light one; an ancestor with `data-theme` `light` or `dark`
/// overrules it.
pub fn style() -> String {
    let mut sheet = SHAPES.to_owned();
    sheet.push_str(&super::shades::rules());
    sheet.push_str(&rules("", &LIGHT));
    // Writing to a String cannot fail.
    let _ = writeln!(
        sheet,
        "@media screen and (prefers-color-scheme:dark){{\n{}}}",
        rules("", &DARK)
    );
    sheet.push_str(&rules("[data-theme=light] ", &LIGHT));
    sheet.push_str(&rules("[data-theme=dark] ", &DARK));
    sheet
}

fn rules(scope: &str, palette: &Palette) -> String {
    let Palette {
        background,
        ink,
        soft,
        grid,
        series,
    } = palette;
    let mut text = String::new();
    let colours = [
        (".ws-back", format!("fill:{background}")),
        (".ws-title", format!("fill:{ink}")),
        (".ws-text", format!("fill:{ink}")),
        (".ws-label", format!("fill:{soft}")),
        (".ws-grid", format!("stroke:{grid}")),
        (".ws-axis", format!("stroke:{soft}")),
        (".ws-mark", format!("stroke:{soft}")),
        (".ws-spot", format!("stroke:{ink}")),
        (".ws-shade", format!("fill:{soft}")),
        (".ws-note", format!("fill:{ink};stroke:{background}")),
    ];
    for (class, rule) in colours {
        // Writing to a String cannot fail, here and below.
        let _ = writeln!(text, "{scope}.ws-chart {class}{{{rule}}}");
    }
    for (index, color) in series.iter().enumerate() {
        let _ = writeln!(text, "{scope}.ws-chart .ws-{index}{{color:{color}}}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    type Rgb = [f64; 3];

    /// Red, green and blue as light, 0 to 1 (IEC 61966-2-1).
    fn linear(color: &str) -> Rgb {
        [1, 3, 5].map(|at| {
            let part = f64::from(u8::from_str_radix(&color[at..at + 2], 16).unwrap()) / 255.0;
            if part <= 0.040_45 {
                part / 12.92
            } else {
                ((part + 0.055) / 1.055).powf(2.4)
            }
        })
    }

    fn luminance(c: Rgb) -> f64 {
        0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2]
    }

    /// Contrast ratio of WCAG 2.
    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(linear(a)), luminance(linear(b)));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    /// What people see who lack the red, then the green cones (Vienot, Brettel, Mollon 1999); first what others see.
    const EYES: [[Rgb; 3]; 3] = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [
            [0.112_38, 0.887_62, 0.0],
            [0.112_38, 0.887_62, 0.0],
            [0.004_01, -0.004_01, 1.0],
        ],
        [
            [0.292_75, 0.707_25, 0.0],
            [0.292_75, 0.707_25, 0.0],
            [-0.022_34, 0.022_34, 1.0],
        ],
    ];

    /// CIE L*a*b*, D65, of a colour as an eye sees it.
    fn lab(color: &str, eye: &[Rgb; 3]) -> Rgb {
        let c = linear(color);
        let seen = eye.map(|row| (row[0] * c[0] + row[1] * c[1] + row[2] * c[2]).clamp(0.0, 1.0));
        let f = |t: f64| {
            if t > 0.008_856 {
                t.cbrt()
            } else {
                7.787 * t + 16.0 / 116.0
            }
        };
        let x = f((0.4124 * seen[0] + 0.3576 * seen[1] + 0.1805 * seen[2]) / 0.950_47);
        let y = f(luminance(seen));
        let z = f((0.0193 * seen[0] + 0.1192 * seen[1] + 0.9505 * seen[2]) / 1.088_83);
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    #[test]
    fn everything_stands_out_from_its_background() {
        for palette in [LIGHT, DARK] {
            for color in palette.series {
                assert!(contrast(color, palette.background) >= 3.0, "{color}");
            }
            for text in [palette.ink, palette.soft] {
                assert!(contrast(text, palette.background) >= 4.5, "{text}");
            }
        }
    }

    #[test]
    fn no_two_series_look_alike_to_any_eye() {
        for palette in [LIGHT, DARK] {
            for eye in &EYES {
                for (index, a) in palette.series.iter().enumerate() {
                    for b in &palette.series[index + 1..] {
                        let (p, q) = (lab(a, eye), lab(b, eye));
                        let distance: f64 = (0..3).map(|i| (p[i] - q[i]).powi(2)).sum::<f64>().sqrt();
                        assert!(distance >= 15.0, "{a} and {b}: {distance:.1}");
                    }
                }
            }
        }
    }
}
