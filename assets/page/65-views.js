// The views of one head with the panel beside them, and the comparison of two runs.

const CAPTIONS = {
  softmax: 'Each row shows what one token attends to; it sums to 1.',
  sink: 'Each row shows what one token attends to; with the sink it sums to 1.',
  mixing: 'A mixing matrix: warm adds, cool subtracts. Rows do not sum to 1.',
};

function describeMap(figure) {
  const block = figure.block();
  const parts = [CAPTIONS[block.mixing ? 'mixing' : block.sink ? 'sink' : 'softmax']];
  const hidden = block.lower || block.masked;
  const later = block.masked ? 'masked keys' : 'later tokens, which it cannot see';
  if (hidden && block.queries > 1)
    parts.push(`${figure.box.cell >= 12 ? 'Hatched' : 'Empty'}: ${later}.`);
  const { covered } = figure.box;
  if (covered > 1) parts.push(`Each pixel is the largest of ${covered} × ${covered}.`);
  if (isNarrow()) parts.push('Drag over the map to read it.');
  return parts.join(' ');
}

/** Returns the room for a map: the width of its column, and the height that the window leaves. */
function mapRoom(root, above) {
  if (isNarrow()) return { width: byId('main').clientWidth + 16, height: 600 };
  const top = root.getBoundingClientRect().top + window.scrollY + above;
  return { width: root.clientWidth, height: Math.max(280, window.innerHeight - top - 111) };
}

function makeMapView() {
  const root = make('section', { class: 'map', 'aria-label': 'Heat map' });
  const narrow = isNarrow();
  const figure = makeFigure({
    block: shownBlock,
    head: () => page.head,
    max: () => shownBlock().max,
    room: (above) => mapRoom(root, above),
    bar: narrow ? 'below' : 'right',
    index: !narrow,
    level: narrow ? 60 : 68,
  });
  const said = make('span');
  const scale = make('button', { class: 'quiet tool', onclick: toggleScale });
  const caption = make('p', { class: 'caption' }, [said, ' ']);
  if (page.data.caption) caption.append(make('bdi', { text: oneLine(page.data.caption) }), ' ');
  caption.append(scale);
  root.append(figure.host, caption);
  const draw = () => {
    drawFigure(figure);
    said.textContent = describeMap(figure);
    scale.textContent = page.root ? 'Linear scale' : 'Square-root scale';
  };
  page.parts.push({
    showHead: draw,
    showTheme: draw,
    showSize: draw,
    showCell: () => drawCrosshair(figure),
  });
  return root;
}

/** Toggles the scale of maps: weights spread over many keys are faint on a linear one. */
function toggleScale() {
  page.root = !page.root;
  tell('showTheme');
}

/** Lays a view of one head beside the panel, below the text if the view is not the text itself. */
function besidePanel(makeView, strip) {
  const parts = strip ? [makeStrip()] : []; // first, since its height decides the map's
  return make('div', {}, [...parts, make('div', { class: 'columns' }, [makeView(), makePanel()])]);
}

/** Returns the blocks to compare: A, B, and their difference where both read the same tokens. */
function comparedBlocks() {
  const a = shownBlock();
  const b = page.blocksB[page.block];
  if (!b || page.head >= b.heads) return [a];
  const same = (left, right) =>
    left.length === right.length && left.every((token, i) => token === right[i]);
  if (!same(a.queryTokens, b.queryTokens) || !same(a.keyTokens, b.keyTokens)) return [a, b];
  return [a, b, new Difference(a, b)];
}

function largest(block, head) {
  let most = 0;
  for (const weight of block.pooled(head, Math.min(block.keys, 256), Math.min(block.queries, 256))) {
    if (Math.abs(weight) > most) most = Math.abs(weight);
  }
  return most || 1;
}

function makeCompareView() {
  const [a, b] = [oneLine(page.data.compare.a), oneLine(page.data.compare.b)];
  const root = make('section', { class: 'wide compare', 'aria-label': 'Compare' });
  const part = { root, blocks: [], names: [a, b, `${a} − ${b}`], max: [1, 1, 1] };
  part.figures = part.names.map((name, i) => makeComparedFigure(part, name, i));
  part.amounts = part.names.map(() => make('b'));
  part.columns = part.figures.map((figure, i) => {
    const name = make('bdi', { class: 'name', text: part.names[i] });
    return make('div', { class: 'one' }, [make('p', { class: 'line' }, [name, part.amounts[i]]), figure.host]);
  });
  part.about = make('p', { class: 'pair' });
  const text = `${a} and ${b} share one scale. Difference: warm, more weight in ${a}; cool, more in ${b}.`;
  const three = make('div', { class: 'three' }, part.columns);
  root.append(part.about, three, make('p', { class: 'caption', text }), makePanelHeads());
  const draw = () => drawCompare(part);
  const showCell = () => showCompareCell(part);
  page.parts.push({ showHead: draw, showTheme: draw, showSize: draw, showCell });
  return root;
}

function makeComparedFigure(part, name, i) {
  return makeFigure({
    block: () => part.blocks[i],
    head: () => page.head,
    max: () => part.max[i],
    name: `${name}, ${i + 1} of 3`,
    room: () => compareRoom(part),
    bar: 'below',
    index: false,
  });
}

function compareRoom({ root, blocks }) {
  if (isNarrow()) return { width: root.clientWidth + 16, height: 600 };
  return {
    width: Math.floor((root.clientWidth - 24 * (blocks.length - 1)) / blocks.length),
    height: 560,
  };
}

function drawCompare(part) {
  part.blocks = comparedBlocks();
  const shared = Math.max(...part.blocks.slice(0, 2).map((block) => block.max));
  const apart = part.blocks[2] ? largest(part.blocks[2], page.head) : 1;
  part.max = [shared, shared, apart];
  part.figures.forEach((figure, i) => {
    part.columns[i].hidden = !part.blocks[i];
    if (part.blocks[i]) drawFigure(figure);
  });
}

function showCompareCell(part) {
  const { q, k } = shownCell();
  const block = shownBlock();
  part.figures.forEach((figure, i) => {
    const shown = part.blocks[i];
    if (!shown) return;
    drawCrosshair(figure);
    const inside = q < shown.queries && k < shown.keys;
    setText(part.amounts[i], inside ? fixed(shown.at(page.head, q, k), 3, i === 2 || shown.mixing) : '');
  });
  part.about.replaceChildren(
    makeToken(block.queryTokens[q], { class: 'query' }, 24),
    make('i', { text: ` ${q} → ` }),
    makeToken(block.keyTokens[k], {}, 24),
    make('i', { text: ` ${k}` }),
  );
}
