import type { FieldProblem, Fields } from './fields.ts';
import { splitFrontMatter } from './split.ts';
import { readYaml } from './yaml.ts';

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
  const what = 'The front matter';
  const read = await readYaml({ yaml: split.yaml, line: split.yamlLine, what, ...options });
  if (!read.ok) {
    const { code, message, line } = read;
    return { kind: 'unreadable', code, message, line };
  }
  const { fields, problems } = read;
  return { kind: 'fields', fields, body: split.body.trim(), problems };
}
