import { parseSimple } from './simple.ts';
import type { FieldProblem, Fields } from './fields.ts';
import { parseStrict } from './strict.ts';
import { parseTolerant } from './tolerant.ts';

/** Characters (UTF-16 units); far above any real file, and below what would hold up a start. */
const MAX_YAML = 2 * 1024 * 1024;

export type YamlReading =
  | { readonly ok: true; readonly fields: Fields; readonly problems: readonly FieldProblem[] }
  | {
      readonly ok: false;
      readonly code: string;
      readonly message: string;
      readonly line: number;
    };

export interface YamlSource {
  readonly yaml: string;
  /** The line of the file that it begins on. */
  readonly line: number;
  /** What it is, for messages: `The front matter`. */
  readonly what: string;
  /** Asked once, and only for what is no valid YAML: which keys may start an entry. */
  readonly fieldTest: () => (key: string) => boolean;
}

/**
 * Reads YAML strictly first, and where that fails line by line, with a warning that names the fault.
 * Never throws for what it holds.
 */
export async function readYaml({ yaml, line, what, fieldTest }: YamlSource): Promise<YamlReading> {
  if (yaml.length > MAX_YAML) {
    const message = `${what} is larger than ${MAX_YAML} characters.`;
    return { ok: false, code: 'front-matter-too-large', message, line };
  }
  const simple = parseSimple(yaml, line);
  if (simple !== undefined) return { ok: true, fields: simple, problems: [] };
  const strict = await parseStrict(yaml, line);
  if (strict.ok) return strict;
  const fields = await parseTolerant(yaml, line, fieldTest());
  if (fields.size === 0) {
    const message = `${what} is no valid YAML (${strict.message}), and no line of it starts with a known field.`;
    return { ok: false, code: 'invalid-yaml', message, line: strict.line };
  }
  const message = `${what} is no valid YAML (${strict.message}); it was read line by line.`;
  const problem: FieldProblem = { code: 'invalid-yaml', message, line: strict.line };
  return { ok: true, fields, problems: [problem] };
}
