// Reads the data block, and decodes the weights of a block when they are first needed.

const FORMAT = 'headlight-page';
const VERSION = 1;

/** Returns the page's data. Throws an Error with one sentence if this page cannot show it. */
function readData() {
  const data = JSON.parse(document.getElementById('headlight').textContent);
  if (data.format !== FORMAT) throw new Error('The data of this page are not a Headlight page.');
  if (data.version > VERSION) {
    throw new Error('The data of this page were saved by a newer version of Headlight.');
  }
  if (!data.blocks.length && !(data.figures || []).length) throw new Error('This page contains no heads.');
  return data;
}

function bytesOf(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

async function inflate(bytes) {
  const raw = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return new Uint8Array(await new Response(raw).arrayBuffer());
}

/** Joins the planes of low and high bytes, which compress better apart. */
function joinPlanes(bytes) {
  const count = bytes.length >> 1;
  const values = new Uint16Array(count);
  for (let i = 0; i < count; i++) values[i] = bytes[i] | (bytes[count + i] << 8);
  return values;
}

/** Reads little-endian floats on any computer, from bytes that need not be aligned. */
function floatsOf(bytes) {
  const values = new Float32Array(bytes.length >> 2);
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  for (let i = 0; i < values.length; i++) values[i] = view.getFloat32(4 * i, true);
  return values;
}

/** The heads of one attention block: [head, query, key], decoded by load(). */
class Block {
  constructor(spec, sequences) {
    Object.assign(this, {
      label: String(spec.label),
      heads: spec.heads,
      queries: spec.queries,
      keys: spec.keys,
      mixing: spec.kind === 'mixing',
      sink: !!spec.sink,
      lower: spec.rows === 'lower',
      max: spec.sink ? 1 : spec.max || 1,
      spec, // a sink may take more than any key
    });
    this.queryTokens = sequences[spec.query_tokens].tokens;
    this.keyTokens = sequences[spec.key_tokens].tokens;
    this.queryName = sequences[spec.query_tokens].name;
    this.keyName = sequences[spec.key_tokens].name;
    this.oneText = spec.query_tokens === spec.key_tokens;
    this.values = null;
    this.masked = this.readMasked(spec.hidden || []);
  }

  readMasked(runs) {
    if (!runs.length) return null;
    const masked = new Uint8Array(this.queries * this.keys);
    for (const [q, first, last] of runs) {
      masked.fill(1, q * this.keys + first, q * this.keys + last + 1);
    }
    return masked;
  }

  load() {
    if (!this.loading) this.loading = this.decode();
    return this.loading;
  }

  async decode() {
    const bytes = await inflate(bytesOf(this.spec.data));
    const whole = this.spec.encoding === 'u16';
    const values = whole ? joinPlanes(bytes) : floatsOf(bytes);
    if (values.length < this.heads * this.headSize()) {
      throw new Error(`The weights of ${blockName(this)} are cut short.`);
    }
    this.take(values);
    this.spec.data = ''; // frees the text, which is larger than the weights
  }

  /** Takes weights as they are encoded. */
  take(values) {
    const whole = this.spec.encoding === 'u16';
    this.zero = whole && this.mixing ? 32768 : 0;
    this.unit = whole ? 1 / (this.mixing ? 32767 : 65535) : 1;
    this.values = values;
    this.loading = this.loading || Promise.resolve();
  }

  headSize() {
    return this.lower ? (this.queries * (this.queries + 1)) / 2 : this.queries * this.keys;
  }

  start(head, q) {
    return head * this.headSize() + (this.lower ? (q * (q + 1)) / 2 : q * this.keys);
  }

  /** Returns how many keys of this row are stored; the rest are later than the query. */
  stored(q) {
    return this.lower ? q + 1 : this.keys;
  }

  hidden(q, k) {
    return k >= this.stored(q) || (this.masked !== null && this.masked[q * this.keys + k] === 1);
  }

  scale(head) {
    const scale = Array.isArray(this.spec.scale) ? this.spec.scale[head] : this.spec.scale;
    return this.unit * (this.spec.encoding === 'u16' ? scale : 1);
  }

  at(head, q, k) {
    if (this.hidden(q, k)) return NaN;
    return (this.values[this.start(head, q) + k] - this.zero) * this.scale(head);
  }

  /** Returns the weights of a row, NaN where the mask hides a key. */
  row(head, q) {
    const row = new Float32Array(this.keys).fill(NaN);
    const from = this.start(head, q);
    const scale = this.scale(head);
    for (let k = 0; k < this.stored(q); k++) {
      if (!this.hidden(q, k)) row[k] = (this.values[from + k] - this.zero) * scale;
    }
    return row;
  }

  column(head, k) {
    return Float32Array.from({ length: this.queries }, (_, q) => this.at(head, q, k));
  }

  /** Returns what softmax leaves to the head's sink: 1 − the row's sum. */
  sinkWeight(row) {
    let sum = 0;
    for (const weight of row) if (weight === weight) sum += weight;
    return Math.max(0, 1 - sum);
  }

  /** Returns [high, wide] weights, each the largest in size of those it covers; NaN: all hidden. */
  pooled(head, wide, high) {
    const { keys, queries, masked, zero, values } = this;
    const best = new Float32Array(wide * high).fill(NaN);
    const scale = this.scale(head);
    const columns = Int32Array.from({ length: keys }, (_, k) => Math.floor((k * wide) / keys));
    for (let q = 0; q < queries; q++) {
      const line = Math.floor((q * high) / queries) * wide;
      const from = this.start(head, q);
      for (let k = 0, end = this.stored(q); k < end; k++) {
        if (masked !== null && masked[q * keys + k]) continue;
        const value = values[from + k] - zero;
        const at = line + columns[k];
        if (!(Math.abs(value) <= Math.abs(best[at]))) best[at] = value;
      }
    }
    for (let i = 0; i < best.length; i++) best[i] *= scale;
    return best;
  }
}

/** A − B of two blocks that read the same tokens; answers as a Block does. */
class Difference {
  constructor(a, b) {
    Object.assign(this, {
      a,
      b,
      label: a.label,
      heads: a.heads,
      queries: a.queries,
      keys: a.keys,
      mixing: true,
      sink: false,
      queryTokens: a.queryTokens,
      keyTokens: a.keyTokens,
      max: 1,
    });
  }

  hidden(q, k) {
    return this.a.hidden(q, k) || this.b.hidden(q, k);
  }

  at(head, q, k) {
    return this.a.at(head, q, k) - this.b.at(head, q, k);
  }

  row(head, q) {
    const b = this.b.row(head, q);
    return this.a.row(head, q).map((weight, k) => weight - b[k]);
  }

  pooled(head, wide, high) {
    const best = new Float32Array(wide * high).fill(NaN);
    for (let q = 0; q < this.queries; q++) {
      const row = this.row(head, q);
      const line = Math.floor((q * high) / this.queries) * wide;
      for (let k = 0; k < this.keys; k++) {
        const value = row[k];
        const at = line + Math.floor((k * wide) / this.keys);
        if (value === value && !(Math.abs(value) <= Math.abs(best[at]))) best[at] = value;
      }
    }
    return best;
  }
}

function blockName(block) {
  return /^\d/.test(block.label) ? `layer ${block.label}` : block.label;
}
