import { isJsonObject } from '../base/json.ts';
import { readDiagnostics, type Problem } from './problems.ts';

/** The severities of tsserver, by the numbers of the protocol. Its suggestions are hints. */
const SEVERITIES: Readonly<Record<string, number>> = { error: 1, warning: 2, suggestion: 4 };

/** Reads the problems in answers of tsserver to `syntacticDiagnosticsSync` and `semanticDiagnosticsSync`. */
export function readTsserverDiagnostics(responses: readonly unknown[]): readonly Problem[] {
  return responses.flatMap((response) => {
    const body = isJsonObject(response) ? response['body'] : undefined;
    return Array.isArray(body) ? readDiagnostics(body.map(toDiagnostic)) : [];
  });
}

/** Converts a problem of tsserver, whose lines and columns begin with 1, to the form of the protocol. */
function toDiagnostic(item: unknown): unknown {
  if (!isJsonObject(item) || !isJsonObject(item['start'])) return null;
  const { start, text, code, category } = item;
  const { line, offset } = start;
  if (typeof line !== 'number' || typeof offset !== 'number') return null;
  return {
    range: { start: { line: line - 1, character: offset - 1 } },
    message: text,
    code,
    severity: SEVERITIES[String(category)] ?? 1,
  };
}
