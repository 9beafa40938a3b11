import { REDACTED } from '../../protocol/redaction.ts';
import { StreamRedactor } from './stream-redactor.ts';

/** A function that replaces secrets in a text. */
export interface Redact {
  (text: string): string;
  /**
   * Checks whether the function could change a string in this JSON; false is certain. Checking a line once is far cheaper than
   * checking each string in it. Without this method, any string could change.
   */
  readonly canChange?: (json: string) => boolean;
}

export interface RedactorOptions {
  /**
   * Provider keys, and values of variables whose names suggest secrets. Secrets below 8 characters are ignored. The
   * list may grow, since some keys are read later: a secret is replaced from the moment at which it is added.
   */
  readonly secrets: readonly string[];
}

const MIN_SECRET_LENGTH = 8;

/**
 * Patterns of keys with a well-known form. Each key must begin at the start of a word (an escaped newline before it
 * counts), because a random `sk-` inside a base64url signature is no key, and the signature must go back to its provider
 * unchanged.
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
  // Access tokens of Google, and keys of Amazon Bedrock.
  'ya29\\.[A-Za-z0-9_-]{30,}',
  'ABSK[A-Za-z0-9+/]{80,}={0,2}',
  'bedrock-api-key-[A-Za-z0-9+/]{40,}={0,2}',
  'npm_[A-Za-z0-9]{36}(?![A-Za-z0-9_-])',
  'hf_[A-Za-z0-9]{34,}',
  // Groq, xAI.
  'gsk_[A-Za-z0-9]{40,}',
  'xai-[A-Za-z0-9]{60,}',
  // Stripe: secret and restricted keys, not the publishable ones.
  '[sr]k_(?:live|test)_[A-Za-z0-9]{16,}',
  // A JWT only where it is sent: many tests and documents contain one as an example.
  '[Bb]earer eyJ[A-Za-z0-9_-]{10,}\\.eyJ[A-Za-z0-9_-]{10,}\\.[A-Za-z0-9_-]{10,}',
];
const WORD_START = String.raw`(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))`;

/** A private key in PEM. If its end is missing, the match ends where the text no longer looks like key material. */
const PEM_MARK = (boundary: string): string => `-----${boundary} [A-Z0-9 ]{0,40}PRIVATE KEY-----`;
/** The body ends where another key begins: otherwise each of many beginnings would be searched to the end. */
const PEM_BODY = String.raw`(?:(?!-----BEGIN )[A-Za-z0-9+/=\s\\:,.-]){0,20000}?`;
const PEM_OPEN_BODY = String.raw`(?:(?:\s|\\[nr])*[A-Za-z0-9+/=]{32,})*`;
const PEM_KEY = `${PEM_MARK('BEGIN')}(?:${PEM_BODY}${PEM_MARK('END')}|${PEM_OPEN_BODY})`;

/**
 * A part that every text with a key contains. Searching for it is far cheaper than searching for the patterns. Some
 * alternatives include more of the key, because words such as `task-` end with its prefix.
 */
const HINT =
  /sk-[A-Za-z0-9_-]{20}|A[KS]IA|gh[pousr]_|github_pat_|glpat-|xox[a-z]-|xapp-|AIza|ya29\.|ABSK|bedrock-api-key-|npm_[A-Za-z0-9]{36}|hf_[A-Za-z0-9]{34}|gsk_[A-Za-z0-9]{40}|xai-[A-Za-z0-9]{60}|[sr]k_(?:live|test)_|earer eyJ|PRIVATE KEY/;

/**
 * Lists the secrets in all encodings, the longest first, so that a secret that is part of another one leaves no rest of
 * the other.
 */
function listKnownForms(secrets: readonly string[]): readonly string[] {
  const known = secrets.filter((secret) => secret.length >= MIN_SECRET_LENGTH);
  return [...new Set(known.flatMap(listEncodedForms))].toSorted((a, b) => b.length - a.length);
}

/** Returns a function that computes a value from the known forms of the secrets, again only after the list has grown. */
function computeFromSecrets<T>(
  secrets: readonly string[],
  compute: (known: readonly string[]) => T,
): () => T {
  let count = -1;
  let value: T;
  return () => {
    if (count !== secrets.length) {
      value = compute(listKnownForms(secrets));
      count = secrets.length;
    }
    return value;
  };
}

/** Creates a function that replaces known secrets, and keys of well-known forms, by the mark `REDACTED`. */
export function createRedactor({ secrets }: RedactorOptions): Redact {
  const current = computeFromSecrets(secrets, (known) => ({
    replace: createReplacer(known),
    canChange: createPrecheck(known),
  }));
  return Object.assign((text: string) => current().replace(text), {
    canChange: (json: string) => current().canChange(json),
  });
}

/** Creates redactors for streams of bytes, in which a secret may be split between chunks. */
export function createStreamRedactor({ secrets }: RedactorOptions): () => StreamRedactor {
  const current = computeFromSecrets(secrets, (forms) => {
    // One character for each byte, so that bytes that are no text stay as they are.
    const known = forms.map((secret) => Buffer.from(secret, 'utf8').toString('latin1'));
    return { known, replace: createReplacer(known), keys: createKeyPattern() };
  });
  return () => new StreamRedactor(current());
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
    return HINT.test(clean) ? clean.replace(keys, REDACTED) : clean;
  };
}

/** Creates `Redact.canChange`. JSON escapes each character separately, so the JSON of a text contains that of its parts. */
function createPrecheck(known: readonly string[]): (json: string) => boolean {
  // Except halves of a surrogate pair, which are escaped only where the other half is missing.
  if (!known.every((secret) => secret.isWellFormed())) return () => true;
  const escaped = known.map((secret) => JSON.stringify(secret).slice(1, -1));
  return (json) => HINT.test(json) || escaped.some((secret) => json.includes(secret));
}

const BITS_PER_BYTE = 8;
const BITS_PER_DIGIT = 6;
/** Positions in a group of three bytes at which a secret can begin. */
const BASE64_OFFSETS = [0, 1, 2];

/** Lists a secret as it is, in base64 (also as part of a longer text), and in URLs. */
function listEncodedForms(secret: string): readonly string[] {
  return [...new Set([secret, ...listBase64Forms(secret), ...listUrlForms(secret)])];
}

/** Uses only the digits that come from the secret alone: the digits at its ends also encode bits of its neighbours. */
function listBase64Forms(secret: string): readonly string[] {
  const bytes = Buffer.from(secret, 'utf8');
  return BASE64_OFFSETS.flatMap((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    const first = Math.ceil((offset * BITS_PER_BYTE) / BITS_PER_DIGIT);
    const last = Math.floor(((offset + bytes.length) * BITS_PER_BYTE) / BITS_PER_DIGIT);
    const own = encoded.slice(first, last);
    return [own, own.replaceAll('+', '-').replaceAll('/', '_')];
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
