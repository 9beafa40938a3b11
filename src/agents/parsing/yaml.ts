import { parseSimple } from './simple-yaml.ts';
import type { FieldProblem, Fields } from './fields.ts';
import { parseStrict } from './strict-yaml.ts';
import { parseTolerant } from './tolerant-yaml.ts';

/** The most characters (UTF-16 units): far more than any real file has, and less than would delay the start. */
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
  /** The line of the file on which it begins. */
  readonly line: number;
  /** The subject of messages: `The front matter`. */
  readonly subject: string;
  /** Returns the function that tells which keys may start an entry. It is only called for invalid YAML. */
  readonly fieldTest: () => (key: string) => boolean;
}

/** Reads YAML strictly, and if that fails, line by line, with a warning that names the mistake. Never throws because of its content. */
export async function readYaml({
  yaml,
  line,
  subject,
  fieldTest,
}: YamlSource): Promise<YamlReading> {
  if (yaml.length > MAX_YAML) {
    const message = `${subject} is larger than ${MAX_YAML} characters.`;
    return { ok: false, code: 'front-matter-too-large', message, line };
  }
  const simple = parseSimple(yaml, line);
  if (simple !== undefined) return { ok: true, fields: simple, problems: [] };
  const strict = await parseStrict(yaml, line);
  if (strict.ok) return strict;
  const fields = await parseTolerant(yaml, line, fieldTest());
  if (fields.size === 0) {
    const message = `${subject} is not valid YAML (${strict.message}), and no line of it starts with a known field.`;
    return { ok: false, code: 'invalid-yaml', message, line: strict.line };
  }
  const message = `${subject} is not valid YAML (${strict.message}); it was read line by line.`;
  const problem: FieldProblem = { code: 'invalid-yaml', message, line: strict.line };
  return { ok: true, fields, problems: [problem] };
}
