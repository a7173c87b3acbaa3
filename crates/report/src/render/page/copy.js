// Shows the buttons of the page and copies what each of them names. Nothing on the page needs it.
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
  for (const button of document.querySelectorAll('button[data-of]')) {
    button.hidden = false;
    button.addEventListener('click', async () => {
      const text = document.getElementById(button.dataset.of).textContent.trim();
      await copy(button.dataset.as === 'json' ? json(text) : text);
      said.textContent = '';
      said.textContent = 'Copied: ' + button.textContent;
      button.focus();
    });
  }
})();
