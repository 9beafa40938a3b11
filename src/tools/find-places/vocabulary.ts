import { termsOf } from '../../base/code/tokens.ts';

const MAX_KNOWN_TOKENS = 200_000;
/** From here on a piece of a string holds on to the whole. */
const SLICED_CHARS = 13;

/** All terms of a workspace, each with a number. */
export class Vocabulary {
  readonly #numbers = new Map<string, number>();
  /** Names repeat: each is taken apart once. */
  readonly #ofTokens = new Map<string, readonly number[]>();

  get size(): number {
    return this.#numbers.size;
  }

  find(term: string): number | undefined {
    return this.#numbers.get(term);
  }

  /** In the order of their numbers. */
  terms(): Iterable<string> {
    return this.#numbers.keys();
  }

  add(term: string): number {
    const known = this.#numbers.get(term);
    if (known !== undefined) return known;
    const added = this.#numbers.size;
    this.#numbers.set(ownCopy(term), added);
    return added;
  }

  /** The terms of an identifier or a word; new ones are added. */
  numbersOf(token: string): readonly number[] {
    const known = this.#ofTokens.get(token);
    if (known !== undefined) return known;
    const numbers = termsOf(token).map((term) => this.add(term));
    if (this.#ofTokens.size < MAX_KNOWN_TOKENS) this.#ofTokens.set(ownCopy(token), numbers);
    return numbers;
  }
}

/** A string of its own: a piece would keep the whole file that it was cut from. */
function ownCopy(text: string): string {
  return text.length < SLICED_CHARS ? text : Buffer.from(text, 'utf16le').toString('utf16le');
}
