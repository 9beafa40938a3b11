import type { FieldProblem, Fields } from './front-matter/fields.ts';
import { parseSimple } from './front-matter/simple.ts';
import { splitFrontMatter } from './front-matter/split.ts';
import { parseStrict } from './front-matter/strict.ts';
import { parseTolerant } from './front-matter/tolerant.ts';

/** Characters (UTF-16 units); far above any real file, and below what would hold up a start. */
const MAX_FRONT_MATTER = 2 * 1024 * 1024;

export type FrontMatter =
  /** The file has none. */
  | { readonly kind: 'none' }
  /** There is one that cannot be read; `message` says why and what to do. */
  | {
      readonly kind: 'unreadable';
      readonly code: string;
      readonly message: string;
      readonly line: number;
    }
  | {
      readonly kind: 'fields';
      readonly fields: Fields;
      /** What follows the front matter, with `\n` line ends, trimmed. */
      readonly body: string;
      readonly problems: readonly FieldProblem[];
    };

/**
 * Reads the front matter of a markdown file: strictly as YAML first, and where that fails line by
 * line, with a warning that names the fault. `fieldTest` is asked then, once, for what tells which keys
 * may start an entry.
 * Never throws for what a file holds.
 */
export async function parseFrontMatter(
  text: string,
  options: { readonly fieldTest: () => (key: string) => boolean },
): Promise<FrontMatter> {
  const split = splitFrontMatter(text);
  if (split.kind === 'none') return split;
  if (split.kind === 'unclosed') {
    const message = 'The front matter is not closed. End it with a line `---`.';
    return { kind: 'unreadable', code: 'front-matter-unclosed', message, line: split.line };
  }
  const { yaml, yamlLine } = split;
  if (yaml.length > MAX_FRONT_MATTER) {
    const message = `The front matter is larger than ${MAX_FRONT_MATTER} characters.`;
    return { kind: 'unreadable', code: 'front-matter-too-large', message, line: yamlLine };
  }
  const body = split.body.trim();
  const simple = parseSimple(yaml, yamlLine);
  if (simple !== undefined) return { kind: 'fields', fields: simple, body, problems: [] };
  const strict = await parseStrict(yaml, yamlLine);
  if (strict.ok) return { kind: 'fields', fields: strict.fields, body, problems: strict.problems };
  const fields = await parseTolerant(yaml, yamlLine, options.fieldTest());
  if (fields.size === 0) {
    const message = `The front matter is no valid YAML (${strict.message}), and no line of it starts with a known field.`;
    return { kind: 'unreadable', code: 'invalid-yaml', message, line: strict.line };
  }
  const message = `The front matter is no valid YAML (${strict.message}); it was read line by line.`;
  const problem: FieldProblem = { code: 'invalid-yaml', message, line: strict.line };
  return { kind: 'fields', fields, body, problems: [problem] };
}
