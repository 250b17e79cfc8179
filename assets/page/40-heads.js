// Draws all heads as thumbnails: beside a view, as a view of their own, and as a strip on phones.

/** Makes a grid of heads. options: room() in points, least and most: the pitch, strip: one row that
 *  scrolls, hint: says that a click opens a head. */
function makeGrid(options) {
  const grid = { ...options, atlas: document.createElement('canvas'), painted: [], box: {} };
  grid.count = Math.max(...page.blocks.map((block) => block.heads));
  grid.rows = grid.strip ? page.blocks.map(() => make('canvas')) : [make('canvas')];
  grid.rows.forEach((canvas) => canvas.setAttribute('aria-hidden', 'true'));
  grid.host = make(
    'div',
    { class: grid.strip ? 'strip' : 'grid', tabindex: '0', role: 'group' },
    grid.rows,
  );
  grid.rows.forEach((canvas, i) => listenToGrid(grid, canvas, i));
  return grid;
}

/** Sizes the grid, and has its thumbnails pooled again if they get another size. */
function placeGrid(grid) {
  const wide = Math.max(...page.blocks.map((block) => textWidth(block.label, 13, true)));
  const left = grid.strip ? 0 : Math.max(28, Math.ceil(wide) + 12);
  const fitting = Math.floor((grid.room() - left) / grid.count);
  const low = grid.opens ? grid.most : Math.max(20, Math.floor(240 / page.blocks.length));
  const pitch = grid.strip ? 56 : Math.max(grid.least, Math.min(grid.most, fitting, low));
  const size = pitch - (grid.strip ? 8 : pitch < 24 ? 2 : 4);
  const pixels = Math.round(size * (window.devicePixelRatio || 1));
  grid.box = { left, top: grid.strip ? 4 : 24, pitch, size };
  if (grid.pixels === pixels) return;
  grid.pixels = pixels;
  grid.atlas.width = pixels * grid.count;
  grid.atlas.height = pixels * page.blocks.length;
  if (!page.thumbs[pixels]) page.thumbs[pixels] = page.blocks.map(() => []);
  grid.painted = page.thumbs[pixels];
  grid.painted.forEach((heads, i) => heads.forEach((_, head) => paintThumb(grid, i, head)));
  if (page.data.live) poolDecoded(grid);
  whenIdle(thumbJobs(grid, pixels));
}

/** Pools heads at once: in a page that computes a run replaces another before the browser idles. */
function poolDecoded(grid) {
  page.blocks.forEach((block, i) => {
    if (!block.values) return;
    for (let head = 0; head < block.heads; head++) poolThumb(grid, i, head);
  });
}

/** Lists what fills the thumbnails: layers nearest to the shown one first. */
function thumbJobs(grid, pixels) {
  const jobs = [];
  const current = () => grid.pixels === pixels && grid.host.isConnected;
  const near = page.blocks
    .map((_, i) => i)
    .sort((a, b) => Math.abs(a - page.block) - Math.abs(b - page.block));
  for (const i of near) {
    const block = page.blocks[i];
    if (grid.painted[i].length === block.heads) continue;
    jobs.push(() => current() && block.load());
    for (let head = 0; head < block.heads; head++) {
      jobs.push(() => {
        if (!current()) return;
        poolThumb(grid, i, head);
        if (head === block.heads - 1) drawGridSoon(grid);
      });
    }
  }
  return jobs;
}

/** Keeps a thumbnail as entries of the color map, 0 where all is hidden, so that a theme can change. */
function poolThumb(grid, i, head) {
  const block = page.blocks[i];
  const wide = Math.min(block.keys, grid.pixels);
  const high = Math.min(block.queries, grid.pixels);
  const weights = block.pooled(head, wide, high);
  const levels = Uint8Array.from(weights, (weight) =>
    weight === weight ? Math.max(1, level(weight, block.max, block.mixing, true)) : 0,
  );
  grid.painted[i][head] = { levels, wide, high };
  paintThumb(grid, i, head);
}

function paintThumb(grid, i, head) {
  const { levels, wide, high } = grid.painted[i][head];
  const g = grid.atlas.getContext('2d');
  const image = g.createImageData(wide, high);
  const out = new Uint32Array(image.data.buffer);
  const { pixels } = mapOf(page.blocks[i].mixing);
  for (let p = 0; p < levels.length; p++) if (levels[p]) out[p] = pixels[levels[p]];
  g.putImageData(image, head * grid.pixels, i * grid.pixels);
}

function repaintGrid(grid) {
  grid.painted.forEach((heads, i) => heads.forEach((_, head) => paintThumb(grid, i, head)));
  drawGrid(grid);
}

function drawGridSoon(grid) {
  if (grid.soon) return;
  grid.soon = requestAnimationFrame(() => {
    grid.soon = 0;
    if (grid.host.isConnected) drawGrid(grid);
  });
}

function drawGrid(grid) {
  const { box: b } = grid;
  const wide = b.left + b.pitch * grid.count;
  const keys = 'Left and right change the head, Page Up and Page Down the layer.';
  grid.host.setAttribute('aria-label', `Heads; shown: ${headTitle()}. ${keys}`);
  if (grid.strip) return page.blocks.forEach((_, i) => drawStripRow(grid, i));
  const g = sizeCanvas(grid.rows[0], wide, b.top + b.pitch * page.blocks.length + 2);
  drawGridNames(g, grid);
  return page.blocks.forEach((block, i) => {
    for (let head = 0; head < block.heads; head++) {
      drawThumb(g, grid, i, head, b.left + head * b.pitch, b.top + i * b.pitch);
    }
  });
}

function drawGridNames(g, grid) {
  const { box: b } = grid;
  const step = labelStep(b.pitch);
  for (let head = 0; head < grid.count; head++) {
    const on = head === page.head;
    if (head % step && !on) continue;
    const x = b.left + head * b.pitch + b.size / 2;
    if (on) box(g, x - 12, 2, 24, 20, 'accentFill', 4);
    drawText(g, String(head), x, 12, { color: on ? 'accentText' : 't2', mono: true, align: 'center' });
  }
  page.blocks.forEach((block, i) => {
    const on = i === page.block;
    if (i % labelStep(b.pitch) && !on) return;
    const y = b.top + i * b.pitch + b.size / 2;
    if (on) box(g, 0, y - 11, b.left - 6, 22, 'accentFill', 4);
    drawText(g, block.label, (b.left - 6) / 2, y, {
      color: on ? 'accentText' : 't2',
      mono: true,
      align: 'center',
    });
  });
}

function drawThumb(g, grid, i, head, x, y) {
  const { size } = grid.box;
  const thumb = grid.painted[i] && grid.painted[i][head];
  if (thumb) {
    const from = [head * grid.pixels, i * grid.pixels, thumb.wide, thumb.high];
    g.imageSmoothingEnabled = false;
    g.drawImage(grid.atlas, ...from, x, y, size, size);
  } else frame(g, x, y, size, size, 'l1');
  if (i === page.block && head === page.head) frame(g, x - 2, y - 2, size + 4, size + 4, 'accent', 2);
}

function drawStripRow(grid, i) {
  const block = page.blocks[i];
  const { pitch, size, top } = grid.box;
  const g = sizeCanvas(grid.rows[i], pitch * block.heads, 76);
  for (let head = 0; head < block.heads; head++) {
    const x = 3 + head * pitch;
    const on = i === page.block && head === page.head;
    drawThumb(g, grid, i, head, x, top);
    const text = cut(headName(i, head), 7);
    drawText(g, text, x + size / 2, top + 62, {
      color: on ? 'accentText' : 't2',
      mono: true,
      align: 'center',
    });
  }
}

/** Returns the head under a point, or null. */
function headAt(grid, canvas, i, event) {
  const { box: b } = grid;
  const edge = canvas.getBoundingClientRect();
  const head = Math.floor((event.clientX - edge.left - b.left) / b.pitch);
  const row = grid.strip ? i : Math.floor((event.clientY - edge.top - b.top) / b.pitch);
  const block = page.blocks[row];
  return block && head >= 0 && head < block.heads ? { block: row, head } : null;
}

function listenToGrid(grid, canvas, i) {
  canvas.addEventListener('click', (event) => {
    const found = headAt(grid, canvas, i, event);
    if (!found) return;
    hideCard();
    pickHead(found.block, found.head);
    if (grid.opens) showView('head');
  });
  canvas.addEventListener('pointermove', (event) => {
    const found = event.pointerType === 'mouse' && headAt(grid, canvas, i, event);
    canvas.style.cursor = found ? 'pointer' : 'default';
    if (found) showHeadCard(found, event);
    else hideCard();
  });
  canvas.addEventListener('pointerleave', hideCard);
}

function showHeadCard({ block, head }, event) {
  const name = headName(block, head);
  const role = page.data.names && page.data.names[name];
  cardElement().replaceChildren(
    make('p', { class: 'pair' }, [
      make('b', { text: name }),
      make('i', { text: role ? `  ${role}` : '' }),
    ]),
  );
  placeCard(event.clientX, event.clientY - 8, event.clientY + 20);
}

/** Scrolls the shown head into view, without moving the page. */
function revealHead(grid) {
  const { host, box: b } = grid;
  const canvas = grid.rows[grid.strip ? page.block : 0];
  const x = canvas.offsetLeft + b.left + page.head * b.pitch;
  const y = b.top + page.block * b.pitch;
  if (x < host.scrollLeft || x + b.pitch > host.scrollLeft + host.clientWidth) {
    host.scrollLeft = x - (host.clientWidth - b.pitch) / 2;
  }
  if (grid.strip) return;
  if (y < host.scrollTop || y + b.pitch > host.scrollTop + host.clientHeight) {
    host.scrollTop = y - host.clientHeight / 2;
  }
}

/** Adds a grid to the page's parts. */
function showGrid(grid) {
  page.parts.push({
    showHead() {
      drawGrid(grid);
      revealHead(grid);
    },
    showTheme: () => repaintGrid(grid),
    showSize() {
      placeGrid(grid);
      drawGrid(grid);
      revealHead(grid);
    },
  });
}

/** The view of all heads. */
function makeHeadsView() {
  const root = make('section', { class: 'wide', 'aria-label': 'All heads' });
  const grid = makeGrid({ room: () => root.clientWidth, least: 24, most: 96, opens: true });
  const signed = page.blocks.some((block) => block.mixing);
  const how = signed ? ', by sign for mixing matrices' : '';
  const scale = `Square-root scale${how}; each layer to its own maximum.`;
  root.append(grid.host, make('p', { class: 'caption', text: `Click a head to open it. ${scale}` }));
  grid.host.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') showView('head');
  });
  showGrid(grid);
  return root;
}
