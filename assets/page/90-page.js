// Builds the page: header, views, keys, themes, printing.

/** A page of figures alone has no heads. */
const hasHeads = () => page.blocks.length > 0;

const VIEWS = [
  { key: 'report', name: 'Report', make: makeReportView, has: () => report },
  { key: 'head', name: 'Head', make: () => besidePanel(makeMapView, true), has: hasHeads },
  {
    key: 'heads',
    name: 'All heads',
    make: makeHeadsView,
    has: () => hasHeads() && (page.blocks.length > 1 || page.blocks[0].heads > 1),
  },
  { key: 'lines', name: 'Lines', make: () => besidePanel(makeLinesView, false), has: hasHeads },
  { key: 'text', name: 'Text', make: () => besidePanel(makeTextView, false), has: hasHeads },
  {
    key: 'lens',
    name: 'Prediction',
    make: makeLensView,
    has: () => page.data.lens && page.data.lens.tokens_after.length,
  },
  { key: 'compare', name: 'Compare', make: makeCompareView, has: () => page.blocksB.length },
];

const figureViews = () =>
  (page.data.figures || []).map((figure) => ({
    key: figure.key,
    name: oneLine(figure.name),
    title: oneLine(figure.title),
    make: () => makeSpotsView(figure),
    makeTable: () => makeFigureTables(figure),
  }));

const availableViews = () => [...VIEWS.filter((view) => !view.has || view.has()), ...page.figureViews];

const byId = (id) => document.getElementById(id);

/** Shows a view; the table counts as one that leaves again for the view before. */
function showView(key) {
  hideCard();
  if (key !== 'table') page.view = key;
  page.table = key === 'table';
  page.hover = null;
  page.parts = [{ showHead: showWhere }];
  const view = availableViews().find((each) => each.key === page.view);
  byId('main').dataset.view = key;
  byId('main').replaceChildren(page.table ? (view.makeTable || makeTableView)() : view.make());
  for (const tab of byId('tabs').children) {
    const on = tab.dataset.view === key;
    tab.setAttribute('aria-selected', String(on));
    tab.tabIndex = on || (page.table && tab.dataset.view === page.view) ? 0 : -1;
  }
  page.tools.table.setAttribute('aria-pressed', String(page.table));
  tell('showSize');
  tell('showHead');
  tell('showCell');
  if (page.whenShown) page.whenShown(key);
}

function showWhere() {
  const where = byId('where');
  const model = oneLine(page.data.model);
  const shown = isNarrow() ? model.split(' · ')[0] : model;
  const { title = headTitle() } = availableViews().find(({ key }) => key === page.view) || {};
  where.replaceChildren(make('bdi', { text: shown }), shown && title ? ' · ' : '', title);
}

function makeTabs() {
  const views = availableViews();
  const tabs = byId('tabs');
  tabs.append(
    ...views.map(({ key, name }) =>
      make('button', {
        role: 'tab',
        'data-view': key,
        text: name,
        'aria-controls': 'main',
        onclick: () => showView(key),
      }),
    ),
  );
  tabs.hidden = views.length < 2;
  tabs.addEventListener('keydown', (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    const at = views.findIndex(({ key }) => key === page.view) + by;
    showView(views[(at + views.length) % views.length].key);
    tabs.querySelector('[aria-selected="true"]').focus();
  });
}

function makeTools() {
  const button = (name, onclick) => make('button', { text: name, onclick });
  page.tools = {
    theme: button('', () => setTheme(look.theme === 'dark' ? 'light' : 'dark', true)),
    picture: button('Picture', () => savePicture().catch(showFault)),
    table: button('Table', () => showView(page.table ? page.view : 'table')),
  };
  page.tools.theme.className = 'theme';
  page.tools.picture.title = 'Save as PNG';
  page.tools.table.title = 'Show the numbers';
  placeTools();
}

/** Keeps on a phone only the theme in the header; the others go to the foot of the page. */
function placeTools() {
  const { theme, picture, table } = page.tools;
  byId('tools').append(theme, ...(isNarrow() ? [] : [picture, table]));
  byId('foot-tools').append(...(isNarrow() ? [picture, table] : []));
}

/** Applies a theme. `chosen`: by the button, so that the system's no longer counts. */
function setTheme(theme, chosen) {
  if (chosen) page.themeChosen = true;
  look.theme = theme;
  document.documentElement.dataset.theme = theme;
  readColors();
  const other = theme === 'dark' ? 'Light' : 'Dark';
  page.tools.theme.replaceChildren(
    make('i', { class: 'half', 'aria-hidden': 'true' }),
    make('span', { text: other }),
  );
  page.tools.theme.setAttribute('aria-label', `${other} theme`);
  drawLogo();
  tell('showTheme');
}

function drawLogo() {
  const g = sizeCanvas(byId('logo'), 21, 12);
  g.fillStyle = look.colors.accent;
  g.beginPath();
  g.arc(6, 6, 6, 0, 2 * Math.PI);
  g.fill();
  g.globalAlpha = 0.5;
  g.beginPath();
  g.moveTo(14, 6);
  g.lineTo(21, 1);
  g.lineTo(21, 11);
  g.fill();
  g.globalAlpha = 1;
}

function followSystemTheme() {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const follow = () => page.themeChosen || setTheme(dark.matches ? 'dark' : 'light');
  dark.addEventListener('change', follow);
  follow();
}

/** Prints light whatever the screen shows: dark grounds waste ink. */
function followPrinting() {
  let before = 'light';
  addEventListener('beforeprint', () => {
    before = look.theme;
    look.printing = true;
    setTheme('light');
  });
  addEventListener('afterprint', () => {
    look.printing = false;
    setTheme(before);
  });
}

function onKey(event) {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const scrolls = event.target.closest && event.target.closest('.numbers .scroll');
  const keys = {
    Escape: () => (page.table ? showView(page.view) : unlock()),
    ...(hasHeads() && {
      ArrowLeft: () => stepHead(-1),
      ArrowRight: () => stepHead(1),
      PageUp: () => stepLayer(-1),
      PageDown: () => stepLayer(1),
    }),
  };
  if (!keys[event.key] || event.shiftKey || (scrolls && event.key !== 'Escape')) return;
  event.preventDefault();
  keys[event.key]();
}

/** Redraws after a change of size or of pixel ratio; a phone turned round gets its other layout. */
function followSize() {
  let [wide, high, narrow] = [0, 0, isNarrow()];
  let ratio = window.devicePixelRatio;
  const fit = () => {
    if (!innerWidth || !innerHeight) return; // hidden
    if (wide === innerWidth && high === innerHeight && ratio === devicePixelRatio) return;
    [wide, high, ratio] = [innerWidth, innerHeight, devicePixelRatio];
    hideCard();
    if (narrow !== isNarrow()) {
      narrow = isNarrow();
      placeTools();
      showView(page.table ? 'table' : page.view);
    } else tell('showSize');
  };
  [wide, high] = [innerWidth, innerHeight];
  placeTools(); // a frame may have got its width since the tools were made
  addEventListener('resize', fit);
}

function promise(data) {
  const parts = ['One file. Nothing is loaded, nothing is sent.'];
  if (data.live) return `${parts[0]} ${data.live.weights}`;
  const exact = data.error === 0;
  if (data.error !== undefined)
    parts.push(exact ? 'Weights are exact.' : `Weights are accurate to ${data.error}.`);
  return parts.join(' ');
}

/** Fills the page's frame from the data. */
function showFrame(data) {
  document.title = oneLine(data.title) || 'Headlight';
  byId('title').textContent = oneLine(data.title) || 'Headlight';
  byId('promise').textContent = promise(data);
  byId('made').textContent = 'made with Headlight';
  byId('made').title = data.program || 'Headlight';
}

/** Opens the head and the lock that the data name. */
async function openFirst(data) {
  const block = Math.max(0, Math.min(page.blocks.length - 1, data.block || 0));
  const head = Math.max(0, Math.min(page.blocks[block].heads - 1, data.head || 0));
  await page.blocks[block].load();
  if (page.blocksB[block]) await page.blocksB[block].load();
  Object.assign(page, { block, head, want: { block, head } });
  const last = page.blocks[block].queries - 1;
  if (data.locked >= 0 && data.locked <= last) page.lock = { q: data.locked, k: -1 };
  page.rest = { q: last, k: -1 };
}

/** Waits until there is room to draw: a frame of a notebook is laid out later, or hidden. */
async function waitForSize() {
  while (innerWidth < 100 || !innerHeight) await new Promise((then) => setTimeout(then, 30));
}

async function start() {
  const data = readData();
  await waitForSize();
  page.data = data;
  page.blocks = data.blocks.map((spec) => new Block(spec, data.sequences));
  page.blocksB = ((data.compare && data.compare.blocks_b) || []).map(
    (spec) => new Block(spec, data.sequences),
  );
  page.figureViews = figureViews();
  readMaps(data.maps);
  showFrame(data);
  makeTools();
  makeTabs();
  listenToReport();
  if (hasHeads()) await openFirst(data);
  if (data.theme === 'auto') followSystemTheme();
  else setTheme(data.theme === 'dark' ? 'dark' : 'light');
  if (data.live) startTyping(data); // of assets/live, in pages that compute
  showView((availableViews().find(({ key }) => key === data.view) || availableViews()[0]).key);
  followSize();
  followPrinting();
  document.addEventListener('keydown', onKey);
  document.documentElement.dataset.ready = '';
}

start().catch(showFault);
