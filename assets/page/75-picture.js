// Saves what the page shows as a PNG: walks the elements and paints their grounds, borders, texts,
// canvases and images, since a browser offers scripts no screenshot.

const PICTURE_MARGIN = 24;

async function savePicture() {
  const canvas = paintPage(document.querySelector('.page'));
  const blob = await new Promise((done) => {
    canvas.toBlob(done, 'image/png');
  });
  const link = make('a', { href: URL.createObjectURL(blob), download: `${pictureName()}.png` });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/** Returns a file name: the title without what file systems refuse. */
function pictureName() {
  const title = page.data.title
    .replace(/[\u0000-\u001f\u200e\u200f\u202a-\u202e\u2066-\u2069"*/:<>?\\|]/g, '')
    .trim();
  return `${cut(title || 'Headlight', 60)}${hasHeads() ? ` ${headName()}` : ''}`;
}

function paintPage(root) {
  const ratio = Math.max(2, window.devicePixelRatio || 1);
  const edge = root.getBoundingClientRect();
  const canvas = document.createElement('canvas');
  canvas.width = Math.round(edge.width * ratio);
  canvas.height = Math.round(edge.height * ratio);
  const g = canvas.getContext('2d');
  g.setTransform(ratio, 0, 0, ratio, -edge.left * ratio, -edge.top * ratio);
  box(g, edge.left, edge.top, edge.width, edge.height, 'bg1');
  paintElement(g, root);
  return canvas;
}

function paintElement(g, element) {
  if (element.classList.contains('tool')) return;
  const style = getComputedStyle(element);
  const edge = element.getBoundingClientRect();
  if (style.display === 'none' || style.visibility === 'hidden' || !edge.width || !edge.height) return;
  paintGround(g, style, edge);
  g.save();
  if (style.overflowX !== 'visible') {
    g.beginPath();
    g.rect(edge.left, edge.top, edge.width, edge.height);
    g.clip();
  }
  if (element instanceof HTMLCanvasElement || element instanceof HTMLImageElement) {
    g.imageSmoothingEnabled = element instanceof HTMLImageElement;
    g.drawImage(element, edge.left, edge.top, edge.width, edge.height);
  }
  for (const child of element.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) paintText(g, child, style);
    else if (child.nodeType === Node.ELEMENT_NODE) paintElement(g, child);
  }
  g.restore();
}

function paintGround(g, style, edge) {
  const radius = Math.min(parseFloat(style.borderTopLeftRadius) || 0, edge.width / 2, edge.height / 2);
  g.beginPath();
  g.roundRect(edge.left, edge.top, edge.width, edge.height, radius);
  g.fillStyle = style.backgroundColor;
  g.fill();
  const sides = { Top: [0, 0, 1, 0], Right: [1, 0, 1, 1], Bottom: [0, 1, 1, 1], Left: [0, 0, 0, 1] };
  const wide = (side) =>
    style[`border${side}Style`] === 'none' ? 0 : parseFloat(style[`border${side}Width`]) || 0;
  if (Object.keys(sides).every(wide)) {
    const line = wide('Top');
    g.beginPath();
    g.roundRect(
      edge.left + line / 2,
      edge.top + line / 2,
      edge.width - line,
      edge.height - line,
      radius,
    );
    g.strokeStyle = style.borderTopColor;
    g.lineWidth = line;
    g.stroke();
    return;
  }
  for (const side of Object.keys(sides)) {
    const line = wide(side);
    if (!line) continue;
    g.fillStyle = style[`border${side}Color`];
    const down = side === 'Left' || side === 'Right';
    g.fillRect(
      side === 'Right' ? edge.right - line : edge.left,
      side === 'Bottom' ? edge.bottom - line : edge.top,
      down ? line : edge.width,
      down ? edge.height : line,
    );
  }
}

/** Paints a text node word by word, each where the browser has laid it. */
function paintText(g, node, style) {
  const text = node.textContent;
  const range = document.createRange();
  g.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  g.fillStyle = style.color;
  g.textAlign = 'left';
  g.textBaseline = 'alphabetic';
  for (const word of text.matchAll(/\S+/g)) {
    range.setStart(node, word.index);
    range.setEnd(node, word.index + word[0].length);
    const lines = range.getClientRects();
    if (lines.length === 1) paintWord(g, word[0], lines[0]);
    else if (lines.length > 1) paintBroken(g, node, word, range);
  }
}

function paintWord(g, word, edge) {
  g.direction = isRightToLeft(word) ? 'rtl' : 'ltr';
  const size = g.measureText(word);
  const [up, down] = [size.fontBoundingBoxAscent, size.fontBoundingBoxDescent];
  g.fillText(word, edge.left, edge.top + (edge.height - up - down) / 2 + up);
}

/** Paints a word that the browser has broken over lines, character by character. */
function paintBroken(g, node, word, range) {
  let at = word.index;
  for (const character of graphemes(word[0])) {
    range.setStart(node, at);
    range.setEnd(node, at + character.length);
    const edge = range.getClientRects()[0];
    if (edge) paintWord(g, character, edge);
    at += character.length;
  }
}
