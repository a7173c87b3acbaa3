//! What every page carries beside its text: the style, the one script that copies, and the policy that lets nothing else run.
//! It never holds a word of a result.

use std::fmt::Write as _;

/// The script, as it stands in the page: it copies, sorts, and tells the cells of large maps. Nothing on the page needs it.
pub const SCRIPT: &str = include_str!("copy.js");

/// SHA-256 of the script. The browser runs a script with this hash and no other.
const SCRIPT_HASH: &str = "sha256-ryg2o8QumXEHNccNktmbJEMRxL6224d6scwKgOOCCso=";

/// What the page allows itself: its own style, its own script by its hash, pictures that stand in it, nothing else.
pub fn policy() -> String {
    format!(
        "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src '{SCRIPT_HASH}'; base-uri 'none'; form-action 'none'"
    )
}

/// Text and layout.
const LAYOUT: &str = "\
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0 auto;max-width:1760px;padding:1rem;font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;color:var(--ink);background:var(--back);overflow-wrap:anywhere}
h1{font-size:1.5rem;margin:.2em 0}h2{font-size:1.2rem;margin:1.8em 0 .4em;border-bottom:1px solid var(--line)}h3,h4{font-size:1rem;margin:1.2em 0 .2em}
h1,h3,h4,p,li{max-width:80ch}p{margin:.5em 0}
a{color:var(--link)}:focus-visible{outline:3px solid var(--link);outline-offset:2px}
nav ul{list-style:none;display:flex;flex-wrap:wrap;gap:.2em 1em;padding:0}
.skip{position:absolute;left:-999px}.skip:focus{position:static}
.answer{background:var(--box);border:1px solid var(--line);border-radius:6px;padding:.6em 1em;margin:.5em 0}
.answer p{margin:.2em 0;font-weight:600}
.soft{color:var(--soft)}.strong{font-weight:600}
.bad{color:var(--bad);font-weight:600}.warning{color:var(--warn);font-weight:600}
code,pre{font:.9em/1.4 ui-monospace,'DejaVu Sans Mono',monospace;background:var(--box);border-radius:3px}
code{padding:.1em .3em}.command{padding:.5em .8em;margin:.4em 0;white-space:pre-wrap}
.csv{margin:0;padding:.5em .8em;white-space:pre;overflow-wrap:normal}
.copy{display:flex;flex-wrap:wrap;gap:.4em;margin:.5em 0}
button{font:inherit;font-size:.86rem;color:var(--link);background:var(--back);border:1px solid var(--edge);border-radius:5px;padding:.25em .7em;min-height:24px;cursor:pointer}
button:hover{background:var(--box)}
.cell{display:flex;flex-wrap:wrap;align-items:center;gap:.3em 1em;font-size:.86rem}.cell select{font:inherit;max-width:16em;min-height:24px}.cell output{font-weight:600}
.ws-at{fill:none;stroke:var(--bad);stroke-width:2;pointer-events:none}
[hidden]{display:none}
.said{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
summary{cursor:pointer;color:var(--link);padding:.2em 0}
.figures{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,560px),1fr));gap:1.5rem 2rem}
figure{margin:0;min-width:0}figure h3,figure h4{margin:.2em 0}
.frame{overflow-x:auto;max-width:100%;max-height:none;margin:.3em 0}
.data,.long{max-height:24em;overflow:auto}.long thead th,.long thead td{position:sticky;top:0;background:var(--back);z-index:2}
.sort{font-weight:600;color:inherit;border:0;padding:0 .2em;text-align:inherit;text-decoration:underline dotted}
th[aria-sort] .sort{text-decoration:underline}th[aria-sort=ascending] .sort::after{content:' \\2191'}th[aria-sort=descending] .sort::after{content:' \\2193'}
table{border-collapse:separate;border-spacing:0;width:max-content;font-size:.86rem;font-variant-numeric:tabular-nums}
th,td{border-bottom:1px solid var(--line);padding:.25em .9em .25em 0;text-align:left;vertical-align:top;max-width:min(48ch,70vw);font-weight:400}
thead th{font-weight:600;vertical-align:bottom}
tr.warning th,tr.bad th,tr.strong th,tr.warning td,tr.bad td,tr.strong td{font-weight:600}
.number{text-align:right;white-space:nowrap;overflow-wrap:normal}
th:first-child{position:sticky;left:0;background:var(--back);max-width:min(48ch,42vw);unicode-bidi:plaintext;z-index:1}
";

/// On paper: all of a table, no buttons, light.
const PAPER: &str = "\
@media print{
body{padding:0;max-width:none;font-size:10pt}nav,.skip,.copy,.cell,.data,details:not([open]){display:none}
.frame{overflow:visible;max-height:none}table{width:auto;font-size:7.5pt}th,td{padding-right:.6em;max-width:none}
.number{white-space:normal}table:not(:has(tr>:nth-child(10))) :is(th,td){overflow-wrap:break-word}th:first-child{position:static;max-width:none}
.figures{display:block}figure{margin:0 0 1.2em;break-inside:avoid}tr{break-inside:avoid}h2,h3,h4{break-after:avoid}
.ws-chart{print-color-adjust:exact;-webkit-print-color-adjust:exact}
}
";

/// Name and value of each colour: light, dark.
const COLORS: [(&str, &str, &str); 9] = [
    ("ink", "#1b1f24", "#e8eaed"),
    ("soft", "#57606a", "#a3acb8"),
    ("line", "#d0d7de", "#2c323a"),
    ("edge", "#7d8590", "#7d8590"),
    ("back", "#ffffff", "#14171c"),
    ("box", "#f6f8fa", "#1c2128"),
    ("bad", "#b4001e", "#ff8080"),
    ("warn", "#8a4b00", "#f2b25c"),
    ("link", "#0550ae", "#79b8ff"),
];

/// The style sheet: colours, layout, paper, charts.
pub fn style() -> String {
    let rule = |pick: fn(&(&'static str, &'static str, &'static str)) -> &'static str| {
        let mut rule = String::new();
        for color in &COLORS {
            // Writing to a String cannot fail.
            let _ = write!(rule, "--{}:{};", color.0, pick(color));
        }
        rule
    };
    format!(
        ":root{{color-scheme:light dark;{}}}\n@media screen and (prefers-color-scheme:dark){{:root{{{}}}}}\n{LAYOUT}{PAPER}{}",
        rule(|color| color.1),
        rule(|color| color.2),
        crate::svg::style()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine as _;

    #[test]
    fn the_policy_names_the_script() {
        let digest = ring::digest::digest(&ring::digest::SHA256, SCRIPT.as_bytes());
        let hash = base64::engine::general_purpose::STANDARD.encode(digest);
        assert_eq!(SCRIPT_HASH, format!("sha256-{hash}"));
        // Nothing in it could end it, or begin markup.
        assert!(!SCRIPT.contains('<'));
    }
}
