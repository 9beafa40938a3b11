import type { Field, Fields } from './fields.ts';
import { MAX_INDICATORS, parseStrict } from './strict-yaml.ts';

const KEY = /^([A-Za-z][\w-]*)[ \t]*:(?=[ \t]|$)/;

interface Entry {
  readonly key: string;
  readonly line: number;
  readonly lines: string[];
}

/**
 * Reads front matter that is not valid YAML, line by line. An entry starts at a `key:` in the first column that is
 * a known field, occurs for the first time and is not inside an `<example>` that is closed later. Every other line
 * continues the entry before it. Each entry is parsed as YAML by itself, and if that fails, its value is its text.
 * The result is empty when no line starts with a known field.
 */
export async function parseTolerant(
  yaml: string,
  firstLine: number,
  isKnownField: (key: string) => boolean,
): Promise<Fields> {
  const fields = new Map<string, Field>();
  const entries = splitEntries(yaml, firstLine, isKnownField);
  // All entries together may cost as much as one front matter.
  const maxIndicators = Math.floor(MAX_INDICATORS / Math.max(1, entries.length));
  for (const entry of entries) {
    fields.set(entry.key, { value: await entryValue(entry, maxIndicators), line: entry.line });
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
    inExample = endsInExample(line, inExample);
  }
  return [...entries.values()];
}

function endsInExample(line: string, before: boolean): boolean {
  const open = line.lastIndexOf('<example>');
  const close = line.lastIndexOf('</example>');
  return open === close ? before : open > close;
}

async function entryValue(entry: Entry, maxIndicators: number): Promise<Field['value']> {
  const text = entry.lines.join('\n');
  const alone = await parseStrict(text, entry.line, maxIndicators);
  const field = alone.ok && alone.fields.size === 1 ? alone.fields.get(entry.key) : undefined;
  return field?.value ?? text.replace(KEY, '').trim();
}
