// Holds the colors of the theme and the color maps, and what canvases need to be sharp.

const SANS = 'Inter, "Inter Display", system-ui, "Segoe UI", Roboto, "Helvetica Neue", sans-serif';
const MONO =
  '"JetBrains Mono", ui-monospace, "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace';
const ROLES = [
  'bg1',
  'bg2',
  'bg3',
  'l1',
  'l2',
  't1',
  't2',
  't3',
  'accent',
  'accentText',
  'accentFill',
  'plus',
  'minus',
  'well',
  'hatch',
  'track',
];

const look = { theme: 'light', printing: false, colors: {}, maps: {} };

/** Takes the colors from the style sheet, the one place that defines them. */
function readColors() {
  const style = getComputedStyle(document.documentElement);
  for (const role of ROLES) look.colors[role] = style.getPropertyValue(`--${role}`).trim();
}

/** Splits "#rrggbb#rrggbb…" into a list of colors and a list of pixels. */
function readMap(joined) {
  const digits = joined.replace(/#/g, '');
  const colors = [];
  for (let i = 0; i + 6 <= digits.length; i += 6) colors.push(`#${digits.slice(i, i + 6)}`);
  const pixels = new Uint8Array(4 * colors.length);
  colors.forEach((color, i) => {
    for (let c = 0; c < 3; c++) pixels[4 * i + c] = parseInt(color.substr(1 + 2 * c, 2), 16);
    pixels[4 * i + 3] = 255;
  });
  return { colors, pixels: new Uint32Array(pixels.buffer) };
}

function readMaps(maps) {
  for (const name of ['beam', 'balance']) {
    for (const theme of ['light', 'dark']) {
      look.maps[`${name}_${theme}`] = readMap(maps[`${name}_${theme}`] || maps[name]);
    }
  }
}

const mapOf = (signed) => look.maps[`${signed ? 'balance' : 'beam'}_${look.theme}`];

/** Returns the map's entry of a weight. `root` lifts the small ones, by their sign. */
function level(value, max, signed, root) {
  let share = Math.min(1, Math.abs(value) / max);
  if (root) share = Math.sqrt(share);
  if (!signed) return Math.round(255 * share);
  return Math.round(127.5 + 127.5 * (value < 0 ? -share : share));
}

const colorOf = (value, max, signed, root) => mapOf(signed).colors[level(value, max, signed, root)];

function luminance(color) {
  const parts = [1, 3, 5]
    .map((i) => parseInt(color.substr(i, 2), 16) / 255)
    .map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
}

const inks = new Map();

/** Returns black or white, whichever contrasts more with this color. */
function inkOn(color) {
  if (!inks.has(color)) inks.set(color, findInk(color));
  return inks.get(color);
}

function findInk(color) {
  const dark = 0.0044; // the luminance of #0C0E11
  const light = luminance(color);
  return 1.05 / (light + 0.05) > (light + 0.05) / (dark + 0.05) ? '#FFFFFF' : '#0C0E11';
}

/** Sizes a canvas in points and returns its clear context, one unit per point. */
function sizeCanvas(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  const wide = Math.max(1, Math.round(width * ratio));
  const high = Math.max(1, Math.round(height * ratio));
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide;
    canvas.height = high;
  }
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const g = canvas.getContext('2d');
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.clearRect(0, 0, width, height);
  g.imageSmoothingEnabled = false;
  return g;
}

/** Paints weights [high, wide] as pixels into a canvas of that size; NaN stays clear. */
function paintWeights(canvas, weights, wide, high, { max, signed, root }, x = 0, y = 0) {
  const g = canvas.getContext('2d');
  const image = g.createImageData(wide, high);
  const out = new Uint32Array(image.data.buffer);
  const { pixels } = mapOf(signed);
  for (let i = 0; i < weights.length; i++) {
    if (weights[i] === weights[i]) out[i] = pixels[level(weights[i], max, signed, root)];
  }
  g.putImageData(image, x, y);
}

/** Returns the hatching of hidden cells, in screen pixels whatever the size of a cell. */
function hatching(g) {
  const ratio = window.devicePixelRatio || 1;
  const tile = document.createElement('canvas');
  tile.width = tile.height = Math.round(6 * ratio);
  const t = tile.getContext('2d');
  t.scale(tile.width / 6, tile.width / 6);
  t.strokeStyle = look.colors.hatch;
  t.lineWidth = 1;
  t.beginPath();
  for (const [x, y] of [
    [-1, 1],
    [0, 6],
    [5, 7],
  ]) {
    t.moveTo(x, y);
    t.lineTo(x + (x === 0 ? 6 : 2), y - (x === 0 ? 6 : 2));
  }
  t.stroke();
  const pattern = g.createPattern(tile, 'repeat');
  pattern.setTransform(new DOMMatrix().scale(6 / tile.width));
  return pattern;
}

/** Draws text on a canvas; y is the middle of the capitals. */
function drawText(g, text, x, y, { color = 't1', size = 13, mono = false, align = 'left' } = {}) {
  g.font = mono ? `400 ${size}px ${MONO}` : `500 ${size}px ${SANS}`;
  g.textAlign = align;
  g.textBaseline = 'alphabetic';
  if (mono)
    g.letterSpacing = '0.01px'; // turns off ligatures, which would change tokens such as "<!--"
  else g.letterSpacing = '0px';
  g.direction = isRightToLeft(text) ? 'rtl' : 'ltr';
  g.fillStyle = look.colors[color] || color;
  g.fillText(text, x, y + 0.364 * size);
}

const ruler = document.createElement('canvas').getContext('2d');
function textWidth(text, size = 13, mono = false) {
  ruler.font = mono ? `400 ${size}px ${MONO}` : `500 ${size}px ${SANS}`;
  return ruler.measureText(text).width;
}

function box(g, x, y, w, h, color, radius = 0) {
  g.fillStyle = look.colors[color] || color;
  if (!radius) return g.fillRect(x, y, w, h);
  g.beginPath();
  g.roundRect(x, y, w, h, radius);
  g.fill();
}

/** Outlines a box with round corners, on whole pixels. */
function roundFrame(g, x, y, w, h, color, radius) {
  g.strokeStyle = look.colors[color];
  g.lineWidth = 1;
  g.beginPath();
  g.roundRect(x + 0.5, y + 0.5, w - 1, h - 1, radius);
  g.stroke();
}

/** Outlines a box; the line lies inside it, so that it falls on whole pixels. */
function frame(g, x, y, w, h, color, line = 1) {
  g.strokeStyle = look.colors[color] || color;
  g.lineWidth = line;
  g.strokeRect(x + line / 2, y + line / 2, w - line, h - line);
}
