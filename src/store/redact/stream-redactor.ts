import type { ByteFilter } from '../../protocol/tool.ts';

/** What may be the beginning of a secret is held back no longer than this. */
const MOST_HELD = 24_000;
const LONGEST_KEY = 4_096;

/** How keys that are told by their form begin. */
const KEY_STARTS =
  'sk- AKIA ASIA ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- xox xapp- AIza npm_ hf_ gsk_ xai- sk_ rk_ eyJ'.split(
    ' ',
  );
const BEARERS = ['Bearer eyJ', 'bearer eyJ'];
const PEM_START = '-----BEGIN ';
/** A key without its end; of what may be one, without the end of the first line. */
const OPEN_PEM = /^-----BEGIN [A-Z0-9 ]{0,52}(?:-{0,4}$|PRIVATE KEY-----)/;
const PEM_END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----/;
/** The end of a text that a key may go on in. */
const OPEN_TOKEN = /(?:[Bb]earer )?[A-Za-z0-9_.-]*$/;

/** Known secrets, and what `replace` is given, have a character a byte. */
export interface SecretPatterns {
  readonly known: readonly string[];
  /** Global. */
  readonly shapes: RegExp;
  replace(text: string): string;
}

/**
 * Redacts bytes as they come. Of a chunk's end only what a secret may begin with is held back, so that
 * whoever follows the output sees all else at once.
 */
export class StreamRedactor implements ByteFilter {
  private readonly secrets: SecretPatterns;
  private held = '';

  constructor(secrets: SecretPatterns) {
    this.secrets = secrets;
  }

  write(chunk: Buffer): Buffer {
    const text = this.held + chunk.toString('latin1');
    const from = this.holdFrom(text);
    this.held = text.slice(from);
    return this.redacted(text.slice(0, from));
  }

  end(): Buffer {
    const rest = this.held;
    this.held = '';
    return this.redacted(rest);
  }

  private redacted(text: string): Buffer {
    return Buffer.from(this.secrets.replace(text), 'latin1');
  }

  private holdFrom(text: string): number {
    const open = Math.min(this.openSecret(text), openKey(text), openPem(text));
    const from = open === text.length ? open : this.beforeWhole(text, open);
    return text.length - from > MOST_HELD ? text.length : from;
  }

  /** Where the secret begins that stands there whole and would be cut at `place`; else `place`. */
  private beforeWhole(text: string, place: number): number {
    let from = place;
    for (const secret of this.secrets.known) {
      const at = text.indexOf(secret, Math.max(0, from - secret.length + 1));
      if (at !== -1 && at < from) return this.beforeWhole(text, at);
    }
    for (const { index, 0: whole } of text.matchAll(this.secrets.shapes)) {
      if (index < from && index + whole.length > from) from = index;
    }
    return from === place ? place : this.beforeWhole(text, from);
  }

  /** Where a known secret begins that the text ends in the middle of. */
  private openSecret(text: string): number {
    let longest = 0;
    for (const secret of this.secrets.known) longest = Math.max(longest, overlap(text, secret));
    return text.length - longest;
  }
}

function openKey(text: string): number {
  const end = text.slice(-LONGEST_KEY);
  const token = OPEN_TOKEN.exec(end)?.[0] ?? '';
  const isOpen = KEY_STARTS.some((start) => token.includes(start) || overlap(token, start) > 0);
  const bearer = Math.max(...BEARERS.map((start) => overlap(end, start)));
  return text.length - Math.max(isOpen ? token.length : 0, bearer);
}

function openPem(text: string): number {
  const at = text.lastIndexOf(PEM_START);
  const next = text.length - overlap(text, PEM_START);
  if (at === -1) return next;
  const begun = text.slice(at, at + MOST_HELD);
  return OPEN_PEM.test(begun) && !PEM_END.test(begun) ? at : next;
}

/** How many characters at the end of a text are the beginning of a word, and not all of it. */
function overlap(text: string, word: string): number {
  for (let length = Math.min(word.length - 1, text.length); length > 0; length -= 1) {
    if (text.endsWith(word.slice(0, length))) return length;
  }
  return 0;
}
