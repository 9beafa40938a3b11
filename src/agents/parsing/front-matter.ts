import type { FieldProblem, Fields } from './fields.ts';
import { splitFrontMatter } from './split-front-matter.ts';
import { readYaml } from './yaml.ts';

export type FrontMatter =
  /** The file has no front matter. */
  | { readonly kind: 'none' }
  /** The front matter cannot be read. `message` gives the reason, and says what to do. */
  | {
      readonly kind: 'unreadable';
      readonly code: string;
      readonly message: string;
      readonly line: number;
    }
  | {
      readonly kind: 'fields';
      readonly fields: Fields;
      /** The text after the front matter, with `\n` line ends, trimmed. */
      readonly body: string;
      readonly problems: readonly FieldProblem[];
    };

/**
 * Reads the front matter of a markdown file: first strictly as YAML, and if that fails, line by line, with a
 * warning that names the mistake. Never throws because of the content of the file.
 * @param options.fieldTest returns the function that tells which keys may start an entry; only called for invalid YAML
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
  const { yaml, yamlLine: line } = split;
  const read = await readYaml({ yaml, line, subject: 'The front matter', ...options });
  if (!read.ok) {
    const { code, message, line } = read;
    return { kind: 'unreadable', code, message, line };
  }
  const { fields, problems } = read;
  return { kind: 'fields', fields, body: split.body.trim(), problems };
}
