// Draws the color bars and the crosshair, and turns pointer and keys over a map into cells.

const TICKS = [0, 0.25, 0.5, 0.75, 1];

/** Returns where on the bar, from 0 to 1, a weight stands. */
function barShare(figure, value) {
  const { max, signed, root } = scaleOf(figure);
  return level(value, max, signed, root) / 255;
}

/** Returns the weight at a place on the bar, the inverse of barShare. */
function barValue(figure, share) {
  const { max, signed, root } = scaleOf(figure);
  const part = signed ? 2 * share - 1 : share;
  return max * (root ? Math.sign(part) * part * part : part);
}

/** Returns how many decimals tell the numbers at a bar apart: two, more where all are small. */
function barPlaces(figure) {
  const { max } = scaleOf(figure);
  return max > 0 ? Math.min(6, Math.max(2, 1 - Math.floor(Math.log10(max)))) : 2;
}

function drawBarRight(g, figure) {
  const { box: b } = figure;
  const x = b.x + b.wide + 20;
  const high = Math.max(120, b.high - b.gap);
  const { colors } = mapOf(figure.block().mixing);
  for (let i = 0; i < high; i++)
    box(g, x, b.y + i, BAR, Math.min(1, high - i), colors[Math.round(255 * (1 - i / high))]);
  frame(g, x, b.y, BAR, high, 'l2');
  drawText(g, page.root ? '√ scale' : 'weight', x, b.y - 12, { color: 't3' });
  for (const tick of TICKS) {
    const y = b.y + high * (1 - tick);
    box(g, x + BAR, Math.min(y, b.y + high - 1), 4, 1, 'l2');
    const text = fixed(barValue(figure, tick), barPlaces(figure), figure.block().mixing);
    drawText(g, text, x + BAR + 8, y, { color: 't2', mono: true });
  }
  b.bar = { x, high };
}

function drawBarBelow(g, figure) {
  const { box: b } = figure;
  const wide = Math.max(96, b.wide - b.gap);
  const y = b.y + b.high + 12;
  const signed = figure.block().mixing;
  const { colors } = mapOf(signed);
  for (let i = 0; i < wide; i++)
    box(g, b.x + i, y, Math.min(1, wide - i), 10, colors[Math.round((255 * i) / wide)]);
  frame(g, b.x, y, wide, 10, 'l2');
  const text = (share) => (share || signed ? fixed(barValue(figure, share), barPlaces(figure), signed) : '0');
  drawText(g, text(0), b.x, y + 22, { color: 't2', mono: true });
  const middle = signed ? '0' : page.root ? '√ scale' : 'weight';
  drawText(g, middle, b.x + wide / 2, y + 22, { color: 't2', mono: true, align: 'center' });
  drawText(g, text(1), b.x + wide, y + 22, { color: 't2', mono: true, align: 'right' });
  b.bar = { y, wide };
}

/** Points at the weight on the bar. */
function drawMarker(g, { box: b, bar }, share) {
  g.fillStyle = look.colors.accent;
  g.beginPath();
  if (bar === 'right') {
    const y = b.y + b.bar.high * (1 - share);
    g.moveTo(b.bar.x - 2, y);
    g.lineTo(b.bar.x - 8, y - 4);
    g.lineTo(b.bar.x - 8, y + 4);
  } else {
    const x = b.x + b.bar.wide * share;
    g.moveTo(x, b.bar.y - 2);
    g.lineTo(x - 5, b.bar.y - 9);
    g.lineTo(x + 5, b.bar.y - 9);
  }
  g.fill();
}

/** Draws the crosshair: the query amber, the key neutral, the cell ringed. */
function drawCrosshair(figure) {
  const { box: b } = figure;
  const block = figure.block();
  const g = sizeCanvas(figure.over, b.width, b.height);
  const { q, k } = shownCell();
  if (q >= block.queries || k >= block.keys) return;
  const [x, y] = [b.x + k * b.cell, b.y + q * b.cell];
  if (page.lock && page.lock.q !== q) drawQueryLabel(g, figure, block, page.lock.q, true);
  drawKeyLabel(g, figure, block, k, true);
  drawQueryLabel(g, figure, block, q, true);
  box(g, x - 1, b.y, 1, b.high, 't2');
  box(g, x + b.cell - b.gap, b.y, 1, b.high, 't2');
  box(g, b.x, y - 1, b.wide, 1, 'accent');
  box(g, b.x, y + b.cell - b.gap, b.wide, 1, 'accent');
  if (b.cell >= 8) {
    frame(g, x - 2, y - 2, b.cell + 4 - b.gap, b.cell + 4 - b.gap, 'accent', 3);
    frame(g, x + 1, y + 1, b.cell - 2 - b.gap, b.cell - 2 - b.gap, 'well');
  } else {
    const grow = Math.max(3, (11 - b.cell) / 2);
    frame(g, x - grow, y - grow, b.cell + 2 * grow, b.cell + 2 * grow, 'accent', 2);
  }
  const value = block.at(figure.head(), q, k);
  if (value === value && b.bar) drawMarker(g, figure, barShare(figure, value));
  if (look.printing) mergeForPrint(figure);
}

/** Prints the crosshair from the canvas below it: Chromium prints the calls of a canvas, and those that
 *  clear the one above would erase the map. */
function mergeForPrint({ canvas, over, box: b }) {
  canvas.getContext('2d').drawImage(over, 0, 0, b.width, b.height);
}

/** Returns the cell under a point of the map, whose edge is measured before anything changes. */
function cellAt(figure, event, edge = figure.hit.getBoundingClientRect()) {
  const { box: b } = figure;
  const block = figure.block();
  const clamp = (value, count) => Math.max(0, Math.min(count - 1, Math.floor(value / b.cell)));
  return {
    q: clamp(event.clientY - edge.top, block.queries),
    k: clamp(event.clientX - edge.left, block.keys),
  };
}

function listenToFigure(figure) {
  const { hit } = figure;
  const follow = (event) => {
    if (event.pointerType !== 'mouse' && !event.buttons) return;
    const edge = hit.getBoundingClientRect();
    const cell = cellAt(figure, event, edge);
    if (event.pointerType === 'mouse') showCard(figure, event, cell, edge.top);
    hover(cell);
  };
  const leave = () => {
    hideCard();
    hover(null);
  };
  hit.addEventListener('pointermove', follow);
  hit.addEventListener('pointerdown', (event) => {
    if (event.pointerType !== 'mouse') hit.setPointerCapture(event.pointerId);
    follow(event);
  });
  hit.addEventListener('pointerleave', leave);
  hit.addEventListener('pointercancel', leave);
  hit.addEventListener('click', (event) => {
    // A finger has no hover: its drag moves the crosshair, and a tap leaves it there.
    if (event.pointerType === 'touch') return speakCell();
    return toggleLock(cellAt(figure, event));
  });
  hit.addEventListener('keydown', keyOnFigure);
}

function keyOnFigure(event) {
  const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  if (event.shiftKey) Object.assign(moves, { ArrowLeft: [0, -1], ArrowRight: [0, 1] });
  const far = event.ctrlKey || event.altKey || event.metaKey;
  if (moves[event.key] && !far) moveBy(...moves[event.key]);
  else if (event.key === 'Enter' || event.key === ' ') toggleLock(shownCell());
  else return;
  event.preventDefault();
  event.stopPropagation();
}

/** The card at the pointer: made once, moved with it. */
const card = { element: null, block: null };

function cardElement() {
  if (!card.element) {
    card.element = make('div', { class: 'card', 'aria-hidden': 'true' });
    document.body.append(card.element);
  }
  return card.element;
}

const hideCard = () => {
  if (card.element) card.element.hidden = true;
};

/** Places the card beside the pointer, above its row if there is room, else below. Its size comes from
 *  the text where that fits on one line, since asking the browser would lay out the page at each move. */
function placeCard(x, top, bottom, text = '') {
  const element = cardElement();
  element.hidden = false;
  const wide = Math.max(188, Math.ceil(textWidth(text, 13, true)) + 26);
  const fits = text && wide < Math.min(400, window.innerWidth - 24);
  const { width, height } = fits ? { width: wide, height: 58 } : element.getBoundingClientRect();
  const left = x + 20 + width > window.innerWidth - 8 ? x - 20 - width : x + 20;
  const y = top - 4 - height < 4 ? bottom + 4 : top - 4 - height;
  element.style.transform = `translate(${Math.max(8, left)}px, ${y}px)`;
}

function showCard(figure, event, { q, k }, edge) {
  const block = figure.block();
  const value = block.at(figure.head(), q, k);
  const [query, key] = [visible(block.queryTokens[q]), visible(block.keyTokens[k])];
  cardElement().replaceChildren(
    make('p', { class: 'pair' }, [
      make('bdi', { class: 'query', text: query }),
      make('i', { text: ` ${q} → ` }),
      make('bdi', { text: key }),
      make('i', { text: ` ${k}` }),
    ]),
    make('p', { class: 'amount' }, [
      make('b', { text: weightText(block, value) }),
      make('i', { text: rankText(figure, q, k) }),
    ]),
  );
  const { cell } = figure.box;
  const top = edge + q * cell;
  const text = `${query} ${q} → ${key} ${k}`;
  placeCard(
    event.clientX,
    Math.min(top, event.clientY - 8),
    Math.max(top + cell, event.clientY + 20),
    text,
  );
}

/** Returns "1st of 17": the weight's rank in its row, by size. */
function rankText(figure, q, k) {
  const block = figure.block();
  if (block.hidden(q, k)) return '';
  const row = block.row(figure.head(), q);
  const size = Math.abs(row[k]);
  let [rank, count] = [1, 0];
  for (const weight of row) {
    if (weight !== weight) continue;
    count++;
    if (Math.abs(weight) > size) rank++;
  }
  return `${ordinal(rank)} of ${count}`;
}
