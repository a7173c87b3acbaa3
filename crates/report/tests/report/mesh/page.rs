//! The page of a mesh: how large it is, that it holds the map as one picture, that its tables can be sorted.

use super::made::{Made, document};
use crate::fixture::page;
use wirespeed_report::Input;
use wirespeed_schema::run::Run;

fn of(run: &Run) -> String {
    page(
        &[Input {
            name: "mesh.json",
            run,
        }],
        "wirespeed test",
    )
}

/// 512 hosts are 261,632 ordered pairs. Written to `WIRESPEED_MESH_PAGE` where that is set, to be looked at.
#[test]
fn the_page_of_512_hosts_is_small_and_holds_every_pair() {
    let made = Made {
        unit: 16,
        cycles: 1,
        ..Made::of(512).slow(77, 0.6)
    };
    let text = of(&document(made.section(), vec![made.case()]));
    if let Ok(path) = std::env::var("WIRESPEED_MESH_PAGE") {
        std::fs::write(path, &text).unwrap();
    }
    assert!(text.len() < 3_000_000, "{} bytes", text.len());
    // One picture for wide windows, one for narrow ones, instead of rectangles.
    assert_eq!(text.matches("href=\"data:image/png;base64,").count(), 2);
    assert!(text.matches("<rect").count() < 200);
    // What the script needs to tell the value of each cell beside the values below.
    assert_eq!(text.matches("<image data-cells=\"0 0 512 512\"").count(), 2);
    // A line a sender, with a value a receiver.
    let values = text
        .split("<summary>Values: who sends")
        .nth(1)
        .unwrap()
        .split("</pre>")
        .next()
        .unwrap();
    let lines: Vec<&str> = values.split("<pre").nth(1).unwrap().lines().collect();
    assert_eq!(lines.len(), 513);
    assert!(
        lines[1..]
            .iter()
            .all(|line| line.split(',').filter(|value| value.contains('e')).count() >= 511)
    );
    assert!(text.contains("`wirespeed report --csv` writes every pair"));
    assert!(
        text.contains("id=\"paste-") && text.contains(">node77</pre>"),
        "hosts to leave out, to be copied"
    );
}

#[test]
fn tables_of_a_mesh_can_be_sorted_and_others_stay_as_they_are() {
    let text = of(&Made::of(16).slow(7, 0.61).run());
    assert!(text.matches("<table data-sorts>").count() >= 2, "hosts and pairs");
    assert!(text.contains("Every pair as CSV"));
    assert!(text.contains("img-src data:"));
    assert!(!of(&crate::fixture::example()).contains("<table data-sorts"));
}
