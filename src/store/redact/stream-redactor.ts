import type { ByteFilter } from '../../protocol/tool.ts';

/** The maximum number of characters that are held back because a secret may begin with them. */
const MAX_HELD_BACK = 24_000;
const MAX_KEY_LENGTH = 4_096;

/** The beginnings of keys with a well-known form. */
const KEY_STARTS =
  'sk- AKIA ASIA ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- xox xapp- AIza ya29. ABSK bedrock-api-key- npm_ hf_ gsk_ xai- sk_ rk_ eyJ'.split(
    ' ',
  );
const BEARERS = ['Bearer eyJ', 'bearer eyJ'];
const PEM_START = '-----BEGIN ';
/** Matches a private key, or a text that may become a private key because its first line is still incomplete. */
const OPEN_PEM = /^-----BEGIN [A-Z0-9 ]{0,52}(?:-{0,4}$|PRIVATE KEY-----)/;
const PEM_END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----/;
/** Matches the last word of a text, which may be the beginning of a key. */
const OPEN_TOKEN = /(?:[Bb]earer )?[A-Za-z0-9_.+/=-]*$/;

/** The secrets to replace. Known secrets, and the texts that `replace` gets, have one character for each byte. */
export interface SecretPatterns {
  readonly known: readonly string[];
  /** Matches keys of well-known forms; a global expression. */
  readonly keys: RegExp;
  replace(text: string): string;
}

/**
 * Redacts bytes as they arrive. Holds back only the part at the end of a chunk that may be the beginning of a secret,
 * so that a reader who follows the output sees everything else at once.
 */
export class StreamRedactor implements ByteFilter {
  private readonly patterns: SecretPatterns;
  private heldBack = '';

  constructor(patterns: SecretPatterns) {
    this.patterns = patterns;
  }

  write(chunk: Buffer): Buffer {
    const text = this.heldBack + chunk.toString('latin1');
    const holdStart = this.findHoldStart(text);
    this.heldBack = text.slice(holdStart);
    return this.redact(text.slice(0, holdStart));
  }

  end(): Buffer {
    const text = this.heldBack;
    this.heldBack = '';
    return this.redact(text);
  }

  private redact(text: string): Buffer {
    return Buffer.from(this.patterns.replace(text), 'latin1');
  }

  /** Returns the start of the part to hold back, or the length of the text if nothing is held back. */
  private findHoldStart(text: string): number {
    const open = Math.min(this.findOpenSecret(text), findOpenKey(text), findOpenPem(text));
    const start = open === text.length ? open : this.moveBeforeSecret(text, open);
    return text.length - start > MAX_HELD_BACK ? text.length : start;
  }

  /** Returns the start of a complete secret that would be cut at `position`, or `position` if there is none. */
  private moveBeforeSecret(text: string, position: number): number {
    let start = position;
    for (const secret of this.patterns.known) {
      const at = text.indexOf(secret, Math.max(0, start - secret.length + 1));
      if (at !== -1 && at < start) return this.moveBeforeSecret(text, at);
    }
    for (const { index, 0: key } of text.matchAll(this.patterns.keys)) {
      if (index < start && index + key.length > start) start = index;
    }
    return start === position ? position : this.moveBeforeSecret(text, start);
  }

  /**
   * Returns the start of a known secret that is cut off at the end of the text, or the length of the text if there is
   * none.
   */
  private findOpenSecret(text: string): number {
    let longest = 0;
    for (const secret of this.patterns.known)
      longest = Math.max(longest, measureOverlap(text, secret));
    return text.length - longest;
  }
}

function findOpenKey(text: string): number {
  const end = text.slice(-MAX_KEY_LENGTH);
  const token = OPEN_TOKEN.exec(end)?.[0] ?? '';
  const isOpen = KEY_STARTS.some(
    (start) => token.includes(start) || measureOverlap(token, start) > 0,
  );
  const bearer = Math.max(...BEARERS.map((start) => measureOverlap(end, start)));
  return text.length - Math.max(isOpen ? token.length : 0, bearer);
}

function findOpenPem(text: string): number {
  const at = text.lastIndexOf(PEM_START);
  const next = text.length - measureOverlap(text, PEM_START);
  if (at === -1) return next;
  const key = text.slice(at, at + MAX_HELD_BACK);
  return OPEN_PEM.test(key) && !PEM_END.test(key) ? at : next;
}

/** Counts the characters at the end of `text` that are the beginning of `secret`, but not all of it. */
function measureOverlap(text: string, secret: string): number {
  for (let length = Math.min(secret.length - 1, text.length); length > 0; length -= 1) {
    if (text.endsWith(secret.slice(0, length))) return length;
  }
  return 0;
}
