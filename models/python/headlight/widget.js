// The widget of headlight.view: the page in a frame of its own, whose head and lock are the model's `shown`.

function render({ model, el }) {
  const frame = document.createElement('iframe');
  frame.title = 'Headlight';
  frame.setAttribute('sandbox', 'allow-scripts allow-downloads');
  frame.className = 'headlight'; // of pages.CSS
  frame.style.height = `${model.get('height')}px`;
  frame.srcdoc = model.get('page');
  const send = () => {
    const asked = model.get('asked');
    if (asked && frame.contentWindow) frame.contentWindow.postMessage({ headlight: asked }, '*');
  };
  // What Python asked for before there was a page; until it is there, the page tells its own beginning.
  let ready = false;
  let before = 0;
  const isAsked = ({ head, locked }) => {
    const asked = model.get('asked');
    return head === asked.head && (locked || [null])[0] === (asked.locked || [null])[0];
  };
  const listen = ({ source, data }) => {
    if (source !== frame.contentWindow || !data || !data.headlight) return;
    const { head, locked } = data.headlight;
    if (!ready && model.get('asked')) {
      before = 3; // its beginning, a head and a lock
      send();
    }
    ready = true;
    before = before && isAsked(data.headlight) ? 0 : Math.max(0, before - 1);
    if (before) return;
    model.set('shown', { head: String(head), locked: locked && locked.map(Number) });
    model.save_changes();
  };
  window.addEventListener('message', listen);
  model.on('change:asked', send);
  el.append(frame);
  return () => {
    window.removeEventListener('message', listen);
    model.off('change:asked', send);
  };
}

export default { render };
