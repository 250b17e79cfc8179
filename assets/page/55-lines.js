// Draws the weights of a head as lines from queries, left, to keys, right. Long texts scroll: only
// what is in view is drawn.

const LEAST_ROW = 28;
const MOST_ROW = 40;
const MOST_LINES = 4000;
const FAINTEST = 0.02;

function makeLinesView() {
  const canvas = make('canvas', { 'aria-hidden': 'true' });
  const tall = make('div', { class: 'tall' }, [canvas]);
  const root = make('div', { class: 'lines', tabindex: '0', role: 'application', 'data-focus': 'map' }, [
    tall,
  ]);
  const part = { canvas, tall, root, side: '', lines: [] };
  const caption = make('p', {
    class: 'caption',
    text:
      `Lines run from query to key; width is weight, from ${FAINTEST}. ` +
      'Hover a token to isolate its lines; a click locks it.',
  });
  const draw = () => drawLines(part);
  root.addEventListener('scroll', draw, { passive: true });
  root.addEventListener('keydown', keyOnFigure);
  listenToLines(part);
  page.parts.push({
    showHead: () => gatherLines(part),
    showCell: draw,
    showTheme: draw,
    showSize: draw,
  });
  return make('section', { class: 'map', 'aria-label': 'Lines' }, [root, caption]);
}

/** Collects the lines of the head, faintest first, so that strong ones are drawn over them. */
function gatherLines(part) {
  const block = shownBlock();
  const lines = [];
  const least = FAINTEST * (block.mixing ? block.max : 1);
  for (let q = 0; q < block.queries; q++) {
    const row = block.row(page.head, q);
    for (let k = 0; k < row.length; k++)
      if (Math.abs(row[k]) >= least) lines.push({ q, k, weight: row[k] });
  }
  lines.sort((a, b) => Math.abs(a.weight) - Math.abs(b.weight));
  part.lines = lines.slice(-MOST_LINES);
  if (part.root.scrollTop === 0) revealLine(part, shownCell().q);
  part.root.setAttribute(
    'aria-label',
    `Lines of ${headTitle()}. Up and down move the query, Shift with left ` +
      'and right the key, Enter locks.',
  );
}

/** Scrolls to the query of the crosshair when the view opens. */
function revealLine(part, q) {
  const { row } = placeLines(part);
  part.root.scrollTop = Math.max(0, 36 + (q + 2) * row - part.root.clientHeight);
}

function placeLines(part) {
  const block = shownBlock();
  const wide = part.root.clientWidth;
  const count = Math.max(block.queries, block.keys);
  const narrow = wide < 480;
  const side = Math.round(Math.min(narrow ? 112 : 200, wide * 0.3));
  const fitting = Math.floor((part.root.clientHeight - 40) / count);
  const row = Math.max(LEAST_ROW, Math.min(MOST_ROW, fitting));
  part.tall.style.height = `${count * row + 36}px`;
  const high = Math.min(count * row + 36, part.root.clientHeight);
  return { row, wide, high, left: side, right: wide - side, top: 36 - part.root.scrollTop, narrow };
}

function drawLines(part) {
  const box = placeLines(part);
  part.box = box;
  const block = shownBlock();
  const g = sizeCanvas(part.canvas, box.wide, box.high);
  const { q, k } = shownCell();
  const isolated = part.side !== '' || page.lock;
  const on = (line) => (part.side === 'key' ? line.k === k : line.q === q);
  const inView = (i) => lineY(box, i) >= 0 && lineY(box, i) <= box.high;
  const seen = (line) => inView(line.q) || (on(line) && inView(line.k));
  for (const line of part.lines)
    if (!on(line) && seen(line)) drawLine(g, box, block, line, isolated ? 0.16 : 0.7, false);
  for (const line of part.lines) if (on(line) && seen(line)) drawLine(g, box, block, line, 1, true);
  drawLineTokens(g, part, block, q, k);
}

const lineY = (box, i) => box.top + (i + 0.5) * box.row;

function drawLine(g, box, block, { q, k, weight }, strength, on) {
  const share = Math.min(1, Math.abs(weight) / (block.mixing ? block.max : 1));
  const [y, end] = [lineY(box, q), lineY(box, k)];
  const middle = (box.left + box.right) / 2;
  const sign = block.mixing ? (weight < 0 ? 'minus' : 'plus') : on ? 'accent' : 't3';
  g.strokeStyle = look.colors[sign];
  g.globalAlpha = strength * (on ? 0.35 + 0.65 * share : 0.2 + 0.8 * share);
  g.lineWidth = 0.75 + 7 * share;
  g.beginPath();
  g.moveTo(box.left + 8, y);
  g.bezierCurveTo(middle, y, middle, end, box.right - 8, end);
  g.stroke();
  g.globalAlpha = 1;
}

function drawLineTokens(g, part, block, q, k) {
  const box2 = part.box;
  box(g, 0, 0, box2.wide, 32, 'bg1');
  const side = (i, tokens, left, on) => {
    const y = lineY(box2, i);
    if (y < 32 || y > box2.high + box2.row) return;
    const text = fit(
      label(tokens[i], box2.narrow ? 8 : LABEL_LENGTH),
      box2.left - (box2.narrow ? 12 : 60),
    );
    const x = left ? box2.left - 4 : box2.right + 4;
    const wide = textWidth(text, 13, true);
    if (on) {
      box(g, left ? x - wide - 8 : x, y - 12, wide + 8, 24, left ? 'accentFill' : 'bg3', 4);
      if (left) roundFrame(g, x - wide - 8, y - 12, wide + 8, 24, 'accent', 4);
    }
    const color = on && left ? 'accentText' : on ? 't1' : 't2';
    drawText(g, text, left ? x - 4 : x + 4, y, { color, mono: true, align: left ? 'right' : 'left' });
    if (box2.narrow) return;
    const at = left ? Math.min(x - wide - 16, x - 16) : x + wide + 16;
    drawText(g, String(i), at, y, { color: 't3', mono: true, align: left ? 'right' : 'left' });
  };
  for (let i = 0; i < block.queries; i++) side(i, block.queryTokens, true, i === q);
  for (let i = 0; i < block.keys; i++) side(i, block.keyTokens, false, i === k);
  drawText(g, 'query', box2.left - 8, 16, { color: 't3', align: 'right' });
  drawText(g, 'key', box2.right + 8, 16, { color: 't3' });
}

/** Returns the token under the pointer: on the left a query, on the right a key. */
function lineTokenAt(part, event) {
  const edge = part.canvas.getBoundingClientRect();
  const i = Math.floor((event.clientY - edge.top - part.box.top) / part.box.row);
  const block = shownBlock();
  const x = event.clientX - edge.left;
  if (x < part.box.left + 8 && i >= 0 && i < block.queries) return { side: 'query', i };
  if (x > part.box.right - 8 && i >= 0 && i < block.keys) return { side: 'key', i };
  return null;
}

function listenToLines(part) {
  const { root } = part;
  const point = (event) => {
    const found = lineTokenAt(part, event);
    const side = found ? found.side : '';
    const changed = side !== part.side;
    part.side = side;
    if (!found) hover(null);
    else if (side === 'query') hover({ q: found.i, k: -1 });
    else hover({ q: page.lock ? page.lock.q : page.rest.q, k: found.i });
    if (changed) drawLines(part);
  };
  root.addEventListener('pointermove', point);
  root.addEventListener('pointerleave', () => {
    part.side = '';
    hover(null);
    drawLines(part);
  });
  root.addEventListener('click', (event) => {
    const found = lineTokenAt(part, event);
    if (found && found.side === 'query') pickQuery(found.i);
    if (found && found.side === 'key') toggleLock({ q: shownCell().q, k: found.i });
  });
}
