import type { SecretLocation } from '../../agents/lint/findings.ts';
import { isJsonObject, type JsonValue } from '../../base/json.ts';
import { REDACTED } from '../../protocol/redaction.ts';
import { isSecret } from '../setup/secrets.ts';

/**
 * Matches placeholders of secrets: `${TOKEN}`, `$TOKEN`, `<your key>`, `YOUR_KEY`, `xxxx`, `...`.
 */
const PLACEHOLDER = /^\$|[{<[]|^(?:your|my|example|test|dummy|changeme|replace)|^(.)\1*$|\.\.\./i;

/** Matches the value of a header that contains a credential, such as `Bearer …`. */
const CREDENTIAL = /^(?:bearer|basic|token)\s+(\S{8,})$/i;

/** Matches the name of an environment variable, which is not a secret itself. */
const VARIABLE = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/;

/**
 * Finds the lines of a file that seem to contain a secret: a key of a well-known form or a secret of the environment,
 * which `redact` replaces, or the value of a field whose name suggests a secret. `fields` are the parsed fields of the
 * file.
 */
export function findSecrets(
  text: string,
  fields: JsonValue,
  redact: (text: string) => string,
): readonly SecretLocation[] {
  const lines = new Map<number, string>();
  for (const position of findRedactedPositions(text, redact(text)))
    lines.set(getLineNumber(text, position), 'a key');
  for (const { name, value } of findNamedSecrets(fields)) {
    const position = text.indexOf(value);
    if (position === -1) continue;
    const line = getLineNumber(text, position);
    if (!lines.has(line)) lines.set(line, `the value of \`${name}\``);
  }
  return [...lines].map(([line, what]) => ({ line, what })).toSorted((a, b) => a.line - b.line);
}

/** Returns the positions in `text` at which redaction has replaced a part. */
function findRedactedPositions(text: string, redacted: string): readonly number[] {
  const positions: number[] = [];
  const [first = '', ...rest] = redacted.split(REDACTED);
  let position = first.length;
  for (const unchanged of rest) {
    // The text itself may contain the replacement.
    if (!text.startsWith(REDACTED, position)) positions.push(position);
    const next = text.indexOf(unchanged, position + 1);
    position = (next === -1 ? position : next) + unchanged.length;
  }
  return positions;
}

function getLineNumber(text: string, position: number): number {
  return text.slice(0, position).split('\n').length;
}

interface NamedSecret {
  readonly name: string;
  readonly value: string;
}

/** Finds values at any depth whose names suggest a secret. */
function findNamedSecrets(value: JsonValue, name = ''): readonly NamedSecret[] {
  if (typeof value === 'string') {
    const [, secret = value] = CREDENTIAL.exec(value) ?? [];
    const isNamedSecret =
      isSecret(name, secret) || (/^authorization$/i.test(name) && secret !== value);
    return isNamedSecret && !PLACEHOLDER.test(secret) && !VARIABLE.test(secret)
      ? [{ name, value }]
      : [];
  }
  if (Array.isArray(value)) return value.flatMap((item: JsonValue) => findNamedSecrets(item, name));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, item]) => findNamedSecrets(item ?? null, key));
}
