// Holds what is shown: the head, the cell under the crosshair, the lock. Parts of the page add
// themselves to `page.parts` and are told what changed.

const page = {
  data: null,
  blocks: [],
  blocksB: [],
  view: 'head',
  block: 0,
  head: 0,
  want: { block: 0, head: 0 }, // runs ahead of block and head while weights are decoded
  hover: null,
  rest: { q: 0, k: -1 },
  lock: null, // k −1: the strongest key of the row
  asked: 0,
  parts: [],
  figureViews: [], // views as the program drew them
  thumbs: {}, // thumbs: by their size in pixels
};

const shownBlock = () => page.blocks[page.block];
const headName = (block = page.block, head = page.head) => `${page.blocks[block].label}.${head}`;
const isNarrow = () => window.innerWidth <= 480;

/** Tells every part that shows something now: head, cell, theme or size changed. */
function tell(what) {
  for (const part of [...page.parts, host]) if (part[what] && !(part.off && part.off())) part[what]();
}

function strongest(row) {
  let best = -1;
  for (let k = 0; k < row.length; k++) {
    if (row[k] === row[k] && (best < 0 || Math.abs(row[k]) > Math.abs(row[best]))) best = k;
  }
  return Math.max(0, best);
}

/** Returns the cell under the crosshair: hovered, else locked, else the last one. */
function shownCell() {
  const block = shownBlock();
  const cell = page.hover || page.lock || page.rest;
  const q = Math.min(cell.q, block.queries - 1);
  const k = cell.k < 0 ? strongest(block.row(page.head, q)) : Math.min(cell.k, block.keys - 1);
  return { q, k };
}

function hover(cell) {
  const was = page.hover;
  if (cell ? was && was.q === cell.q && was.k === cell.k : !was) return;
  if (!cell && !page.lock) page.rest = was;
  page.hover = cell;
  tell('showCell');
}

/** Locks the cell; a second click on it unlocks it. */
function toggleLock(cell) {
  const { lock } = page;
  page.lock = lock && lock.q === cell.q && lock.k === cell.k ? null : cell;
  page.rest = cell;
  tell('showCell');
  speakCell();
}

function unlock() {
  if (page.lock) page.rest = page.lock;
  page.lock = null;
  page.hover = null;
  tell('showCell');
}

/** Moves the crosshair to a cell, with the lock if there is one. */
function moveTo(cell) {
  page.hover = null;
  page.rest = cell;
  if (page.lock) page.lock = cell;
  tell('showCell');
  speakCell();
}

function moveBy(queries, keys) {
  const block = shownBlock();
  const { q, k } = shownCell();
  const within = (value, count) => Math.max(0, Math.min(count - 1, value));
  const next = within(q + queries, block.queries);
  moveTo({ q: next, k: within(k + keys, block.keys) });
}

/** Shows a head as soon as its weights are decoded; what stood before stays until then. */
async function openHead(block, head) {
  page.want = { block, head };
  const asked = ++page.asked;
  await page.blocks[block].load();
  if (page.blocksB[block]) await page.blocksB[block].load();
  if (asked !== page.asked) return;
  const before = shownBlock();
  page.block = block;
  page.head = head;
  const now = shownBlock();
  if (before.queryTokens !== now.queryTokens || before.keyTokens !== now.keyTokens) {
    page.lock = null;
    page.hover = null;
    page.rest = { q: now.queries - 1, k: -1 };
  }
  tell('showHead');
  tell('showCell');
}

function pickHead(block, head) {
  return openHead(block, head).then(() => speak(headTitle()), showFault);
}

function stepHead(by) {
  const { block, head } = page.want;
  const { heads } = page.blocks[block];
  pickHead(block, (head + by + heads) % heads);
}

function stepLayer(by) {
  const block = Math.max(0, Math.min(page.blocks.length - 1, page.want.block + by));
  pickHead(block, Math.min(page.want.head, page.blocks[block].heads - 1));
}

function headTitle() {
  const role = page.data.names && page.data.names[headName()];
  return `${blockName(shownBlock())}, head ${page.head}${role ? ` · ${role}` : ''}`;
}

const named = (tokens, i) => `${label(tokens[i])} ${i}`;

/** Says the text to screen readers. */
function speak(text) {
  document.getElementById('live').textContent = text;
}

function speakCell() {
  const block = shownBlock();
  const { q, k } = shownCell();
  const value = weightText(block, block.at(page.head, q, k));
  const state = page.lock ? ', locked' : '';
  speak(`${named(block.queryTokens, q)} to ${named(block.keyTokens, k)}: ${value}${state}`);
}

function showFault(error) {
  const main = document.getElementById('main');
  main.prepend(make('p', { class: 'fault', role: 'alert', text: error.message || String(error) }));
}

/** Runs jobs one by one while the page is idle; a job may return a promise. */
function whenIdle(jobs) {
  const next = async (deadline) => {
    do {
      const job = jobs.shift();
      if (!job) return;
      try {
        await job();
      } catch (error) {
        showFault(error);
      }
    } while (deadline && deadline.timeRemaining() > 4);
    later(next);
  };
  const later = window.requestIdleCallback
    ? (run) => requestIdleCallback(run, { timeout: 100 })
    : (run) => setTimeout(run, 4);
  later(next);
}
