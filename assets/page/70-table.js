// Shows the weights of the head as a table, for reading, copying and screen readers.

const FULL_TABLE = 64;
const TOP_CELLS = 50;

function makeTableView() {
  const root = make('section', { class: 'wide numbers', 'aria-label': 'Table' });
  const part = { root, q: -1, head: '' };
  page.parts.push({
    showHead: () => fillTable(part),
    showCell: () => {
      if (isLong() && part.q !== shownCell().q) fillTable(part);
    },
  });
  return root;
}

const isLong = () => Math.max(shownBlock().queries, shownBlock().keys) > FULL_TABLE;

function fillTable(part) {
  const block = shownBlock();
  const { q } = shownCell();
  part.q = q;
  const title = make('p', { class: 'caption', text: `Weights of ${headTitle()}.` });
  if (!isLong()) return part.root.replaceChildren(title, scrolled(fullTable(block)));
  title.append(
    ` More than ${FULL_TABLE} tokens: the table shows the row of query ${q} and the ${TOP_CELLS} largest ` +
      'weights of the head.',
  );
  const row = block.row(page.head, q);
  const keys = topKeys(row, row.length).map((k) => ({ q, k, weight: row[k] }));
  return part.root.replaceChildren(
    title,
    make('div', { class: 'two' }, [
      scrolled(cellTable(block, keys, `Row of ${named(block.queryTokens, q)}`)),
      scrolled(cellTable(block, topCells(block), 'Largest weights')),
    ]),
  );
}

const scrolled = (table) => make('div', { class: 'scroll', tabindex: '0' }, [table]);

const cellText = (value, block) => (value === value ? weightText(block, value) : '');

function fullTable(block) {
  const heading = (tokens, i, scope) =>
    make('th', { scope }, [make('i', { text: String(i) }), ' ', makeToken(tokens[i])]);
  const head = make('tr', {}, [make('td', { class: 'dim', text: 'query ↓ key →' })]);
  if (block.sink) head.append(make('th', { scope: 'col', text: 'sink' }));
  for (let k = 0; k < block.keys; k++) head.append(heading(block.keyTokens, k, 'col'));
  const rows = block.queryTokens.map((_, q) => {
    const weights = block.row(page.head, q);
    const row = make('tr', {}, [heading(block.queryTokens, q, 'row')]);
    if (block.sink) row.append(make('td', { text: fixed(block.sinkWeight(weights)) }));
    for (const weight of weights) row.append(make('td', { text: cellText(weight, block) }));
    return row;
  });
  const caption = make('caption', { class: 'unseen', text: `Weights of ${headTitle()}, query by key` });
  return make('table', {}, [caption, make('thead', {}, [head]), make('tbody', {}, rows)]);
}

function cellTable(block, cells, name) {
  const column = (text) => make('th', { scope: 'col', text });
  const rows = cells.map(({ q, k, weight }) =>
    make('tr', {}, [
      make('td', {}, [make('i', { text: `${q} ` }), makeToken(block.queryTokens[q])]),
      make('td', {}, [make('i', { text: `${k} ` }), makeToken(block.keyTokens[k])]),
      make('td', { text: weightText(block, weight) }),
    ]),
  );
  return make('table', { class: 'list' }, [
    make('caption', { text: name }),
    make('thead', {}, [make('tr', {}, ['query', 'key', 'weight'].map(column))]),
    make('tbody', {}, rows),
  ]);
}

/** Returns the cells with the largest weights of the head, largest first. */
function topCells(block) {
  const cells = [];
  for (let q = 0; q < block.queries; q++) {
    const row = block.row(page.head, q);
    for (const k of topKeys(row, TOP_CELLS)) cells.push({ q, k, weight: row[k] });
  }
  return cells.sort((a, b) => Math.abs(b.weight) - Math.abs(a.weight)).slice(0, TOP_CELLS);
}
