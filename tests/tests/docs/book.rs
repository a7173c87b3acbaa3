//! The pages as a book: every page has a place in docs/SUMMARY.md, and no link of theirs leaves docs/, so that it works in
//! a plain view of the files and in the site that `make docs` builds.

use crate::pages;

#[test]
fn every_page_is_in_the_summary() {
    let summary = pages::page("docs/SUMMARY.md").text;
    let missing: Vec<_> = pages::all()
        .into_iter()
        .filter_map(|page| page.name.strip_prefix("docs/").map(str::to_owned))
        .filter(|page| page != "SUMMARY.md" && !summary.contains(&format!("]({page})")))
        .collect();
    assert_eq!(missing, Vec::<String>::new());
}

#[test]
fn links_of_the_book_stay_inside() {
    let mut leaving = Vec::new();
    for page in pages::all() {
        let Some(path) = page.name.strip_prefix("docs/") else {
            continue;
        };
        let depth = path.matches('/').count();
        for link in page.text.split("](").skip(1) {
            let target = link.split(')').next().unwrap_or_default();
            if target.matches("../").count() > depth {
                leaving.push(format!("{}: {target}", page.name));
            }
        }
    }
    assert_eq!(leaving, Vec::<String>::new());
}
