/** A cache of limited size whose entries can expire. */
export class Cache {
  #entries = new Map();
  #max;
  #ttlMs;
  #now;
  #onGet;

  constructor({ max, ttlMs, now = Date.now, onGet = () => {} }) {
    this.#max = max;
    this.#ttlMs = ttlMs;
    this.#now = now;
    this.#onGet = onGet;
  }

  get size() {
    return this.#entries.size;
  }

  set(key, value, { ttlMs = this.#ttlMs } = {}) {
    if (this.#entries.size >= this.#max) {
      const [oldest] = this.#entries.keys();
      this.#entries.delete(oldest);
    }
    this.#entries.set(key, { value, expiresAt: ttlMs ? this.#now() + ttlMs : 0 });
    return this;
  }

  get(key) {
    const entry = this.#entries.get(key);
    this.#onGet(Boolean(entry));
    return entry?.value;
  }

  peek(key) {
    return this.get(key);
  }

  has(key) {
    return this.get(key) !== undefined;
  }

  delete(key) {
    return this.#entries.delete(key);
  }

  keys() {
    return [...this.#entries.keys()];
  }
}
