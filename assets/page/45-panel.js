// The panel beside a view: heads, the cell under the crosshair, its row's top keys, the next token.

const TOP_KEYS = 7;

/** Returns the keys of a row with the largest weights, by size. */
function topKeys(row, count) {
  const keys = [];
  for (let k = 0; k < row.length; k++) {
    if (row[k] !== row[k]) continue;
    const size = Math.abs(row[k]);
    if (keys.length === count && size <= Math.abs(row[keys[count - 1]])) continue;
    let at = keys.length;
    while (at > 0 && Math.abs(row[keys[at - 1]]) < size) at--;
    keys.splice(at, 0, k);
    if (keys.length > count) keys.pop();
  }
  return keys;
}

function makePanel() {
  const heads = makePanelHeads();
  const cell = makePanelCell();
  const parts = [heads, cell];
  if (page.data.next && page.data.next.length) parts.push(makeNext());
  if (!isNarrow()) parts.push(makeKeysHint());
  return make('aside', { class: 'panel', 'aria-label': 'Heads and numbers' }, parts);
}

function makePanelHeads() {
  const strip = isNarrow();
  const name = make('h2');
  const aside = make('span', {
    class: 'dim tool',
    text: strip ? 'swipe for the others' : 'click, or arrow keys',
  });
  const root = make('section', { class: 'heads' }, [make('div', { class: 'line' }, [name, aside])]);
  const grid = makeGrid({ room: () => root.clientWidth, least: 16, most: 39, strip });
  root.append(grid.host);
  if (!strip) {
    const count = Math.max(...page.blocks.map((block) => block.heads));
    name.append('Heads ', make('span', { class: 'mono dim', text: `${page.blocks.length} × ${count}` }));
  } else
    page.parts.push({
      showHead: () => {
        name.textContent = `Head ${headName()}`;
      },
    });
  showGrid(grid);
  return root;
}

/** Makes the rows once; a move of the pointer only changes their texts. */
function makePanelCell() {
  const query = make('bdi', { class: 'query', dir: 'auto' });
  const key = make('bdi', { dir: 'auto' });
  const at = [make('i'), make('i')];
  const arrow = make('i', { class: 'arrow', text: '→' });
  const amount = make('b');
  const state = make('p', { class: 'dim state tool' });
  const about = make('bdi');
  const sink = make('span');
  const rows = Array.from({ length: TOP_KEYS }, makeKeyRow);
  const list = make(
    'ol',
    { class: 'keys' },
    rows.map((row) => row.root),
  );
  const part = {
    query,
    key,
    at,
    amount,
    state,
    about,
    sink,
    rows,
    list,
    touch: matchMedia('(pointer: coarse)'),
  };
  page.parts.push({ showHead: () => placeKeys(list), showCell: () => showPanelCell(part) });
  return make('section', { class: 'cell', 'aria-label': 'Weight' }, [
    make('p', { class: 'pair' }, [query, at[0], arrow, key, at[1], amount]),
    state,
    make('div', { class: 'line dim' }, [
      make('span', { class: 'about' }, [about, ' attends to', sink]),
      make('span', { text: 'weight' }),
    ]),
    list,
  ]);
}

/** Gives long tokens more room, and keeps the height while the crosshair moves over short rows. */
function placeKeys(list) {
  const { keyTokens, keys } = shownBlock();
  list.classList.toggle(
    'roomy',
    keyTokens.some((token) => textWidth(label(token, 9), 15, true) > 58),
  );
  list.style.minHeight = `${26 * Math.min(TOP_KEYS, keys) + 8}px`;
}

function makeKeyRow() {
  const row = {
    index: make('i'),
    token: make('bdi', { dir: 'auto' }),
    bar: make('s'),
    amount: make('b'),
  };
  row.root = make('li', {}, [row.index, row.token, make('u', {}, [row.bar]), row.amount]);
  row.root.addEventListener('click', () => {
    if (row.key !== undefined) moveTo({ q: shownCell().q, k: row.key });
  });
  return row;
}

/** Sets a text if it differs from what was set last. */
function setText(element, text) {
  if (element.shown === text) return;
  element.shown = text;
  element.textContent = text;
}

function showPanelCell(part) {
  const block = shownBlock();
  const { q, k } = shownCell();
  const row = block.row(page.head, q);
  setText(part.query, label(block.queryTokens[q], 24));
  setText(part.at[0], String(q));
  setText(part.key, label(block.keyTokens[k], 24));
  setText(part.at[1], String(k));
  setText(part.amount, weightText(block, row[k]));
  const touch = part.touch.matches;
  setText(
    part.state,
    page.lock && !page.hover
      ? 'locked; Esc unlocks'
      : touch
        ? 'drag over the map to read it'
        : page.lock
          ? `hover; query ${page.lock.q} is locked`
          : 'hover; a click locks',
  );
  setText(part.about, `${label(block.queryTokens[q])} ${q}`);
  setText(part.sink, block.sink ? ` · sink ${fixed(block.sinkWeight(row))}` : '');
  const keys = topKeys(row, TOP_KEYS);
  const max = block.mixing ? block.max : 1;
  part.rows.forEach((shown, i) => showKeyRow(shown, block, row, keys[i], k, max));
}

function showKeyRow(shown, block, row, key, at, max) {
  shown.key = key;
  shown.root.hidden = key === undefined;
  if (key === undefined) return;
  const weight = row[key];
  const share = Math.min(1, Math.abs(weight) / max);
  shown.root.className =
    (key === at ? 'on ' : '') + (block.mixing ? (weight < 0 ? 'minus' : 'plus') : '');
  setText(shown.index, String(key));
  setText(shown.token, label(block.keyTokens[key], 12));
  setText(shown.amount, weightText(block, weight));
  shown.bar.style.width = share > 0 ? `max(1px, ${(100 * share).toFixed(1)}%)` : '0';
}

function makeNext() {
  const tokens = page.data.next
    .slice(0, isNarrow() ? 1 : 3)
    .map(([token, share, text]) => {
      const parts = [makeToken(token, {}, 10), ' ', make('b', { text: percent(share) })];
      if (!page.pick || !text) return make('span', {}, parts);
      return make('button', { title: 'Add it to the text', onclick: () => page.pick(text) }, parts);
    });
  return make('section', { class: 'next' }, [
    make('span', { class: 'dim', text: 'Next token' }),
    make('span', { class: 'tokens' }, tokens),
  ]);
}

function makeKeysHint() {
  return make(
    'p',
    { class: 'hint dim tool' },
    ['← → heads', 'PgUp PgDn layers', 'Esc unlocks'].map((text) => make('span', { text })),
  );
}
