const FIRST_SLOTS = 1 << 12;

/**
 * Words as bytes in one piece of memory, each with a number: 0, 1, … in the order in which they came.
 * A word costs its bytes and twelve more, and is looked up without a string being made of it.
 */
export class ByteTable {
  /** Differs from table to table, so that no text can be written whose words all meet in one slot. */
  readonly seed: number;
  size = 0;
  #bytes = new Uint8Array(1 << 14);
  #ends = new Uint32Array(FIRST_SLOTS / 2);
  #hashes = new Int32Array(FIRST_SLOTS / 2);
  /** Numbers plus one; 0: free. Never more than half of them are taken. */
  #slots = new Uint32Array(FIRST_SLOTS);

  constructor() {
    this.seed = Math.floor(Math.random() * 2 ** 32) | 0;
  }

  /** A table of words that are known, in that order: `ends` says where each of them ends in `bytes`. */
  static of(bytes: Uint8Array, ends: Uint32Array): ByteTable {
    const table = new ByteTable();
    let start = 0;
    for (const end of ends) {
      table.add(bytes, start, end, table.hash(bytes, start, end));
      start = end;
    }
    return table;
  }

  hash(bytes: Uint8Array, start: number, end: number): number {
    let hash = this.seed;
    for (let at = start; at < end; at += 1) hash = stirred(hash, bytes[at] ?? 0);
    return finished(hash);
  }

  /** -1: it is not in here. */
  find(bytes: Uint8Array, start: number, end: number, hash: number): number {
    const mask = this.#slots.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const number = (this.#slots[slot] ?? 0) - 1;
      if (number === -1) return -1;
      if (this.#hashes[number] === hash && this.#isAt(number, bytes, start, end)) return number;
    }
  }

  /** The number of a word that is not in here yet. */
  add(bytes: Uint8Array, start: number, end: number, hash: number): number {
    const number = this.size;
    const from = this.startOf(number);
    const to = from + end - start;
    if (to > this.#bytes.length) this.#bytes = grown(this.#bytes, new Uint8Array(2 * to));
    if (2 * (number + 1) > this.#slots.length) this.#grow();
    this.#bytes.set(bytes.subarray(start, end), from);
    this.#ends[number] = to;
    this.#hashes[number] = hash;
    this.size = number + 1;
    this.#occupy(number, hash);
    return number;
  }

  /** Where the bytes of a word begin. */
  startOf(number: number): number {
    return number === 0 ? 0 : (this.#ends[number - 1] ?? 0);
  }

  bytesOf(number: number): Uint8Array {
    return this.#bytes.subarray(this.startOf(number), this.#ends[number] ?? 0);
  }

  #isAt(number: number, bytes: Uint8Array, start: number, end: number): boolean {
    const from = this.startOf(number);
    if ((this.#ends[number] ?? 0) - from !== end - start) return false;
    for (let at = start, held = from; at < end; at += 1, held += 1) {
      if (this.#bytes[held] !== bytes[at]) return false;
    }
    return true;
  }

  #grow(): void {
    const slots = 2 * this.#slots.length;
    this.#ends = grown(this.#ends, new Uint32Array(slots / 2));
    this.#hashes = grown(this.#hashes, new Int32Array(slots / 2));
    this.#slots = new Uint32Array(slots);
    for (let number = 0; number < this.size; number += 1) {
      this.#occupy(number, this.#hashes[number] ?? 0);
    }
  }

  #occupy(number: number, hash: number): void {
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
    this.#slots[slot] = number + 1;
  }
}

/** The hash of a word, byte by byte: begins with the table's seed, ends with `finished`. FNV-1a. */
export function stirred(hash: number, byte: number): number {
  return Math.imul(hash ^ byte, 0x01000193);
}

/** All of its bits count where only the lowest choose the slot. From MurmurHash3. */
export function finished(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}

/** What `larger` is once it holds what was there before. */
export function grown<T extends Uint8Array | Uint32Array | Int32Array>(before: T, larger: T): T {
  larger.set(before);
  return larger;
}
