import type { FieldProblem, Fields, Field } from './fields.ts';
import { parseSimple } from './simple-yaml.ts';
import { splitFrontMatter } from './split-front-matter.ts';
import { parseStrict, MAX_INDICATORS } from './strict-yaml.ts';

/** The front matter of a markdown file. */
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
 * Reads the front matter of a markdown file: first strictly as YAML, and if that fails, line by line, with a warning
 * that names the mistake. Never throws because of the content of the file.
 *
 * @param options.fieldTest returns the function that says which keys are known fields; called only for invalid YAML
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

/**
 * The maximum number of UTF-16 code units of YAML. Real files have far fewer, and reading this many does not delay the
 * start.
 */
const MAX_YAML_LENGTH = 2 * 1024 * 1024;

type YamlReading =
  | { readonly ok: true; readonly fields: Fields; readonly problems: readonly FieldProblem[] }
  | {
      readonly ok: false;
      readonly code: string;
      readonly message: string;
      readonly line: number;
    };

interface YamlSource {
  readonly yaml: string;
  /** The line of the file on which the YAML begins. */
  readonly line: number;
  /** The subject of messages: `The front matter`. */
  readonly subject: string;
  /** Returns the function that says which keys are known fields. It is called only for invalid YAML. */
  readonly fieldTest: () => (key: string) => boolean;
}

/**
 * Reads YAML strictly, and if that fails, line by line, with a warning that names the mistake. Never throws because of
 * the content of the YAML.
 */
export async function readYaml(source: YamlSource): Promise<YamlReading> {
  const { yaml, line, subject, fieldTest } = source;
  if (yaml.length > MAX_YAML_LENGTH) {
    const message = `${subject} is larger than ${MAX_YAML_LENGTH} characters.`;
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

const KEY = /^([A-Za-z][\w-]*)[ \t]*:(?=[ \t]|$)/;

/** A key with its lines, in YAML that is read line by line. */
interface Entry {
  readonly key: string;
  readonly line: number;
  readonly lines: string[];
}

/**
 * Reads front matter that is not valid YAML, line by line. An entry starts at a `key:` in the first column that is a
 * known field, occurs for the first time and is not inside an `<example>` that is closed later. Every other line
 * continues the current entry. Each entry is parsed as YAML by itself, and if that fails, its value is its text. The
 * result is empty if no line starts with a known field.
 */
async function parseTolerant(
  yaml: string,
  firstLine: number,
  isKnownField: (key: string) => boolean,
): Promise<Fields> {
  const fields = new Map<string, Field>();
  const entries = splitEntries(yaml, firstLine, isKnownField);
  // Parsing all entries must not take longer than parsing one front matter.
  const maxIndicators = Math.floor(MAX_INDICATORS / Math.max(1, entries.length));
  for (const entry of entries) {
    fields.set(entry.key, { value: await readEntryValue(entry, maxIndicators), line: entry.line });
  }
  return fields;
}

function splitEntries(
  yaml: string,
  firstLine: number,
  isKnownField: (key: string) => boolean,
): readonly Entry[] {
  const lines = yaml.split('\n');
  const lastClose = lines.findLastIndex((line) => line.includes('</example>'));
  const entries = new Map<string, Entry>();
  let current: Entry | undefined;
  let inExample = false;
  for (const [index, line] of lines.entries()) {
    const key = inExample && index <= lastClose ? undefined : KEY.exec(line)?.[1];
    if (key !== undefined && !entries.has(key) && isKnownField(key)) {
      current = { key, line: firstLine + index, lines: [line] };
      entries.set(key, current);
    } else {
      current?.lines.push(line);
    }
    inExample = isInExampleAfter(line, inExample);
  }
  return [...entries.values()];
}

function isInExampleAfter(line: string, before: boolean): boolean {
  const open = line.lastIndexOf('<example>');
  const close = line.lastIndexOf('</example>');
  return open === close ? before : open > close;
}

async function readEntryValue(entry: Entry, maxIndicators: number): Promise<Field['value']> {
  const text = entry.lines.join('\n');
  const alone = await parseStrict(text, entry.line, maxIndicators);
  const field = alone.ok && alone.fields.size === 1 ? alone.fields.get(entry.key) : undefined;
  return field?.value ?? text.replace(KEY, '').trim();
}
