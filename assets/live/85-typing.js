// The text field of a page that computes: sends what is typed to the worker, and shows what it answers. While
// it answers, only the latest text waits.

const typing = { worker: null, field: null, said: null, busy: true, waiting: false, shown: '', fresh: true };

/** Puts the field in the place of the title, and starts the engine. */
function startTyping(data) {
  const title = byId('title');
  title.className = 'unseen';
  const field = make('textarea', {
    class: 'typed tool',
    id: 'typed',
    rows: '1',
    dir: 'auto',
    spellcheck: 'false',
    autocomplete: 'off',
    placeholder: 'Type a text',
    'aria-label': 'Text; every head reads it as you type',
    'aria-describedby': 'said',
  });
  field.value = data.live.text;
  const said = make('p', { class: 'status', id: 'said', role: 'status' });
  title.after(field, make('div', { class: 'under' }, [byId('where'), said]));
  Object.assign(typing, { field, said, shown: field.value });
  field.addEventListener('input', () => {
    fitField();
    ask();
  });
  field.addEventListener('keydown', keyInField);
  page.pick = (token) => {
    field.setRangeText(token, field.value.length, field.value.length, 'end');
    field.dispatchEvent(new Event('input'));
  };
  page.whenShown = askAgain;
  addEventListener('resize', fitField);
  fitField();
  field.setSelectionRange(field.value.length, field.value.length);
  if (!matchMedia('(pointer: coarse)').matches) field.focus({ preventScroll: true }); // opens no keyboard
  say('Opening the model …');
  startWorker(data.live.files);
}

/** Makes the worker from the page's own text: a page from a file can load no other. */
function startWorker(files) {
  const source = `${bytesOf}\n${inflate}\n(${engineWorker})();`;
  const address = URL.createObjectURL(new Blob([source], { type: 'text/javascript' }));
  typing.worker = new Worker(address);
  URL.revokeObjectURL(address);
  typing.worker.onmessage = ({ data }) => takeAnswer(data);
  typing.worker.onerror = () => say('This browser cannot run the model here; open the page in a newer one.');
  const taken = (id) => {
    const element = byId(id);
    const text = element.textContent;
    element.remove(); // frees it
    return text;
  };
  typing.worker.postMessage({ files, model: taken('model'), code: taken('engine') });
}

const say = (text) => setText(typing.said, text);

/** Grows the field with its text, up to three lines. */
function fitField() {
  const { field } = typing;
  field.style.height = 'auto';
  field.style.height = `${Math.min(field.scrollHeight + 2, 100)}px`;
}

/** Keeps the page's keys out of the field; Escape leaves it. */
function keyInField(event) {
  event.stopPropagation();
  if (event.key !== 'Escape') return;
  const map = document.querySelector('[data-focus="map"]') || byId('tabs').querySelector('[tabindex="0"]');
  if (map) map.focus();
}

function ask() {
  if (typing.busy) {
    typing.waiting = true;
    return;
  }
  typing.busy = true;
  typing.waiting = false;
  const text = typing.field.value.replace(/[\ud800-\udfff]/gu, '\ufffd'); // halves of a character
  const question = { text, lens: page.view === 'lens' };
  typing.asked = question;
  typing.worker.postMessage(question);
}

/** Asks for the predictions of all layers only where they are shown. */
function askAgain(view) {
  if (view === 'lens' && !typing.fresh) ask();
}

function takeAnswer(answer) {
  typing.busy = !!answer.ended;
  if (answer.context) {
    say('Type: every head reads along.');
    if (typing.field.value !== typing.shown) ask();
    return;
  }
  if (answer.error) sayError(answer.error);
  else showRun(answer);
  if (typing.waiting && !answer.ended) ask();
}

function sayError(sentence) {
  say(sentence);
  byId('main').classList.add('before');
}

/** Shows a run in the place of the one before: the head, the view and a lock stay. */
function showRun({ blocks, sequences, next, lens, left_out: left, weights, took }) {
  const { text } = typing.asked;
  typing.shown = text;
  typing.fresh = !!lens;
  typing.took = took;
  Object.assign(page.data, { sequences, next, lens: lens || page.data.lens, title: text });
  page.blocks = blocks.map((spec) => {
    const block = new Block(spec, sequences);
    block.take(weights.subarray(spec.first, spec.first + spec.count));
    return block;
  });
  page.thumbs = {};
  keepPlace();
  document.title = oneLine(text);
  byId('title').textContent = oneLine(text);
  byId('main').classList.remove('before');
  say(left ? `The last ${left} tokens are left out: the model reads ${sequences[0].tokens.length}.` : '');
  showView(page.table ? 'table' : page.view);
}

/** Keeps the lock where its token is still there, and follows the last token else. */
function keepPlace() {
  const { queries, keys } = shownBlock();
  const { lock } = page;
  if (lock && (lock.q >= queries || lock.k >= keys)) page.lock = null;
  page.hover = null;
  page.rest = { q: queries - 1, k: -1 };
}
