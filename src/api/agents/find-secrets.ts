import type { SecretLocation } from '../../agents/lint/findings.ts';
import { isJsonObject, type JsonValue } from '../../base/json.ts';
import { REDACTED } from '../../protocol/redaction.ts';
import { isSecret } from '../setup/secrets.ts';

/**
 * Matches placeholders of secrets: `${TOKEN}`, `$TOKEN`, `<your key>`, `YOUR_KEY`, `xxxx`, `...`.
 */
const PLACEHOLDER = /^\$|[{<[]|^(?:your|my|example|test|dummy|changeme|replace)|^(.)\1*$|\.\.\./i;

/** Matches a header's value that contains a credential: `Bearer …`. */
const CREDENTIAL = /^(?:bearer|basic|token)\s+(\S{8,})$/i;

/** Matches the name of a variable that holds a secret. */
const VARIABLE = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/;

/**
 * Finds the lines of a file that seem to contain a secret: a key by its form, a secret of the environment (`redact`
 * knows both), or a value whose field is named like one.
 */
export function findSecrets(
  text: string,
  fields: JsonValue,
  redact: (text: string) => string,
): readonly SecretLocation[] {
  const lines = new Map<number, string>();
  for (const at of redactedPlaces(text, redact(text))) lines.set(lineAt(text, at), 'a key');
  for (const { name, value } of namedSecrets(fields)) {
    const at = text.indexOf(value);
    if (at === -1) continue;
    const line = lineAt(text, at);
    if (!lines.has(line)) lines.set(line, `the value of \`${name}\``);
  }
  return [...lines].map(([line, what]) => ({ line, what })).toSorted((a, b) => a.line - b.line);
}

/** Returns the positions at which the redaction mark replaced text. */
function redactedPlaces(text: string, redacted: string): readonly number[] {
  const places: number[] = [];
  const [first = '', ...rest] = redacted.split(REDACTED);
  let at = first.length;
  for (const kept of rest) {
    if (!text.startsWith(REDACTED, at)) places.push(at);
    const next = text.indexOf(kept, at + 1);
    at = (next === -1 ? at : next) + kept.length;
  }
  return places;
}

function lineAt(text: string, at: number): number {
  return text.slice(0, at).split('\n').length;
}

interface NamedSecret {
  readonly name: string;
  readonly value: string;
}

/** Finds values at any depth whose names are those of secrets. */
function namedSecrets(value: JsonValue, name = ''): readonly NamedSecret[] {
  if (typeof value === 'string') {
    const [, secret = value] = CREDENTIAL.exec(value) ?? [];
    const isOne = isSecret(name, secret) || (/^authorization$/i.test(name) && secret !== value);
    return isOne && !PLACEHOLDER.test(secret) && !VARIABLE.test(secret) ? [{ name, value }] : [];
  }
  if (Array.isArray(value)) return value.flatMap((item: JsonValue) => namedSecrets(item, name));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, item]) => namedSecrets(item ?? null, key));
}
