import type { Terminal } from '@earendil-works/pi-tui';

const ESC = '\u001b';
const BELL = '\u0007';
/** A complete reply to `ESC ] 11 ; ? BEL`. */
const ANSWER = new RegExp(`^${ESC}\\]11;([^${BELL}${ESC}]*)(?:${BELL}|${ESC}\\\\)$`);
/** The beginning of such a reply. A color has at most `rgba:` and four numbers of four digits. */
const BEGINNING = new RegExp(`^${ESC}(?:\\](?:1(?:1(?:;[0-9a-f/:rgb#]{0,40}${ESC}?)?)?)?)?$`, 'i');
/** The strings that terminals send and keys do not: OSC, DCS, APC, PM and SOS, complete or cut off. */
const STRING = new RegExp(`^${ESC}[\\]P_^X][^]`);

/** Input with this beginning comes from the terminal: a user can't type it. */
const REPLY_START = `${ESC}]11`;

/** The time after a request within which the reply must begin. Similar input after this time was typed. */
const REPLY_TIMEOUT_MS = 5_000;
/** The maximum time between two pieces of a reply. */
const MAX_GAP_MS = 1_000;

/** Input after the replies have been removed. */
export interface TerminalInput {
  /** The keys in their order, including keys that were held back because they looked like a reply. */
  readonly keys: readonly string[];
  /** The reported background; null if there was no report. */
  readonly background: Background | null;
}

/**
 * Separates the replies of a terminal from keys. A reply may come late, in pieces, malformed, or never. No piece of a
 * reply is ever taken for a key, and no key is lost.
 */
export class TerminalReplies {
  private readonly now: () => number;
  private askedAt: number | null = null;
  /** The input so far that is, or may become, a reply. */
  private begun = '';
  private begunAt = 0;
  /** The pieces of `begun` that the editor did not get. A single Esc is not among them, because it is passed on at once. */
  private held: string[] = [];

  /** `now` returns milliseconds; any clock will do. */
  constructor(now: () => number) {
    this.now = now;
  }

  /** Notes that the terminal was asked for its background now. */
  asked(): void {
    this.askedAt = this.now();
  }

  /** Reads a piece of input, as the library splits it. */
  read(data: string): TerminalInput {
    if (this.begun === '') return this.begin(data);
    const whole = this.begun + data;
    const isLate = this.now() - this.begunAt > MAX_GAP_MS;
    if (!isLate && ANSWER.test(whole)) return this.answered(whole);
    if (!isLate && BEGINNING.test(whole)) return this.hold(data, whole);
    const isCutOff = this.begun.startsWith(REPLY_START);
    // The Esc could have been the end of the reply. It was a key, or begins another reply.
    const hasEscAtEnd = isCutOff && this.held.at(-1) === ESC;
    const typed = isCutOff ? [] : this.held;
    this.forget();
    const before = hasEscAtEnd ? this.begin(ESC).keys : typed;
    if (isLate) this.forget();
    const next = this.begun === '' ? this.begin(data) : this.read(data);
    return { ...next, keys: [...before, ...next.keys] };
  }

  private begin(data: string): TerminalInput {
    if (ANSWER.test(data)) return this.answered(data);
    const isAwaited = this.askedAt !== null && this.now() - this.askedAt < REPLY_TIMEOUT_MS;
    if (isAwaited && BEGINNING.test(data)) return this.hold(data, data);
    return { keys: STRING.test(data) ? [] : [data], background: null };
  }

  private hold(data: string, whole: string): TerminalInput {
    this.begun = whole;
    this.begunAt = this.now();
    // Esc must work as a key at once. If it was the beginning of a reply, the key has no effect at the start.
    if (whole === ESC) return { keys: [data], background: null };
    this.held.push(data);
    return { keys: [], background: null };
  }

  private answered(whole: string): TerminalInput {
    const [, color = ''] = ANSWER.exec(whole) ?? [];
    const isAwaited = this.askedAt !== null;
    this.forget();
    this.askedAt = null;
    return { keys: [], background: isAwaited ? parseBackground(color) : null };
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
 * Reads the color of a background: `rgb:ffff/ffff/ffff`, `rgba:…` or `#ffffff`, with one to four digits for each part.
 * Returns null for any other text.
 */
export function parseBackground(color: string): Background | null {
  const parts = parseParts(color.trim());
  if (parts === null) return null;
  const light = WEIGHTS.reduce((sum, weight, index) => sum + weight * (parts[index] ?? 0), 0);
  return light > 0.5 ? 'light' : 'dark';
}

/** Reads the red, green and blue parts of a color as numbers from 0 to 1; null for any other text. */
function parseParts(color: string): readonly number[] | null {
  const [, numbers] = /^rgba?:([0-9a-f]{1,4}(?:\/[0-9a-f]{1,4}){2,3})$/i.exec(color) ?? [];
  if (numbers !== undefined) return numbers.split('/').map(toFraction);
  const [, digits] = /^#((?:[0-9a-f]{3}){1,4})$/i.exec(color) ?? [];
  if (digits === undefined) return null;
  const each = digits.length / 3;
  return [0, 1, 2].map((index) => toFraction(digits.slice(index * each, (index + 1) * each)));
}

function toFraction(digits: string): number {
  return Number.parseInt(digits, 16) / (16 ** digits.length - 1);
}

const ASK_BACKGROUND = '\u001b]11;?\u0007';
const FOCUS_IN = '\u001b[I';
const FOCUS_OUT = '\u001b[O';

/** Reads the reports of a terminal about itself, before the library takes them for keys. */
export class TerminalReports {
  /** The terminal, with an input from which the reports are removed. */
  readonly terminal: Terminal;
  private readonly replies = new TerminalReplies(() => performance.now());
  /** Whether the terminal has the focus; null if the terminal has not reported it. */
  isFocused: boolean | null = null;

  constructor(device: Terminal, onBackground: (background: Background) => void) {
    const start: Terminal['start'] = (onInput, onResize) =>
      device.start((data) => {
        if (data === FOCUS_IN || data === FOCUS_OUT) this.isFocused = data === FOCUS_IN;
        const { keys, background } = this.replies.read(data);
        if (background !== null) onBackground(background);
        for (const key of keys) onInput(key);
      }, onResize);
    this.terminal = new Proxy(device, {
      get(target, name) {
        if (name === 'start') return start;
        const value: unknown = Reflect.get(target, name);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  }

  /** Asks for the background without waiting for the reply. */
  askBackground(): void {
    this.replies.asked();
    this.terminal.write(ASK_BACKGROUND);
  }
}
