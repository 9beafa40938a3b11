const ESC = '\u001b';
const BELL = '\u0007';
/** A complete reply to `ESC ] 11 ; ? BEL`. */
const ANSWER = new RegExp(`^${ESC}\\]11;([^${BELL}${ESC}]*)(?:${BELL}|${ESC}\\\\)$`);
/** The beginning of such a reply. A color is at most `rgba:` and four numbers of four digits. */
const BEGINNING = new RegExp(`^${ESC}(?:\\](?:1(?:1(?:;[0-9a-f/:rgb#]{0,40}${ESC}?)?)?)?)?$`, 'i');
/** Strings that terminals send and no key does: OSC, DCS, APC, PM, SOS, complete or cut off. */
const STRING = new RegExp(`^${ESC}[\\]P_^X][^]`);

/** A user can't have typed this. */
const CERTAIN = `${ESC}]11`;

/** The time until a reply must begin. Whatever looks like one later was typed. */
const PATIENCE_MS = 5_000;
/** The longest time between two pieces of a reply. */
const GAP_MS = 1_000;

/** Input after the replies have been removed. */
export interface Heard {
  /** Keys in their order, including those that were held back and turned out to be typed. */
  readonly keys: readonly string[];
  /** The reported background; null if there was no report. */
  readonly background: Background | null;
}

/**
 * Separates the replies of a terminal from keys. A reply may come late, in pieces, never, or wrong: no piece of it is
 * ever taken for a key, and no key is lost.
 */
export class TerminalAnswers {
  private readonly now: () => number;
  private askedAt: number | null = null;
  /** The pieces of a reply, or of what may become one. */
  private begun = '';
  private begunAt = 0;
  /** The pieces that the editor did not get. A single Esc is passed on at once. */
  private held: string[] = [];

  /** `now` returns the milliseconds of any clock. */
  constructor(now: () => number) {
    this.now = now;
  }

  /** Notes that the background was asked for now. */
  asked(): void {
    this.askedAt = this.now();
  }

  /** Reads a piece of input, as the library splits it. */
  hear(data: string): Heard {
    if (this.begun === '') return this.begin(data);
    const whole = this.begun + data;
    const isLate = this.now() - this.begunAt > GAP_MS;
    if (!isLate && ANSWER.test(whole)) return this.answered(whole);
    if (!isLate && BEGINNING.test(whole)) return this.hold(data, whole);
    const typed = this.begun.startsWith(CERTAIN) ? [] : this.held;
    this.forget();
    const next = this.begin(data);
    return { ...next, keys: [...typed, ...next.keys] };
  }

  private begin(data: string): Heard {
    if (ANSWER.test(data)) return this.answered(data);
    if (this.awaits && BEGINNING.test(data)) return this.hold(data, data);
    return { keys: STRING.test(data) ? [] : [data], background: null };
  }

  private get awaits(): boolean {
    return this.askedAt !== null && this.now() - this.askedAt < PATIENCE_MS;
  }

  private hold(data: string, whole: string): Heard {
    this.begun = whole;
    this.begunAt = this.now();
    // Esc is a key that must work at once. If it was no key, it did nothing at the start.
    if (whole === ESC) return { keys: [data], background: null };
    this.held.push(data);
    return { keys: [], background: null };
  }

  private answered(whole: string): Heard {
    const [, color = ''] = ANSWER.exec(whole) ?? [];
    const isAwaited = this.askedAt !== null;
    this.forget();
    this.askedAt = null;
    return { keys: [], background: isAwaited ? backgroundOf(color) : null };
  }

  private forget(): void {
    this.begun = '';
    this.held = [];
  }
}

export type Background = 'dark' | 'light';

/** The weights of red, green and blue for the brightness, by ITU-R BT.709. */
const WEIGHTS = [0.2126, 0.7152, 0.0722] as const;

/**
 * Reads the color of a background: `rgb:ffff/ffff/ffff`, `rgba:…` or `#ffffff`, with one to four digits a
 * part. Returns null for any other text.
 */
export function backgroundOf(color: string): Background | null {
  const parts = partsOf(color.trim());
  if (parts === null) return null;
  const light = WEIGHTS.reduce((sum, weight, index) => sum + weight * (parts[index] ?? 0), 0);
  return light > 0.5 ? 'light' : 'dark';
}

/** Red, green and blue, from 0 to 1. */
function partsOf(color: string): readonly number[] | null {
  const [, numbers] = /^rgba?:([0-9a-f]{1,4}(?:\/[0-9a-f]{1,4}){2,3})$/i.exec(color) ?? [];
  if (numbers !== undefined) return numbers.split('/').map(share);
  const [, digits] = /^#((?:[0-9a-f]{3}){1,4})$/i.exec(color) ?? [];
  if (digits === undefined) return null;
  const each = digits.length / 3;
  return [0, 1, 2].map((index) => share(digits.slice(index * each, (index + 1) * each)));
}

function share(digits: string): number {
  return Number.parseInt(digits, 16) / (16 ** digits.length - 1);
}
