import type { JsonValue } from '../../base/json.ts';
import { truncate } from '../../base/text.ts';
import { expandToolWord } from '../../protocol/tool-aliases.ts';
import type { FieldReader } from '../formats/fields/field-reader.ts';

/** `mcp__SERVER__TOOL`, and patterns that name several. */
const MCP_TOOL = /^mcp__[\w.*-]+$/;
/** A tool's name, with or without what limits its calls in brackets. */
const WORD = /[^\s,()]+(?:\([^()]*(?:\([^()]*\)[^()]*)*\))?/g;
const PATTERN = /^([^()]+)\(/;
/** Characters of a list; far more than names of all tools there are. */
const MAX_LIST = 20_000;

/**
 * `allowed-tools` and `disallowed-tools`: names with blanks or commas between them, or a list; absent
 * means undefined. A pattern such as `Bash(git log:*)` stands for its tool: which of its calls run is up
 * to the rules of whoever runs the skill. What cannot be read is told and allows nothing.
 */
export function readToolList(reader: FieldReader, name: string): readonly string[] | undefined {
  const field = reader.take(name);
  if (field === undefined || field.value === null) return undefined;
  const words = toolWords(field.value);
  if (words === undefined) {
    const message = `\`${name}\` cannot be read and names no tool. Write \`Read Grep\` or a list of names.`;
    reader.warn('invalid-tools', message, field.line);
    return [];
  }
  const names = new Set<string>();
  const unknown: string[] = [];
  for (const word of new Set(words)) {
    const tools = toolNames(word, reader.vendor);
    if (tools.length === 0) unknown.push(word);
    for (const tool of tools) names.add(tool);
  }
  if (unknown.length > 0) reader.warn('unknown-tool', leftOut(unknown), field.line);
  return [...names];
}

function leftOut(words: readonly string[]): string {
  const list = words.map((word) => `\`${word}\``).join(', ');
  return words.length === 1
    ? `Unknown tool ${list}; it is left out.`
    : `Unknown tools ${list}; they are left out.`;
}

function toolWords(value: JsonValue): readonly string[] | undefined {
  const texts: readonly JsonValue[] = Array.isArray(value) ? value : [value];
  const words: string[] = [];
  for (const text of texts) {
    if (typeof text !== 'string') return undefined;
    const list = truncate(text, MAX_LIST);
    words.push(...(list.replaceAll(/^\s*\[|\]\s*$/g, '').match(WORD) ?? []).map(bare));
  }
  return words.filter((word) => word !== '' && word !== '-');
}

/** Without quotes, which the line-by-line reading leaves on. */
function bare(word: string): string {
  return word.replace(/^(["'])(.*)\1$/, '$2');
}

function toolNames(word: string, vendor: string): readonly string[] {
  const name = PATTERN.exec(word)?.[1] ?? word;
  if (name.startsWith('mcp__')) return MCP_TOOL.test(name) ? [name] : [];
  return expandToolWord(name, vendor) ?? [];
}
