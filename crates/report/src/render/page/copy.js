// Shows the buttons of the page and copies what each of them names; sorts tables by the column whose heading is pressed; tells the
// value of the cell of a large map that is pointed at or chosen. Nothing on the page needs it.
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
    try { await navigator.clipboard.writeText(text); return true; } catch {
      const area = document.createElement('textarea');
      area.value = text;
      document.body.append(area);
      area.select();
      const done = document.execCommand('copy');
      area.remove();
      return done;
    }
  };
  const say = text => {
    said.textContent = '';
    said.textContent = text;
  };
  const factors = {p: 1e-12, n: 1e-9, '\u00b5': 1e-6, m: 1e-3, k: 1e3, M: 1e6, G: 1e9, T: 1e12, Ki: 1024, Mi: 2 ** 20, Gi: 2 ** 30};
  const figure = text => {
    const [, number, prefix] = /^\[?(-?[\d.,]+(?:e-?\d+)?) ?([KMG]i|[pn\u00b5mkMGT](?=[a-zA-Z](?!g)))?/.exec(text) ?? [];
    // An address is no number.
    const value = Number((number ?? '-').replaceAll(',', '')) * (factors[prefix] ?? 1);
    return value === value ? value : undefined;
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
  const scaled = (value, unit) => {
    const steps = unit === 'ns' ? ['ns', '\u00b5s', 'ms', 's'] : ['', 'k', 'M', 'G', 'T'].map(prefix => prefix + unit);
    const at = Math.max(0, Math.min(steps.length - 1, Math.floor(Math.log10(Math.abs(value)) / 3)));
    return Number((value / 1000 ** at).toPrecision(4)) + ' ' + steps[at];
  };
  const explore = (figure, images) => {
    const [[corner, ...columns], ...all] = rows(figure.querySelector('pre.csv').textContent.trim());
    const unit = /\(([^)]*)\)$/.exec(corner)?.[1] ?? '';
    const box = document.createElement('p');
    box.className = 'cell';
    const picker = (name, names) => {
      const [label, select] = [document.createElement('label'), document.createElement('select')];
      for (const name of names) select.add(new Option(name));
      label.append(name + ' ', select);
      box.append(label, ' ');
      return select;
    };
    const [row, column] = [picker('Row', all.map(row => row[0])), picker('Column', columns)];
    const value = document.createElement('output');
    box.append(value);
    images[0].closest('.ws-pair').after(box);
    const marks = images.map(image => {
      const mark = document.createElementNS(image.namespaceURI, 'rect');
      mark.setAttribute('class', 'ws-at');
      image.after(mark);
      const number = name => Number(image.getAttribute(name));
      const [left, top, wide, high] = image.dataset.cells.split(' ').map(Number);
      const step = {x: number('width') / wide, y: number('height') / high};
      const place = () => {
        const at = {x: number('x') + (column.selectedIndex - left) * step.x, y: number('y') + (row.selectedIndex - top) * step.y};
        const rim = 2;
        mark.setAttribute('x', at.x - rim);
        mark.setAttribute('y', at.y - rim);
        mark.setAttribute('width', step.x + 2 * rim);
        mark.setAttribute('height', step.y + 2 * rim);
      };
      image.addEventListener('pointermove', event => {
        const seen = image.getBoundingClientRect();
        column.selectedIndex = left + Math.floor((event.clientX - seen.left) / seen.width * wide);
        row.selectedIndex = top + Math.floor((event.clientY - seen.top) / seen.height * high);
        show();
      });
      return place;
    });
    const show = () => {
      const text = all[row.selectedIndex]?.[column.selectedIndex + 1] ?? '';
      value.textContent = text === '' ? 'not measured' : scaled(Number(text), unit);
      for (const place of marks) place();
    };
    for (const select of [row, column]) select.addEventListener('change', show);
    column.selectedIndex = 1;
    show();
  };
  for (const figure of document.querySelectorAll('figure')) {
    const images = [...figure.querySelectorAll('image[data-cells]')];
    if (images.length) (window.requestIdleCallback ?? setTimeout)(() => explore(figure, images));
  }
  for (const button of document.querySelectorAll('button[data-of]')) {
    button.hidden = false;
    button.addEventListener('click', async () => {
      const text = document.getElementById(button.dataset.of).textContent.trim();
      const name = button.dataset.name ??= button.textContent;
      const done = await copy(button.dataset.as === 'json' ? json(text) : text);
      button.textContent = done ? 'Copied' : 'Not copied';
      setTimeout(() => { button.textContent = name; }, 2000);
      say((done ? 'Copied: ' : 'Not copied: ') + name);
      button.focus();
    });
  }
})();
