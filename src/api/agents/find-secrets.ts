import type { SecretLocation } from '../../agents/lint/findings.ts';
import type { JsonValue } from '../../base/json.ts';
import { REDACTED } from '../../protocol/redaction.ts';
import { findNamedSecrets } from '../setup/secrets.ts';

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
