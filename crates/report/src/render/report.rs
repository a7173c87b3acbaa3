//! Results as words and pictures for the terminal.

use super::plot_chart::chart;
use super::style::{Style, Tone, clean, wrap};
use crate::explain::Sentence;
use crate::html::{Input, pictures, words};

/// The answer, how sure, every picture with its words, and the remarks.
pub fn report(inputs: &[Input], style: &Style) -> String {
    let mut lines = Vec::new();
    let mut say = |text: &str, tone: Option<Tone>| {
        let text = wrap(&clean(text), style.width, 2);
        lines.push(tone.map_or(text.clone(), |tone| style.paint(tone, &text)));
    };
    for input in inputs {
        if inputs.len() > 1 {
            say(input.name, Some(Tone::Strong));
        }
        words::answers(input)
            .iter()
            .for_each(|line| say(line, Some(Tone::Strong)));
        words::certainty(input.run)
            .iter()
            .for_each(|line| say(line, None));
        words::measured(input)
            .iter()
            .for_each(|line| say(line, Some(Tone::Faint)));
        say("", None);
    }
    for picture in pictures(inputs) {
        lines.extend(chart(&picture.chart, style));
        lines.extend(
            picture
                .words
                .iter()
                .map(|line| wrap(&clean(line), style.width, 2)),
        );
        lines.push(String::new());
    }
    for input in inputs {
        lines.extend(super::table::remark_lines(&words::remarks(input.run), style));
    }
    super::table::finish(lines, style)
}

/// Sentences of `explain`, each with what it rests on.
pub fn sentences(found: &[Sentence], style: &Style) -> String {
    let mut lines = Vec::new();
    for sentence in found {
        lines.push(wrap(&clean(&sentence.text), style.width, 2));
        let evidence = format!(
            "    [{}: {}]",
            sentence.rule,
            clean(&sentence.evidence.join("; "))
        );
        lines.push(style.paint(Tone::Faint, &wrap(&evidence, style.width, 6)));
    }
    if found.is_empty() {
        lines.push(
            "No rule applies: this result has too few figures to say more than its table does.".to_owned(),
        );
    }
    super::table::finish(lines, style)
}
