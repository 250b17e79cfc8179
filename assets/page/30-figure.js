// Draws the heat map of a head with its labels and color bar. What follows the pointer is on a
// second canvas (35-crosshair.js), so that a move redraws little.

const BAR = 14;
const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000];

/** Returns how many labels to skip so that they stand 16 points apart. */
const labelStep = (cell) => STEPS.find((step) => step * cell >= 16) || 10000;

/** Makes a figure. options: block() and max() to show, room() for the map, bar: 'right' or 'below',
 *  index: numbers beside query labels, name: what it shows, if several stand side by side. */
function makeFigure(options) {
  const figure = {
    ...options,
    map: document.createElement('canvas'),
    box: {},
    canvas: make('canvas', { 'aria-hidden': 'true' }),
    over: make('canvas', { class: 'over', 'aria-hidden': 'true' }),
    hit: make('div', { class: 'hit', tabindex: '0', role: 'application', 'data-focus': 'map' }),
  };
  figure.host = make('div', { class: 'figure' }, [figure.canvas, figure.over, figure.hit]);
  listenToFigure(figure);
  return figure;
}

/** Places the map: square cells on whole pixels, as large as the room allows. */
function placeFigure(figure) {
  const block = figure.block();
  const ratio = window.devicePixelRatio || 1;
  const key = placeLabels(figure, block);
  const { width, height } = figure.room(key.top);
  const sink = block.sink ? 10 : 0;
  const columns = block.keys + (block.sink ? 1 : 0);
  const right = figure.bar === 'right' ? 76 : 10;
  const wide = width - key.left - right - sink;
  const whole = (points) => Math.floor(points * ratio) / ratio;
  let cell = whole(Math.min(wide / columns, height / block.queries, 64));
  let covered = 1;
  if (cell <= 0) {
    covered = Math.ceil(1 / (Math.min(wide / columns, height / block.queries) * ratio));
    cell = 1 / (ratio * covered);
  }
  const sinkCell = block.sink ? Math.max(8, cell) : 0;
  figure.box = {
    ...key,
    cell,
    covered,
    sinkCell,
    x: key.left + sinkCell + sink,
    y: key.top,
    wide: cell * block.keys,
    high: cell * block.queries,
    gap: cell >= 12 ? 1 : 0,
    width,
    height:
      key.top +
      (figure.bar === 'below' ? cell * block.queries + 44 : Math.max(140, cell * block.queries + 12)),
  };
  const { hit, box: b } = figure;
  Object.assign(hit.style, {
    left: `${b.x}px`,
    top: `${b.y}px`,
    width: `${b.wide}px`,
    height: `${b.high}px`,
  });
}

/** Measures the labels: the room left of the map and above it. */
function placeLabels(figure, block) {
  const widest = (tokens) =>
    tokens.reduce((most, token) => {
      const text = label(token);
      return Math.max(most, text.length * 7.8 > most ? textWidth(text, 13, true) : 0);
    }, 0);
  const queries = widest(block.queryTokens);
  const keys = widest(block.keyTokens);
  const index = figure.index ? 36 : 4;
  const left = Math.min(
    figure.index ? 168 : 108,
    Math.max(figure.index ? 104 : 64, queries + index + 12),
  );
  const level = figure.level !== undefined ? figure.level : 60;
  return { left: Math.round(left), top: Math.max(level, Math.round(0.707 * Math.min(keys, 116) + 24)) };
}

/** Draws all but the crosshair. */
function drawFigure(figure) {
  placeFigure(figure);
  const { box: b } = figure;
  const block = figure.block();
  const g = sizeCanvas(figure.canvas, b.width, b.height);
  drawCells(g, figure, block);
  drawHidden(g, figure, block);
  if (b.gap) drawGaps(g, b, block);
  if (block.sink) drawSink(g, figure, block);
  if (b.cell >= 44) drawValues(g, figure, block);
  frame(g, b.x - 1, b.y - 1, b.wide + 2 - b.gap, b.high + 2 - b.gap, 'l1');
  drawLabels(g, figure, block);
  if (figure.bar === 'right') drawBarRight(g, figure, block);
  else drawBarBelow(g, figure, block);
  figure.hit.setAttribute(
    'aria-label',
    `Heat map of ${figure.name || headTitle()}. Up and down move the ` +
      'query, Shift with left and right the key, Enter locks.',
  );
  drawCrosshair(figure);
}

const scaleOf = (figure) => ({ max: figure.max(), signed: figure.block().mixing, root: !!page.root });

function drawCells(g, figure, block) {
  const { box: b, map } = figure;
  const wide = Math.ceil(block.keys / b.covered);
  const high = Math.ceil(block.queries / b.covered);
  map.width = wide;
  map.height = high;
  paintWeights(map, block.pooled(figure.head(), wide, high), wide, high, scaleOf(figure));
  g.imageSmoothingEnabled = false;
  g.drawImage(map, b.x, b.y, b.wide, b.high);
}

/** Hatches hidden cells, so that masked never reads as zero; small cells stay empty. */
function drawHidden(g, { box: b }, block) {
  if (b.cell < 12) return;
  g.fillStyle = hatching(g);
  for (let q = 0; q < block.queries; q++) {
    for (let k = 0, from; k < block.keys; k++) {
      if (!block.hidden(q, k)) continue;
      for (from = k; k < block.keys && block.hidden(q, k);) k++;
      g.fillRect(b.x + from * b.cell, b.y + q * b.cell, (k - from) * b.cell, b.cell);
    }
  }
}

function drawGaps(g, b, block) {
  g.fillStyle = look.colors.bg1;
  for (let q = 1; q <= block.queries; q++) g.fillRect(b.x, b.y + q * b.cell - 1, b.wide, 1);
  for (let k = 1; k <= block.keys; k++) g.fillRect(b.x + k * b.cell - 1, b.y, 1, b.high);
}

/** Draws what the head leaves to its sink, apart from the keys. */
function drawSink(g, figure, block) {
  const { box: b } = figure;
  const x = b.x - 10 - b.sinkCell;
  for (let q = 0; q < block.queries; q++) {
    const weight = block.sinkWeight(block.row(figure.head(), q));
    const color = colorOf(weight, figure.max(), false, page.root);
    box(g, x, b.y + q * b.cell, b.sinkCell - b.gap, b.cell - b.gap, color);
  }
  box(g, b.x - 6, b.y, 1, b.high, 'l2');
  drawLeaning(g, 'sink', x + b.sinkCell / 2 + 4, b.y - 5, 't1');
}

function drawValues(g, figure, block) {
  const { box: b } = figure;
  const { max, signed, root } = scaleOf(figure);
  for (let q = 0; q < block.queries; q++) {
    for (let k = 0; k < block.keys; k++) {
      const weight = block.at(figure.head(), q, k);
      if (!(Math.abs(weight) >= 0.1)) continue;
      const color = inkOn(colorOf(weight, max, signed, root));
      const [x, y] = [b.x + (k + 0.5) * b.cell, b.y + (q + 0.5) * b.cell];
      drawText(g, fixed(weight, 2), x, y, { color, mono: true, align: 'center' });
    }
  }
}

/** Draws text at 45 degrees, on its own ground if it stands over others. */
function drawLeaning(g, text, x, y, color, ground) {
  g.save();
  g.translate(x, y);
  g.rotate(-Math.PI / 4);
  if (ground) box(g, -2, -14, textWidth(text, 13, true) + 4, 13, ground);
  drawText(g, text, 0, -4.7, { color, mono: true }); // its foot on the corner, not its middle
  g.restore();
}

/** Draws a query's label; `on`: the row of the crosshair, drawn over its neighbors. */
function drawQueryLabel(g, { box: b, index }, block, q, on) {
  const y = b.y + (q + 0.5) * b.cell - b.gap / 2;
  const high = Math.max(20, b.cell - 1);
  const right = b.left - 8;
  if (on) {
    box(g, 0, y - high / 2, b.left - 2, high, 'bg1');
    box(g, 4, y - high / 2, b.left - 8, high, 'accentFill', 4);
  }
  const color = on ? 'accentText' : 't1';
  const digits = String(block.queries - 1).length;
  const at = Math.max(28, 6 + 7.8 * digits);
  if (index) drawText(g, String(q), at, y, { color: on ? color : 't3', mono: true, align: 'right' });
  const text = fit(label(block.queryTokens[q]), right - (index ? at + 6 : 4));
  drawText(g, text, right, y, { color, mono: true, align: 'right' });
}

/** Cuts a label further until it fits: wide scripts take two columns a character. */
function fit(text, room) {
  let short = text;
  for (let n = LABEL_LENGTH - 1; n > 1 && textWidth(short, 13, true) > room; n--) short = cut(text, n);
  return short;
}

function drawKeyLabel(g, { box: b }, block, k, on) {
  const text = fit(label(block.keyTokens[k]), 116);
  const x = b.x + (k + 0.5) * b.cell + (b.cell > 8 ? 4 : 2);
  drawLeaning(g, text, x, b.y - 5, on ? 't1' : 't2', on ? 'bg1' : '');
}

function drawLabels(g, figure, block) {
  const step = labelStep(figure.box.cell);
  for (let q = 0; q < block.queries; q += step) drawQueryLabel(g, figure, block, q, false);
  for (let k = 0; k < block.keys; k += step) drawKeyLabel(g, figure, block, k, false);
  if (!figure.index) return;
  drawText(g, 'key →', 0, figure.box.y - 32, { color: 't3' });
  drawText(g, 'query ↓', 0, figure.box.y - 12, { color: 't3' });
}
