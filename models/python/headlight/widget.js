// The widget of headlight.view: the page in a frame of its own, whose head and lock are the model's `shown`.

function render({ model, el }) {
  const frame = document.createElement('iframe');
  frame.title = 'Headlight';
  frame.setAttribute('sandbox', 'allow-scripts allow-downloads');
  frame.style.cssText = `width: 100%; height: ${model.get('height')}px; border: 0`;
  frame.srcdoc = model.get('page');
  const send = () => {
    const asked = model.get('asked');
    if (asked && frame.contentWindow) frame.contentWindow.postMessage({ headlight: asked }, '*');
  };
  let ready = false;
  const listen = ({ source, data }) => {
    if (source !== frame.contentWindow || !data || !data.headlight) return;
    const { head, locked } = data.headlight;
    if (!ready) send(); // what Python asked for before there was a page
    ready = true;
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
