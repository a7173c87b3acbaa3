// Measures a page from within: what is clipped, what covers what, how small letters are, what cannot be reached. It stands in
// copies that the test makes, never in a page of the product. It sends one object to the window around it.
'use strict';
const copied = [];
Object.defineProperty(navigator, 'clipboard', { value: { writeText: async text => { copied.push(text); } } });

addEventListener('load', async () => {
  const { name, width, media, axe: withAxe } = window.asked;
  const found = [];
  const say = (what, element) => {
    const words = element ? ' <' + element.tagName.toLowerCase() + '> ' + element.textContent.trim().slice(0, 60) : '';
    found.push(what + words);
  };
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const isShown = element => element.checkVisibility() && element.getClientRects().length > 0;
  const end = document.documentElement.clientWidth;

  // Nothing is wider than the window, but in a frame of its own.
  if (document.documentElement.scrollWidth > end) say('the page is ' + document.documentElement.scrollWidth + ' wide');
  for (const element of all('body *')) {
    if (element.closest('svg svg *, svg *, .said, .skip') || !isShown(element)) continue;
    const box = element.getBoundingClientRect();
    const frame = element.parentElement.closest('.frame');
    if (frame && media !== 'print') continue;
    if (box.left < -0.5 || box.right > end + 0.5) say('reaches ' + box.left + ' to ' + box.right, element);
    const style = getComputedStyle(element);
    if (element.clientWidth > 0 && element.scrollWidth > element.clientWidth + 1 && style.display !== 'inline') {
      if (!element.classList.contains('frame') || style.overflowX !== 'auto') say('is clipped', element);
    }
    if (parseFloat(style.fontSize) < 9.9) say('has letters of ' + style.fontSize, element);
  }

  // A frame that scrolls can be reached by keyboard, has a name of its own, and holds the column that names its rows.
  const labels = new Set();
  for (const frame of all('.frame')) {
    const label = frame.getAttribute('aria-label');
    if (frame.tabIndex !== 0 || frame.getAttribute('role') !== 'region' || !label || labels.has(label)) say('a frame without place or name', frame);
    labels.add(label);
    const key = frame.querySelector('tbody th');
    if (!isShown(frame) || !key || frame.scrollWidth <= frame.clientWidth) continue;
    frame.scrollLeft = 80;
    const [held, edge] = [key.getBoundingClientRect().left, frame.getBoundingClientRect().left];
    if (Math.abs(held - edge) > 1) say('its first column leaves', key);
    if (key.getBoundingClientRect().width > 0.6 * frame.clientWidth) say('its first column takes all', key);
    frame.scrollLeft = 0;
  }

  // Of each chart one drawing is shown, whose texts stand inside it, legible, and cover nothing.
  let wide = 0, narrow = 0;
  for (const pair of all('.ws-pair')) {
    const drawings = all('svg', pair).filter(isShown);
    if (drawings.length !== 1) { say(drawings.length + ' drawings of a chart', pair); continue; }
    const [drawing] = drawings;
    if (drawing.classList.contains('ws-wide')) wide += 1; else narrow += 1;
    const outer = drawing.getBoundingClientRect();
    const scale = outer.width / drawing.viewBox.baseVal.width;
    const texts = all('text', drawing).map(text => [text, text.getBoundingClientRect()]);
    texts.forEach(([text, box], at) => {
      const size = parseFloat(getComputedStyle(text).fontSize) * scale;
      if (size < 10) say('has letters of ' + size, text);
      if (box.left < outer.left - 1 || box.right > outer.right + 1 || box.top < outer.top - 1 || box.bottom > outer.bottom + 1) say('leaves its chart', text);
      for (const [other, there] of texts.slice(at + 1)) {
        const across = Math.min(box.right, there.right) - Math.max(box.left, there.left);
        const down = Math.min(box.bottom, there.bottom) - Math.max(box.top, there.top);
        // Boxes of letters have room above and below them.
        if (across > 0.5 && down > 3) say('covers "' + other.textContent + '"', text);
      }
    });
    if (!drawing.getAttribute('aria-labelledby').split(' ').every(id => document.getElementById(id)?.textContent)) say('has no name', drawing);
  }

  // One heading of the page, no level left out, each chart below a sentence of its own.
  const levels = all('h1,h2,h3,h4,h5,h6').filter(isShown).map(heading => Number(heading.tagName[1]));
  if (levels[0] !== 1 || levels.filter(level => level === 1).length !== 1) say('headings begin with ' + levels.slice(0, 3));
  levels.forEach((level, at) => { if (at && level > levels[at - 1] + 1) say('a heading of level ' + level + ' after ' + levels[at - 1]); });
  for (const figure of all('figure')) if (!figure.querySelector('h3').textContent.includes(' ')) say('a chart without a sentence', figure);
  const ids = all('[id]').map(element => element.id);
  if (new Set(ids).size !== ids.length) say('an id stands twice');

  // Every button copies what it names.
  for (const button of all('button')) {
    if (media !== 'print' && !button.closest('details') && !isShown(button)) say('a button that is not shown', button);
    copied.length = 0;
    button.click();
    await Promise.resolve();
    if (button.dataset.as === 'json') {
      const rows = JSON.parse(copied[0] ?? 'null');
      if (!Array.isArray(rows) || !rows.length || Object.keys(rows[0]).some(key => !key)) say('copies no rows', button);
    } else if (copied[0] !== document.getElementById(button.dataset.of).textContent.trim() || !copied[0]) say('copies something else', button);
  }

  const style = getComputedStyle(document.body);
  const grid = document.querySelector('.figures');
  const isGrid = grid && getComputedStyle(grid).display === 'grid';
  const columns = isGrid ? getComputedStyle(grid).gridTemplateColumns.split(' ').length : Number(Boolean(grid));
  const report = {
    name, width, media, found: found.slice(0, 500),
    layout: { figures: all('figure').length, tables: all('table').length, columns, wide, narrow, headings: levels.join('') },
    back: style.backgroundColor, ink: style.color,
  };
  if (withAxe) {
    for (const details of all('details')) details.open = true;
    const result = await axe.run(document, { resultTypes: ['violations'] });
    report.axe = result.violations.map(one => one.id + ': ' + one.help + ' (' + one.nodes.length + ': ' + one.nodes[0].html.slice(0, 120) + ')');
    report.rules = result.passes.length;
  }
  parent.postMessage(report, '*');
});
