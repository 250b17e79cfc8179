// Shows a view as the program drew it, and what its window says under the pointer.

/** Unpacks a figure's picture, spots and tables when it is first shown. */
async function unpackFigure(figure) {
  const text = new TextDecoder().decode(await inflate(bytesOf(figure.data)));
  const { svg, dark, spots, tables, left_out: leftOut } = JSON.parse(text);
  const picture = (image) => URL.createObjectURL(new Blob([image], { type: 'image/svg+xml' }));
  figure.data = '';
  figure.pictures = [picture(svg), picture(dark)];
  figure.spots = spots.places.map(([x, y, wide, high, said, framed]) => ({
    x,
    y,
    wide,
    high,
    said: oneLine(spots.texts[said]),
    framed: framed === 1,
  }));
  Object.assign(figure, { tables, leftOut });
}

function unpacked(figure) {
  if (!figure.unpacking) figure.unpacking = unpackFigure(figure);
  return figure.unpacking;
}

function makeSpotsView(figure) {
  const root = make('section', { class: 'wide spots', 'aria-label': figure.name });
  unpacked(figure).then(() => fillSpots(root, figure), showFault);
  return root;
}

function fillSpots(root, figure) {
  const { width, height } = figure;
  const part = {
    figure,
    at: -1,
    mark: make('div', { class: 'mark tool', hidden: '' }),
    said: make('p', { class: 'caption said', 'aria-hidden': 'true' }),
  };
  part.sheet = make(
    'div',
    {
      class: 'sheet',
      tabindex: '0',
      role: 'application',
      'data-focus': 'spots',
      'aria-label': `${figure.name}. Arrow keys move over what has a number.`,
    },
    [
      ...figure.pictures.map((src, i) => make('img', { class: i ? 'dark' : 'light', src, alt: '', width, height })),
      part.mark,
    ],
  );
  root.replaceChildren(part.sheet, part.said);
  setText(part.said, spotsHint(figure));
  listenToSpots(part);
}

function spotsHint({ spots }) {
  if (!spots.length) return 'The numbers are in the table.';
  return isNarrow() ? 'Drag over the picture to read it.' : 'Point at the picture to read it.';
}

/** Returns the smallest spot at a place of the picture, or −1. */
function spotAt({ spots }, x, y) {
  let best = -1;
  spots.forEach((spot, i) => {
    if (x < spot.x || y < spot.y || x >= spot.x + spot.wide || y >= spot.y + spot.high) return;
    if (best < 0 || spot.wide * spot.high < spots[best].wide * spots[best].high) best = i;
  });
  return best;
}

function listenToSpots(part) {
  const { sheet, figure } = part;
  const point = (event) => {
    const edge = sheet.getBoundingClientRect();
    const scale = figure.width / edge.width;
    const at = spotAt(figure, (event.clientX - edge.left) * scale, (event.clientY - edge.top) * scale);
    markSpot(part, at);
    if (at < 0) return hideCard();
    return showSaid(figure.spots[at].said, event.clientX, event.clientY);
  };
  sheet.addEventListener('pointermove', point);
  sheet.addEventListener('pointerdown', point);
  sheet.addEventListener('pointerleave', () => {
    hideCard();
    markSpot(part, -1);
  });
  sheet.addEventListener('keydown', (event) => {
    const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!by || event.ctrlKey || event.altKey || event.metaKey || !figure.spots.length) return;
    event.preventDefault();
    event.stopPropagation();
    markSpot(part, part.at < 0 ? 0 : nextSpot(figure, part.at, by));
    speak(figure.spots[part.at].said);
  });
}

function showSaid(said, x, y) {
  cardElement().replaceChildren(make('p', { class: 'pair', text: said }));
  placeCard(x, y - 8, y + 20);
}

/** Outlines a spot and writes what it says below the picture; −1: none. */
function markSpot(part, at) {
  if (part.at === at) return;
  part.at = at;
  const spot = part.figure.spots[at];
  part.mark.hidden = !spot || !spot.framed;
  setText(part.said, spot ? spot.said : spotsHint(part.figure));
  if (!spot) return;
  const share = (value, whole) => `${((100 * value) / whole).toFixed(3)}%`;
  const { width, height } = part.figure;
  Object.assign(part.mark.style, {
    left: share(spot.x, width),
    top: share(spot.y, height),
    width: share(spot.wide, width),
    height: share(spot.high, height),
  });
}

/** Returns the nearest spot in a direction; those beside it count before those further off the line. */
function nextSpot({ spots }, from, [right, down]) {
  const center = ({ x, y, wide, high }) => [x + wide / 2, y + high / 2];
  const [x, y] = center(spots[from]);
  let [best, least] = [from, Infinity];
  spots.forEach((spot, i) => {
    const [toX, toY] = center(spot);
    const along = (toX - x) * right + (toY - y) * down;
    const beside = Math.abs((toX - x) * down) + Math.abs((toY - y) * right);
    if (along < 0.5 || along + 4 * beside >= least) return;
    [best, least] = [i, along + 4 * beside];
  });
  return best;
}

/** Shows the numbers of a figure. */
function makeFigureTables(figure) {
  const root = make('section', { class: 'wide numbers', 'aria-label': 'Table' });
  unpacked(figure).then(() => {
    root.replaceChildren(...figure.tables.map(numberTable));
    if (figure.leftOut.length)
      root.append(make('p', { class: 'caption', text: `Too long for a page: ${figure.leftOut.join(', ')}.` }));
    if (!root.childNodes.length) root.append(make('p', { class: 'caption', text: 'This view has no numbers.' }));
  }, showFault);
  return root;
}

function numberTable(table) {
  const heading = (text, scope) => make('th', { scope, text: visible(String(text)) });
  const number = (value) => (value === null ? '' : String(value).replace('-', '−'));
  const corner = make('td', { class: 'dim', text: `${table.rows_are} ↓ ${table.columns_are} →` });
  const head = make('tr', {}, [corner, ...table.columns.map((name) => heading(name, 'col'))]);
  const rows = table.values.map((row, i) =>
    make('tr', {}, [heading(table.rows[i], 'row'), ...row.map((value) => make('td', { text: number(value) }))]),
  );
  const body = make('table', {}, [make('thead', {}, [head]), make('tbody', {}, rows)]);
  return make('div', {}, [make('p', { class: 'caption', text: `${oneLine(table.name)}.` }), scrolled(body)]);
}
