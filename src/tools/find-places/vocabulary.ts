import { termsOf } from '../../base/code/tokens.ts';
import { ByteTable } from './byte-table.ts';

const MAX_KNOWN_TOKENS = 100_000;
/** From here on a piece of a string holds on to the whole. */
const SLICED_CHARS = 13;
/** Three bytes for each code unit are the most that UTF-8 takes. */
const MAX_UNIT_BYTES = 3;

/** All terms of a workspace, each with a number. */
export class Vocabulary {
  readonly #table: ByteTable;
  /** Of what questions and their candidates name: each is taken apart once. */
  readonly #ofTokens = new Map<string, readonly number[]>();
  #scratch = Buffer.alloc(1024);

  constructor(table = new ByteTable()) {
    this.#table = table;
  }

  get size(): number {
    return this.#table.size;
  }

  /** Its terms as bytes in UTF-8, by their numbers. */
  get table(): ByteTable {
    return this.#table;
  }

  find(term: string): number | undefined {
    const end = this.#write(term);
    const hash = this.#table.hash(this.#scratch, 0, end);
    const number = this.#table.find(this.#scratch, 0, end, hash);
    return number === -1 ? undefined : number;
  }

  /** In the order of their numbers. */
  *terms(): Generator<string> {
    for (let number = 0; number < this.size; number += 1) {
      const { buffer, byteOffset, byteLength } = this.#table.bytesOf(number);
      yield Buffer.from(buffer, byteOffset, byteLength).toString('utf8');
    }
  }

  add(term: string): number {
    const end = this.#write(term);
    const hash = this.#table.hash(this.#scratch, 0, end);
    const number = this.#table.find(this.#scratch, 0, end, hash);
    return number === -1 ? this.#table.add(this.#scratch, 0, end, hash) : number;
  }

  /** The terms of an identifier or a word; new ones are added. */
  numbersOf(token: string): readonly number[] {
    const known = this.#ofTokens.get(token);
    if (known !== undefined) return known;
    const numbers = termsOf(token).map((term) => this.add(term));
    if (this.#ofTokens.size < MAX_KNOWN_TOKENS) this.#ofTokens.set(ownCopy(token), numbers);
    return numbers;
  }

  /** Into the scratch; how many bytes it is. */
  #write(term: string): number {
    const most = MAX_UNIT_BYTES * term.length;
    if (most > this.#scratch.length) this.#scratch = Buffer.alloc(2 * most);
    return this.#scratch.write(term, 'utf8');
  }
}

/** A string of its own: a piece would keep the whole file that it was cut from. */
export function ownCopy(text: string): string {
  return text.length < SLICED_CHARS ? text : Buffer.from(text, 'utf16le').toString('utf16le');
}
