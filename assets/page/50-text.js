// Shades the text by the weights of a row or column: as the strip above the map, and as a view.

/** Makes the tokens of a sequence as buttons. pick(i) answers a click, peek(i) the pointer. */
function makeTokens(tokens, { pick, peek, length = 32 }) {
  const shown = tokens.map((token, i) => {
    const tight = i + 1 < tokens.length && !/^[\s\u2581]/.test(tokens[i + 1]);
    return makeToken(
      token,
      { class: 'token', 'data-i': i, 'data-tight': tight ? '' : undefined },
      length,
    );
  });
  const root = make('div', { class: 'tokens-line', dir: 'auto' }, shown);
  const at = (event) => {
    const token = event.target.closest('.token');
    return token ? Number(token.dataset.i) : -1;
  };
  root.addEventListener('click', (event) => at(event) >= 0 && pick(at(event)));
  if (peek) {
    root.addEventListener('pointerover', (event) => event.pointerType === 'mouse' && peek(at(event)));
    root.addEventListener('pointerleave', () => peek(-1));
  }
  return { root, shown, before: [] };
}

/** Colors the tokens in view; touches only those that change, for long texts. */
function shadeTokens(line, weights, { max, signed, query, key }) {
  const { colors } = mapOf(signed);
  const { first, last } = line.view || { first: 0, last: line.shown.length };
  for (let i = first; i < last; i++) {
    const token = line.shown[i];
    const weight = weights ? weights[i] : NaN;
    const entry = weight === weight ? level(weight * (signed ? 1 : 0.81), max, signed, true) : -1;
    const state = i === query ? 'query' : i === key ? 'key' : '';
    const was = `${look.theme}${entry}${state}`;
    if (line.before[i] === was) continue;
    line.before[i] = was;
    const color = entry < 0 ? '' : colors[entry];
    token.className = `token ${state}${entry < 0 ? ' none' : ''}`;
    token.style.backgroundColor = state === 'query' ? '' : color;
    token.style.color = state === 'query' || !color ? '' : inkOn(color);
  }
}

/** Finds which tokens a strip that scrolls has in view: the others need no color yet. */
function findView(line, box) {
  if (line.shown.length < 100) return;
  if (!line.tops) line.tops = line.shown.map((token) => token.offsetTop - line.shown[0].offsetTop);
  const [top, bottom] = [box.scrollTop - 40, box.scrollTop + box.clientHeight];
  const inView = line.tops.map((y) => y > top && y < bottom);
  line.view = { first: inView.indexOf(true), last: inView.lastIndexOf(true) + 1 };
}

/** Picks a token as query and locks it. */
function pickQuery(q) {
  toggleLock({ q, k: page.lock && page.lock.q === q ? page.lock.k : -1 });
}

const peekQuery = (q) => hover(q < 0 ? null : { q, k: -1 });

/** The strip above the map: one line if the text attends to itself, else queries and keys. */
function makeStrip() {
  const root = make('section', { class: 'text', 'aria-label': 'Text, shaded by the row of the query' });
  const strip = { root, queries: null, keys: null, of: null };
  const shade = () => shadeStrip(strip);
  const measure = (again) => {
    for (const line of [strip.queries, strip.keys]) {
      if (line && again) line.tops = null;
      if (line) findView(line, root);
    }
  };
  root.addEventListener(
    'scroll',
    () => {
      measure(false);
      shade();
    },
    { passive: true },
  );
  page.parts.push({
    showHead() {
      fillStrip(strip);
      measure(true);
    },
    showSize: () => measure(true),
    showCell: shade,
    showTheme: shade,
  });
  return root;
}

// Returns whether a part shows these tokens already; if not, it will.
function hasTokens(part, block) {
  const { of } = part;
  part.of = block;
  return of && of.queryTokens === block.queryTokens && of.keyTokens === block.keyTokens;
}

function fillStrip(strip) {
  const block = shownBlock();
  if (hasTokens(strip, block)) return;
  strip.keys = makeTokens(block.keyTokens, { pick: block.oneText ? pickQuery : pickKey });
  strip.queries = block.oneText ? null : makeTokens(block.queryTokens, { pick: pickQuery });
  const named = (line, name) =>
    make('div', { class: 'named' }, [make('span', { class: 'dim', text: name }), line.root]);
  strip.root.replaceChildren(
    ...(strip.queries
      ? [named(strip.queries, block.queryName), named(strip.keys, block.keyName)]
      : [strip.keys.root]),
  );
}

const pickKey = (k) => moveTo({ q: shownCell().q, k });

function shadeStrip(strip) {
  const block = shownBlock();
  const { q, k } = shownCell();
  const how = { max: block.mixing ? block.max : 1, signed: block.mixing };
  shadeTokens(strip.keys, block.row(page.head, q), { ...how, query: block.oneText ? q : -1, key: k });
  if (strip.queries) shadeTokens(strip.queries, null, { ...how, query: q, key: -1 });
}

/** The view of the text: what a token attends to, or what attends to it. */
function makeTextView() {
  const root = make('section', {
    class: 'reading',
    tabindex: '0',
    'aria-label': 'Text, shaded by weight; up and down move the token',
  });
  const part = { root, back: false, line: null, of: null, about: make('p', { class: 'caption' }) };
  const sides = [
    ['attends to', false],
    ['attended by', true],
  ].map(([text, back]) =>
    make('button', {
      text,
      onclick: () => {
        part.back = back;
        showTextCell(part);
      },
    }),
  );
  part.sides = sides;
  part.body = make('div');
  root.append(
    make('div', { class: 'segments tool', role: 'group', 'aria-label': 'Direction' }, sides),
    part.body,
    part.about,
  );
  root.addEventListener('keydown', (event) => {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    moveTo({ q: Math.max(0, Math.min(shownBlock().queries - 1, shownCell().q + by)), k: -1 });
  });
  page.parts.push({
    showHead: () => fillTextView(part),
    showCell: () => showTextCell(part),
    showTheme: () => showTextCell(part),
  });
  return root;
}

function fillTextView(part) {
  const block = shownBlock();
  if (hasTokens(part, block)) return;
  const chosen = { pick: pickQuery, peek: peekQuery, length: 300 };
  part.queries = makeTokens(block.queryTokens, chosen);
  part.keys = block.oneText ? part.queries : makeTokens(block.keyTokens, { pick: pickKey, length: 300 });
  const lines = [part.queries.root];
  if (!block.oneText) lines.push(make('p', { class: 'dim', text: block.keyName }), part.keys.root);
  part.body.replaceChildren(...lines);
}

function showTextCell(part) {
  const block = shownBlock();
  const { q, k } = shownCell();
  const back = part.back && block.queries > 0;
  part.sides.forEach((button, i) => button.setAttribute('aria-pressed', String(back === !!i)));
  const how = { max: block.mixing ? block.max : 1, signed: block.mixing };
  const token = block.oneText ? q : k;
  const weights = back ? block.column(page.head, token) : block.row(page.head, q);
  if (block.oneText) shadeTokens(part.queries, weights, { ...how, query: q, key: back ? -1 : k });
  else {
    shadeTokens(part.queries, back ? weights : null, { ...how, query: back ? -1 : q, key: -1 });
    shadeTokens(part.keys, back ? null : weights, { ...how, query: back ? k : -1, key: back ? -1 : k });
  }
  const name = named(back ? block.keyTokens : block.queryTokens, back ? token : q);
  part.about.textContent = back
    ? `Shaded: how much each token attends to ${name}. These weights need not sum to 1.`
    : `Shaded: what ${name} attends to${block.mixing ? '.' : '; the weights sum to 1.'} Square-root scale.`;
}
