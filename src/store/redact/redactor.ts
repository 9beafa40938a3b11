import { REDACTED } from '../../protocol/redaction.ts';
import { StreamRedactor } from './stream-redactor.ts';

/** A function that replaces secrets in a text. */
export interface Redact {
  (text: string): string;
  /**
   * Checks whether the function could change a string in this JSON; if this returns false, it certainly cannot.
   * Checking a line once is far cheaper than checking each string in it. Without this method, any string could change.
   */
  readonly canChange?: (json: string) => boolean;
}

export interface RedactorOptions {
  /** Provider keys, and values of variables whose names suggest secrets. Secrets below 8 characters are ignored. */
  readonly secrets: readonly string[];
}

const MIN_SECRET_LENGTH = 8;

/**
 * Patterns of keys with a well-known form. Each key must begin at the start of a word (an escaped newline before it
 * counts), because a random `sk-` inside a base64url signature is no key, and the signature must go back to its
 * provider unchanged.
 */
const KEY_PATTERNS: readonly string[] = [
  // Anthropic, OpenAI, OpenRouter and similar providers. Without a known prefix, the key must have a long random part,
  // because names of styles and libraries also begin with `sk-`.
  'sk-(?:ant|proj|svcacct|admin|or|lf)-[A-Za-z0-9_-]{20,}',
  'sk-(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]*?[A-Za-z0-9]{20}[A-Za-z0-9_-]*',
  '(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Z0-9_-])',
  'gh[pousr]_[A-Za-z0-9]{36,}',
  'github_pat_[A-Za-z0-9_]{22,}',
  'glpat-[A-Za-z0-9_-]{20,}',
  'xox[a-z]-[A-Za-z0-9-]{10,}',
  'xapp-[0-9]-[A-Za-z0-9-]{20,}',
  'AIza[A-Za-z0-9_-]{35}',
  'npm_[A-Za-z0-9]{36}(?![A-Za-z0-9_-])',
  'hf_[A-Za-z0-9]{34,}',
  // Groq, xAI.
  'gsk_[A-Za-z0-9]{40,}',
  'xai-[A-Za-z0-9]{60,}',
  // Stripe: secret and restricted keys, not the publishable ones.
  '[sr]k_(?:live|test)_[A-Za-z0-9]{16,}',
  // A JWT only in an authorization header, because many tests and documents contain a JWT as an example.
  '[Bb]earer eyJ[A-Za-z0-9_-]{10,}\\.eyJ[A-Za-z0-9_-]{10,}\\.[A-Za-z0-9_-]{10,}',
];
const WORD_START = String.raw`(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))`;

/** Creates the pattern of the first (`BEGIN`) or last (`END`) line of a private key in PEM. */
const pemLine = (boundary: string): string => `-----${boundary} [A-Z0-9 ]{0,40}PRIVATE KEY-----`;
/**
 * The body ends before the next `BEGIN` line. Otherwise, the search for an end would start at each of many `BEGIN`
 * lines and run to the end of the text.
 */
const PEM_BODY = String.raw`(?:(?!-----BEGIN )[A-Za-z0-9+/=\s\\:,.-]){0,20000}?`;
/** The body of a private key without an `END` line. It ends where the text no longer looks like key material. */
const PEM_OPEN_BODY = String.raw`(?:(?:\s|\\[nr])*[A-Za-z0-9+/=]{32,})*`;
const PEM_KEY = `${pemLine('BEGIN')}(?:${PEM_BODY}${pemLine('END')}|${PEM_OPEN_BODY})`;

/**
 * A short pattern that every text with a key matches. Searching for this pattern is far cheaper than searching for the
 * key patterns. Some alternatives include more than the prefix of the key, because words such as `task-` end with that
 * prefix.
 */
const KEY_HINT =
  /sk-[A-Za-z0-9_-]{20}|A[KS]IA|gh[pousr]_|github_pat_|glpat-|xox[a-z]-|xapp-|AIza|npm_[A-Za-z0-9]{36}|hf_[A-Za-z0-9]{34}|gsk_[A-Za-z0-9]{40}|xai-[A-Za-z0-9]{60}|[sr]k_(?:live|test)_|earer eyJ|PRIVATE KEY/;

/**
 * Lists the secrets in all encodings, the longest first, so that no part of a longer secret remains if a shorter
 * secret is contained in it.
 */
function listKnownForms(secrets: readonly string[]): readonly string[] {
  const known = secrets.filter((secret) => secret.length >= MIN_SECRET_LENGTH);
  return [...new Set(known.flatMap(listEncodedForms))].toSorted((a, b) => b.length - a.length);
}

/** Creates a function that replaces known secrets, and keys of well-known forms, with the text `REDACTED`. */
export function createRedactor(options: RedactorOptions): Redact {
  const known = listKnownForms(options.secrets);
  return Object.assign(createReplacer(known), { canChange: createPrecheck(known) });
}

/** Creates redactors for streams of bytes, in which a secret may be split between chunks. */
export function createStreamRedactor(options: RedactorOptions): () => StreamRedactor {
  // Use one character for each byte, so that bytes that are not text stay unchanged.
  const known = listKnownForms(options.secrets).map((secret) =>
    Buffer.from(secret, 'utf8').toString('latin1'),
  );
  const patterns = { known, replace: createReplacer(known), keys: createKeyPattern() };
  return () => new StreamRedactor(patterns);
}

function createKeyPattern(): RegExp {
  return new RegExp(`${WORD_START}(?:${KEY_PATTERNS.join('|')})|${PEM_KEY}`, 'gu');
}

function createReplacer(known: readonly string[]): (text: string) => string {
  const keys = createKeyPattern();
  return (text) => {
    let clean = text;
    for (const secret of known) {
      if (clean.includes(secret)) clean = clean.replaceAll(secret, REDACTED);
    }
    return KEY_HINT.test(clean) ? clean.replace(keys, REDACTED) : clean;
  };
}

/**
 * Creates `Redact.canChange`. JSON escapes each character separately, so the JSON of a text contains the JSON of every
 * secret in the text.
 */
function createPrecheck(known: readonly string[]): (json: string) => boolean {
  // This is not true for half a surrogate pair, which JSON escapes only if the other half is missing.
  if (!known.every((secret) => secret.isWellFormed())) return () => true;
  const escaped = known.map((secret) => JSON.stringify(secret).slice(1, -1));
  return (json) => KEY_HINT.test(json) || escaped.some((secret) => json.includes(secret));
}

const BITS_PER_BYTE = 8;
const BITS_PER_DIGIT = 6;
/** Positions in a group of three bytes at which a secret can begin. */
const BASE64_OFFSETS = [0, 1, 2];

/** Lists a secret as it is, in base64 (also as part of a longer text), and in URLs. */
function listEncodedForms(secret: string): readonly string[] {
  return [...new Set([secret, ...listBase64Forms(secret), ...listUrlForms(secret)])];
}

/**
 * Uses only the digits that depend on nothing but the secret: the digits at both ends also encode bits of neighbouring
 * bytes.
 */
function listBase64Forms(secret: string): readonly string[] {
  const bytes = Buffer.from(secret, 'utf8');
  return BASE64_OFFSETS.flatMap((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    const first = Math.ceil((offset * BITS_PER_BYTE) / BITS_PER_DIGIT);
    const last = Math.floor(((offset + bytes.length) * BITS_PER_BYTE) / BITS_PER_DIGIT);
    const digits = encoded.slice(first, last);
    return [digits, digits.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

function listUrlForms(secret: string): readonly string[] {
  // Half a surrogate pair has no UTF-8 encoding, and so no form in a URL.
  if (!secret.isWellFormed()) return [];
  const encoded = encodeURIComponent(secret);
  return [
    encoded,
    encoded.replaceAll(/%[0-9A-F]{2}/g, (byte) => byte.toLowerCase()),
    encoded.replaceAll('%20', '+'),
  ];
}
