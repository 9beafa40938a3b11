import { REDACTED } from '../protocol/redaction.ts';

/** Replaces secrets in a text. */
export interface Redact {
  (text: string): string;
  /**
   * Whether it could change a string in this JSON: false is certain. One look at a line is far
   * cheaper than one at each string in it. Absent: it could.
   */
  readonly mayChange?: (json: string) => boolean;
}

export interface RedactorOptions {
  /** Known secrets: provider keys, values of secret-named variables. Those under 8 characters are left out. */
  readonly secrets: readonly string[];
}

const MIN_SECRET_LENGTH = 8;

/**
 * Keys that are told by their form. Each must begin where a word begins (an escaped newline before it
 * counts): a random `sk-` inside a base64url signature, which has to go back to its provider unharmed,
 * is no key.
 */
const KEY_SHAPES: readonly string[] = [
  'sk-[A-Za-z0-9_-]{20,}',
  'AKIA[A-Z0-9]{16}(?![A-Z0-9_-])',
  'ghp_[A-Za-z0-9]{36,}',
  'github_pat_[A-Za-z0-9_]{22,}',
  'xox[a-z]-[A-Za-z0-9-]{10,}',
  'AIza[A-Za-z0-9_-]{35}',
];
const WORD_START = String.raw`(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))`;

/** A private key in PEM; of one without an end, what looks like key material. */
const PEM_MARK = (word: string): string => `-----${word} [A-Z0-9 ]{0,40}PRIVATE KEY-----`;
const PEM_BODY = String.raw`[A-Za-z0-9+/=\s\\:,.-]{0,20000}?`;
const PEM_OPEN_BODY = String.raw`(?:(?:\s|\\[nr])*[A-Za-z0-9+/=]{32,})*`;
const PEM_KEY = `${PEM_MARK('BEGIN')}(?:${PEM_BODY}${PEM_MARK('END')}|${PEM_OPEN_BODY})`;

/**
 * What every key shape contains: looking for these alone is far cheaper than looking for the shapes.
 * Of `sk-` a little more, as words like `task-` end with it.
 */
const HINT = /sk-[A-Za-z0-9_-]{20}|AKIA|ghp_|github_pat_|xox[a-z]-|AIza|PRIVATE KEY/;

/** Longest first, so that a secret which is part of another one leaves no rest of it. */
function knownSecrets(secrets: readonly string[]): readonly string[] {
  return [...new Set(secrets)]
    .filter((secret) => secret.length >= MIN_SECRET_LENGTH)
    .toSorted((a, b) => b.length - a.length);
}

/** A function that replaces known secrets and well-known key shapes by the mark `REDACTED`. */
export function createRedactor(options: RedactorOptions): Redact {
  const known = knownSecrets(options.secrets);
  const shapes = new RegExp(`${WORD_START}(?:${KEY_SHAPES.join('|')})|${PEM_KEY}`, 'gu');
  const redact = (text: string): string => {
    let clean = text;
    for (const secret of known) {
      if (clean.includes(secret)) clean = clean.replaceAll(secret, REDACTED);
    }
    return HINT.test(clean) ? clean.replace(shapes, REDACTED) : clean;
  };
  return Object.assign(redact, { mayChange: createSuspicion(known) });
}

/** JSON escapes each character alone, so a string that holds a secret is JSON that holds its JSON. */
function createSuspicion(known: readonly string[]): (json: string) => boolean {
  // But for halves of a character, which are escaped only where the other half is missing.
  if (!known.every((secret) => secret.isWellFormed())) return () => true;
  const escaped = known.map((secret) => JSON.stringify(secret).slice(1, -1));
  return (json) => HINT.test(json) || escaped.some((secret) => json.includes(secret));
}
