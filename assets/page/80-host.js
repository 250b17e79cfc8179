// Talks with the notebook whose frame holds the page: says the head and the lock when they change, and takes
// both. Only numbers leave the page, never a token or a weight.

/** Listed beside page.parts, which a change of view empties. */
const host = {
  told: '',
  showHead: () => tellHost(),
  showCell: () => tellHost(),
};

function tellHost() {
  if (window.parent === window || !page.blocks.length) return;
  const { lock } = page;
  const said = { head: headName(), locked: lock && [lock.q, shownKey(lock)] };
  if (JSON.stringify(said) === host.told) return;
  host.told = JSON.stringify(said);
  window.parent.postMessage({ headlight: said }, '*');
}

/** Returns the key of a lock; −1 stands for the strongest of its row. */
const shownKey = ({ q, k }) => (k < 0 ? strongest(shownBlock().row(page.head, q)) : k);

const isIndex = (value, count) => Number.isInteger(value) && value >= 0 && value < count;

/** Returns block and head of a name such as "1.2" or "cross.1.2", or null. */
function headNamed(name) {
  const at = String(name).lastIndexOf('.');
  const block = page.blocks.findIndex(({ label }) => label === String(name).slice(0, at));
  const head = Number(String(name).slice(at + 1));
  return block >= 0 && isIndex(head, page.blocks[block].heads) ? { block, head } : null;
}

async function obeyHost({ head, locked }) {
  const named = headNamed(head);
  if (named && (named.block !== page.want.block || named.head !== page.want.head)) {
    await openHead(named.block, named.head);
  }
  if (locked === undefined) return;
  const { queries, keys } = shownBlock();
  const cell = Array.isArray(locked) && isIndex(locked[0], queries) && (locked[1] === -1 || isIndex(locked[1], keys));
  if (cell) page.rest = { q: locked[0], k: locked[1] };
  page.lock = cell ? page.rest : null;
  tell('showCell');
}

addEventListener('message', ({ source, data }) => {
  if (source !== window.parent || window.parent === window || !page.data || !page.blocks.length) return;
  if (data && typeof data.headlight === 'object' && data.headlight) obeyHost(data.headlight).catch(showFault);
});
