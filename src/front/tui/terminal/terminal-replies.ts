const ESC = '\u001b';
const BELL = '\u0007';
/** A terminal's answer to `ESC ] 11 ; ? BEL`, whole. */
const ANSWER = new RegExp(`^${ESC}\\]11;([^${BELL}${ESC}]*)(?:${BELL}|${ESC}\\\\)$`);
/** The beginning of one, as far as it can be one: a colour is at most `rgba:` and four numbers of four digits. */
const BEGINNING = new RegExp(`^${ESC}(?:\\](?:1(?:1(?:;[0-9a-f/:rgb#]{0,40}${ESC}?)?)?)?)?$`, 'i');
/** Strings that terminals send and no key does: OSC, DCS, APC, PM, SOS, whole or cut off. */
const STRING = new RegExp(`^${ESC}[\\]P_^X][^]`);

/** From here on it can be nothing that a person has typed. */
const CERTAIN = `${ESC}]11`;

/** How long a terminal may take to begin with its answer; what looks like one later is typed. */
const PATIENCE_MS = 5_000;
/** Between two pieces of one. */
const GAP_MS = 1_000;

/** What becomes of input. */
export interface Heard {
  /** Keys, in their order: what was held back that proved to be typed, and the input itself unless it is taken. */
  readonly keys: readonly string[];
  /** Null: nothing was learned. */
  readonly background: Background | null;
}

/**
 * Tells a terminal's answers from keys. An answer may come late, in pieces, never, or wrong: nothing of it is ever
 * taken for something typed, and nothing typed is lost.
 */
export class TerminalAnswers {
  private readonly now: () => number;
  private askedAt: number | null = null;
  /** What has come of an answer, or of what may become one. */
  private begun = '';
  private begunAt = 0;
  /** What of it was kept from the editor: an Esc by itself is passed on at once. */
  private held: string[] = [];

  /** `now`: milliseconds of any clock. */
  constructor(now: () => number) {
    this.now = now;
  }

  /** The background is asked for now. */
  asked(): void {
    this.askedAt = this.now();
  }

  /** `data`: a key, or what a terminal has sent, as the library splits its input. */
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
    // Esc is a key that must act at once; were it no key, all it does at the start is nothing.
    if (whole === ESC) return { keys: [data], background: null };
    this.held.push(data);
    return { keys: [], background: null };
  }

  private answered(whole: string): Heard {
    const [, colour = ''] = ANSWER.exec(whole) ?? [];
    const isAwaited = this.askedAt !== null;
    this.forget();
    this.askedAt = null;
    return { keys: [], background: isAwaited ? backgroundOf(colour) : null };
  }

  private forget(): void {
    this.begun = '';
    this.held = [];
  }
}

export type Background = 'dark' | 'light';

/** How bright the colours of light make it, by ITU-R BT.709. */
const WEIGHTS = [0.2126, 0.7152, 0.0722] as const;

/**
 * What a terminal says of its background, as `rgb:ffff/ffff/ffff`, `rgba:…` or `#ffffff`, with one to four
 * digits a part. Null: it is none of these.
 */
export function backgroundOf(colour: string): Background | null {
  const parts = partsOf(colour.trim());
  if (parts === null) return null;
  const light = WEIGHTS.reduce((sum, weight, index) => sum + weight * (parts[index] ?? 0), 0);
  return light > 0.5 ? 'light' : 'dark';
}

/** Red, green and blue, 0 to 1. */
function partsOf(colour: string): readonly number[] | null {
  const [, numbers] = /^rgba?:([0-9a-f]{1,4}(?:\/[0-9a-f]{1,4}){2,3})$/i.exec(colour) ?? [];
  if (numbers !== undefined) return numbers.split('/').map(share);
  const [, digits] = /^#((?:[0-9a-f]{3}){1,4})$/i.exec(colour) ?? [];
  if (digits === undefined) return null;
  const each = digits.length / 3;
  return [0, 1, 2].map((index) => share(digits.slice(index * each, (index + 1) * each)));
}

function share(digits: string): number {
  return Number.parseInt(digits, 16) / (16 ** digits.length - 1);
}
