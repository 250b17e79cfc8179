// Turns tokens and numbers into labels that can be read: whitespace and control characters are
// made visible, long tokens are cut in the middle.

const LABEL_LENGTH = 14;
// Matches what would be invisible or would turn the text around: controls and bidi marks.
const INVISIBLE =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
const NAMED = { '\n': '↵', '\r': '␍', '\t': '→' };
const ONLY_JOINERS = /^[\u200c\u200d\ufe00-\ufe0f]+$/;
const RIGHT_TO_LEFT =
  /^[^A-Za-z\u00c0-\u02af\u0370-\u058f\u0900-\u1fff\u3040-\ud7ff]*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

function nameInvisible(character) {
  if (character in NAMED) return NAMED[character];
  return `⟨${character.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`;
}

/** Returns a token as one visible line: its leading space left away, other spaces as dots. */
function visible(token) {
  if (token === '') return '∅';
  if (ONLY_JOINERS.test(token)) return Array.from(token, nameInvisible).join('');
  let text = /^ [^\s]/.test(token) ? token.slice(1) : token;
  if (/^[ \u00a0\u3000]+$/.test(text)) return '·'.repeat(text.length);
  text = text.replace(/^ +| +$/g, (spaces) => '·'.repeat(spaces.length));
  return text.replace(INVISIBLE, nameInvisible);
}

/** Returns a title or name as one line, its invisible characters named as in tokens. */
const oneLine = (text) =>
  String(text || '')
    .replace(/\s+/g, ' ')
    .replace(INVISIBLE, nameInvisible);

const graphemes =
  typeof Intl !== 'undefined' && Intl.Segmenter
    ? (text) => Array.from(new Intl.Segmenter().segment(text), (part) => part.segment)
    : (text) => Array.from(text);

/** Returns the text, cut in the middle to this many characters. */
function cut(text, length = LABEL_LENGTH) {
  if (text.length <= length) return text;
  const parts = graphemes(text);
  if (parts.length <= length) return text;
  const tail = Math.floor((length - 1) / 2);
  const head = length - 1 - tail;
  return parts.slice(0, head).join('') + '…' + parts.slice(parts.length - tail).join('');
}

const label = (token, length) => cut(visible(token), length);

const isRightToLeft = (text) => RIGHT_TO_LEFT.test(text);

/** Returns a number with a minus sign as wide as a digit; `signed` shows a plus as well. */
function fixed(value, digits = 3, signed = false) {
  if (value !== value) return 'masked';
  const text = Math.abs(value).toFixed(digits);
  const zero = Number(text) === 0;
  return (value < 0 && !zero ? '−' : signed && !zero ? '+' : '') + text;
}

const weightText = (block, value) => fixed(value, 3, block.mixing);

const percent = (share) => `${(100 * share).toFixed(1)} %`;

function ordinal(n) {
  const tens = n % 100;
  if (tens > 10 && tens < 14) return `${n}th`;
  return n + (['th', 'st', 'nd', 'rd'][n % 10] || 'th');
}

/** Makes an element. Text goes in as text, never as markup. */
function make(tag, options = {}, children = []) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(options)) {
    if (name === 'text') element.textContent = value;
    else if (name === 'class') element.className = value;
    else if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

/** Makes an element for a token, isolated so that its direction does not turn its neighbors. */
function makeToken(token, options = {}, length) {
  const text = label(token, length);
  const full = visible(token);
  return make('bdi', { dir: 'auto', title: text === full ? undefined : full, ...options, text });
}
