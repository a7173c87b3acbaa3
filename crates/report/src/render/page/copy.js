// Shows the buttons of the page and copies what each of them names; sorts tables by the column whose heading is pressed. Nothing
// on the page needs it.
(() => {
  const said = document.getElementById('said');
  const cell = /("(?:[^"]|"")*"|[^,\r\n]*)(,|\r?\n|$)/g;
  const rows = text => {
    const all = [[]];
    for (const [whole, word, end] of text.matchAll(cell)) {
      if (whole === '') break;
      all.at(-1).push(word.startsWith('"') ? word.slice(1, -1).replaceAll('""', '"') : word);
      if (end !== ',' && end !== '') all.push([]);
    }
    return all.filter(row => row.length);
  };
  const value = word => word === '' ? null : Number.isFinite(Number(word)) ? Number(word) : word;
  const json = text => {
    const [names, ...found] = rows(text);
    const record = row => Object.fromEntries(names.map((name, at) => [name, value(row[at] ?? '')]));
    return JSON.stringify(found.map(record), null, 1);
  };
  const copy = async text => {
    try { await navigator.clipboard.writeText(text); } catch {
      const area = document.createElement('textarea');
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand('copy');
      area.remove();
    }
  };
  const say = text => {
    said.textContent = '';
    said.textContent = text;
  };
  const factors = {p: 1e-12, n: 1e-9, '\u00b5': 1e-6, m: 1e-3, k: 1e3, M: 1e6, G: 1e9, T: 1e12, Ki: 1024, Mi: 2 ** 20, Gi: 2 ** 30};
  const figure = text => {
    const [, number, prefix] = /^\[?(-?[\d.,]+(?:e-?\d+)?) ?([KMG]i|[pn\u00b5mkMGT](?=[a-zA-Z](?!g)))?/.exec(text) ?? [];
    return number ? Number(number.replaceAll(',', '')) * (factors[prefix] ?? 1) : undefined;
  };
  const order = (a, b) => {
    if (a === '' || b === '') return (a === '') - (b === '');
    const [x, y] = [figure(a), figure(b)];
    return x === undefined || y === undefined ? a.localeCompare(b, undefined, {numeric: true}) : x - y;
  };
  const sort = (table, heading, column) => {
    const down = heading.getAttribute('aria-sort') === 'ascending';
    const body = table.tBodies[0];
    const text = row => row.cells[column].textContent;
    const sorted = [...body.rows].sort((a, b) => {
      const empty = text(a) === '' || text(b) === '';
      return down && !empty ? order(text(b), text(a)) : order(text(a), text(b));
    });
    body.append(...sorted);
    for (const other of table.tHead.rows[0].cells) other.removeAttribute('aria-sort');
    heading.setAttribute('aria-sort', down ? 'descending' : 'ascending');
    say('Sorted by ' + heading.textContent + (down ? ', descending' : ', ascending'));
  };
  for (const table of document.querySelectorAll('table[data-sorts]')) {
    for (const [column, heading] of [...table.tHead.rows[0].cells].entries()) {
      if (heading.tagName !== 'TH') continue;
      const button = document.createElement('button');
      button.type = 'button';
      button.className = 'sort';
      button.textContent = heading.textContent;
      heading.replaceChildren(button);
      button.addEventListener('click', () => sort(table, heading, column));
    }
  }
  for (const button of document.querySelectorAll('button[data-of]')) {
    button.hidden = false;
    button.addEventListener('click', async () => {
      const text = document.getElementById(button.dataset.of).textContent.trim();
      await copy(button.dataset.as === 'json' ? json(text) : text);
      say('Copied: ' + button.textContent);
      button.focus();
    });
  }
})();
