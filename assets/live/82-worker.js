// Runs beside the page: holds the engine and the model, and answers texts one after another. Its source is
// given to a worker, so it uses nothing of the page but what 85-typing.js gives with it.

function engineWorker() {
  let engine = null;

  const memory = () => new Uint8Array(engine.memory.buffer);

  /** Gives the engine what it asks of a system: it has no clock, no output and no environment. */
  function system(module) {
    const ENOSYS = 52;
    const imports = {};
    for (const { module: from, name } of WebAssembly.Module.imports(module)) {
      if (!imports[from]) imports[from] = {};
      imports[from][name] = () => (name.startsWith('__syscall') ? -ENOSYS : ENOSYS);
    }
    return imports;
  }

  function put(text) {
    const bytes = new TextEncoder().encode(text);
    memory().set(bytes, engine.live_text(bytes.length));
  }

  /** Reads the JSON that ends at a zero. */
  function answerAt(at) {
    const bytes = memory();
    return JSON.parse(new TextDecoder().decode(bytes.subarray(at, bytes.indexOf(0, at))));
  }

  async function open({ code, model, files }) {
    const [module, bytes] = await Promise.all([
      inflate(bytesOf(code)).then((wasm) => WebAssembly.compile(wasm)),
      inflate(bytesOf(model)),
    ]);
    engine = (await WebAssembly.instantiate(module, system(module))).exports;
    if (engine._initialize) engine._initialize();
    let at = 0;
    for (const file of files) {
      put(file.name);
      const place = engine.live_file(file.bytes);
      memory().set(bytes.subarray(at, at + file.bytes), place);
      at += file.bytes;
    }
    return answerAt(engine.live_open());
  }

  function run(question) {
    put(JSON.stringify(question));
    const answer = answerAt(engine.live_run());
    const last = answer.blocks && answer.blocks[answer.blocks.length - 1];
    const count = last ? last.first + last.count : 0;
    answer.weights = new Float32Array(engine.memory.buffer, engine.live_weights(), count).slice();
    return answer;
  }

  onmessage = async ({ data }) => {
    const began = performance.now();
    try {
      const answer = data.code ? await open(data) : run(data);
      answer.took = performance.now() - began;
      postMessage(answer, answer.weights ? [answer.weights.buffer] : []);
    } catch (error) {
      const sentence = `The model stopped (${error.message || error}): open the page again.`;
      postMessage({ error: sentence, ended: true });
    }
  };
}
