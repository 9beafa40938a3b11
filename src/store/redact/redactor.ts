import { REDACTED } from '../../protocol/redaction.ts';
import { StreamRedactor } from './stream-redactor.ts';

/** Replaces secrets in a text. */
export interface Redact {
  (text: string): string;
  /**
   * Whether it could change a string in this JSON: false is certain. One look at a line is far
   * cheaper than one at each string in it. Absent: it could.
   */
  readonly canChange?: (json: string) => boolean;
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
  // Anthropic, OpenAI, OpenRouter and their like. Without a known prefix only what has a long random
  // part: `sk-` also begins names of styles and of libraries.
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
  // A JWT only where it is sent: as an example it stands in many tests and documents.
  '[Bb]earer eyJ[A-Za-z0-9_-]{10,}\\.eyJ[A-Za-z0-9_-]{10,}\\.[A-Za-z0-9_-]{10,}',
];
const WORD_START = String.raw`(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))`;

/** A private key in PEM; of one without an end, what looks like key material. */
const PEM_MARK = (word: string): string => `-----${word} [A-Z0-9 ]{0,40}PRIVATE KEY-----`;
/** It ends where another one begins: else each of many beginnings would be read on from to the end. */
const PEM_BODY = String.raw`(?:(?!-----BEGIN )[A-Za-z0-9+/=\s\\:,.-]){0,20000}?`;
const PEM_OPEN_BODY = String.raw`(?:(?:\s|\\[nr])*[A-Za-z0-9+/=]{32,})*`;
const PEM_KEY = `${PEM_MARK('BEGIN')}(?:${PEM_BODY}${PEM_MARK('END')}|${PEM_OPEN_BODY})`;

/**
 * What every key shape contains: looking for these alone is far cheaper than looking for the shapes.
 * Of some a little more, as words like `task-` end with them.
 */
const HINT =
  /sk-[A-Za-z0-9_-]{20}|A[KS]IA|gh[pousr]_|github_pat_|glpat-|xox[a-z]-|xapp-|AIza|npm_[A-Za-z0-9]{36}|hf_[A-Za-z0-9]{34}|gsk_[A-Za-z0-9]{40}|xai-[A-Za-z0-9]{60}|[sr]k_(?:live|test)_|earer eyJ|PRIVATE KEY/;

/** With all their forms, the longest first: a secret that is part of another one leaves no rest of it. */
function knownSecrets(secrets: readonly string[]): readonly string[] {
  const known = secrets.filter((secret) => secret.length >= MIN_SECRET_LENGTH);
  return [...new Set(known.flatMap(listEncodedForms))].toSorted((a, b) => b.length - a.length);
}

/** A function that replaces known secrets and well-known key shapes by the mark `REDACTED`. */
export function createRedactor(options: RedactorOptions): Redact {
  const known = knownSecrets(options.secrets);
  return Object.assign(replacer(known), { canChange: createSuspicion(known) });
}

/** For a stream of bytes: a secret may be split between chunks. */
export function createStreamRedactor(options: RedactorOptions): () => StreamRedactor {
  // A character a byte, so that what is no text stays as it is.
  const known = knownSecrets(options.secrets).map((secret) =>
    Buffer.from(secret, 'utf8').toString('latin1'),
  );
  const secrets = { known, replace: replacer(known), shapes: keyShapes() };
  return () => new StreamRedactor(secrets);
}

function keyShapes(): RegExp {
  return new RegExp(`${WORD_START}(?:${KEY_SHAPES.join('|')})|${PEM_KEY}`, 'gu');
}

function replacer(known: readonly string[]): (text: string) => string {
  const shapes = keyShapes();
  return (text) => {
    let clean = text;
    for (const secret of known) {
      if (clean.includes(secret)) clean = clean.replaceAll(secret, REDACTED);
    }
    return HINT.test(clean) ? clean.replace(shapes, REDACTED) : clean;
  };
}

/** JSON escapes each character alone, so a string that holds a secret is JSON that holds its JSON. */
function createSuspicion(known: readonly string[]): (json: string) => boolean {
  // But for halves of a character, which are escaped only where the other half is missing.
  if (!known.every((secret) => secret.isWellFormed())) return () => true;
  const escaped = known.map((secret) => JSON.stringify(secret).slice(1, -1));
  return (json) => HINT.test(json) || escaped.some((secret) => json.includes(secret));
}

const BITS_A_BYTE = 8;
const BITS_A_DIGIT = 6;
/** Where in a group of three bytes a secret can begin. */
const BASE64_OFFSETS = [0, 1, 2];

/** A secret as it is, in base64 (also as part of a longer text), and in URLs. */
function listEncodedForms(secret: string): readonly string[] {
  return [...new Set([secret, ...base64Forms(secret), ...urlForms(secret)])];
}

/** Only the digits that come from the secret alone: those at its ends hold bits of what is beside it. */
function base64Forms(secret: string): readonly string[] {
  const bytes = Buffer.from(secret, 'utf8');
  return BASE64_OFFSETS.flatMap((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    const first = Math.ceil((offset * BITS_A_BYTE) / BITS_A_DIGIT);
    const last = Math.floor(((offset + bytes.length) * BITS_A_BYTE) / BITS_A_DIGIT);
    const own = encoded.slice(first, last);
    return [own, own.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

function urlForms(secret: string): readonly string[] {
  // Half a character has no UTF-8, and so no form in a URL.
  if (!secret.isWellFormed()) return [];
  const encoded = encodeURIComponent(secret);
  return [
    encoded,
    encoded.replaceAll(/%[0-9A-F]{2}/g, (byte) => byte.toLowerCase()),
    encoded.replaceAll('%20', '+'),
  ];
}
