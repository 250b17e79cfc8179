// The logit lens: the most probable tokens after each position, read from each layer.

function makeLensView() {
  const root = make('section', { class: 'wide', 'aria-label': 'Prediction' });
  const { lens } = page.data;
  const part = {
    root,
    cells: [],
    at: { row: lens.layers.length - 1, column: lens.tokens_after.length - 1 },
  };
  const table = make('table', { class: 'lens' }, [
    make('thead', {}, [lensHead()]),
    make('tbody', {}, lensRows(part)),
  ]);
  const scroll = make('div', { class: 'scroll' }, [table]);
  part.top = make('ol', { class: 'keys' });
  part.name = make('p', { class: 'pair' });
  root.append(
    make('p', {
      class: 'caption',
      text:
        'Logit lens: the most probable next token, read from the residual stream ' +
        'after each layer. The shade is its probability, square-root scale.',
    }),
    scroll,
    make('section', { class: 'lens-cell', 'aria-live': 'polite' }, [part.name, part.top]),
  );
  listenToLens(part, table);
  page.parts.push({ showTheme: () => shadeLens(part), showSize() {} });
  shadeLens(part);
  pointLens(part, part.at.row, part.at.column, false);
  requestAnimationFrame(() => {
    scroll.scrollLeft = scroll.scrollWidth;
  });
  return root;
}

/** Returns the tokens that the lens reads after: those of the last queries. */
function lensTokens() {
  const { lens, sequences } = page.data;
  if (lens.sequence !== undefined) return sequences[lens.sequence].tokens;
  return page.blocks[page.blocks.length - 1].queryTokens;
}

function lensHead() {
  const tokens = lensTokens();
  return make('tr', {}, [
    make('th', { class: 'dim', scope: 'col', text: 'layer' }),
    ...page.data.lens.tokens_after.map((position) =>
      make('th', { scope: 'col' }, [
        make('i', { text: String(position) }),
        makeToken(tokens[position] || '', {}, 10),
      ]),
    ),
  ]);
}

function lensRows(part) {
  return page.data.lens.layers.map((layer, row) => {
    part.cells[row] = layer.top.map((top, column) => {
      const cell = make('td', { tabindex: '-1', 'data-row': row, 'data-column': column });
      if (top.length) cell.append(makeToken(top[0][0], { title: undefined }, 10));
      return cell;
    });
    return make('tr', {}, [make('th', { scope: 'row', text: layer.label }), ...part.cells[row]]);
  });
}

function shadeLens(part) {
  page.data.lens.layers.forEach((layer, row) =>
    layer.top.forEach((top, column) => {
      const color = colorOf(top.length ? top[0][1] : 0, 1, false, true);
      const { style } = part.cells[row][column];
      style.backgroundColor = color;
      style.color = inkOn(color);
    }),
  );
}

/** Shows the five most probable tokens of a cell. */
function pointLens(part, row, column, focus) {
  const { lens } = page.data;
  const before = part.cells[part.at.row][part.at.column];
  before.classList.remove('on');
  before.tabIndex = -1;
  part.at = { row, column };
  const cell = part.cells[row][column];
  cell.classList.add('on');
  cell.tabIndex = 0;
  if (focus) {
    cell.focus({ preventScroll: true });
    cell.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }
  const position = lens.tokens_after[column];
  const name = lens.layers[row].label;
  part.name.replaceChildren(
    make('i', { text: `${/^\d/.test(name) ? `layer ${name}` : name}, after ` }),
    makeToken(lensTokens()[position] || '', { class: 'query' }, 24),
    make('i', { text: ` ${position}` }),
  );
  part.top.replaceChildren(
    ...lens.layers[row].top[column].map(([token, share], i) => {
      const shown = makeKeyRow();
      shown.root.className = i ? '' : 'on';
      setText(shown.index, String(i + 1));
      setText(shown.token, label(token, 16));
      setText(shown.amount, percent(share));
      shown.bar.style.width = `${(100 * share).toFixed(1)}%`;
      return shown.root;
    }),
  );
}

function listenToLens(part, table) {
  const cellOf = (event) => {
    const cell = event.target.closest('td');
    return cell && [Number(cell.dataset.row), Number(cell.dataset.column)];
  };
  table.addEventListener('pointerover', (event) => {
    const at = cellOf(event);
    if (at) pointLens(part, ...at, false);
  });
  table.addEventListener('click', (event) => {
    const at = cellOf(event);
    if (at) pointLens(part, ...at, true);
  });
  table.addEventListener('keydown', (event) => {
    const by = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[
      event.key
    ];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    const row = Math.max(0, Math.min(part.cells.length - 1, part.at.row + by[0]));
    const column = Math.max(0, Math.min(part.cells[row].length - 1, part.at.column + by[1]));
    pointLens(part, row, column, true);
  });
}
