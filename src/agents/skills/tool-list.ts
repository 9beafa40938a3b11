import type { JsonValue } from '../../base/json.ts';
import { truncate } from '../../base/text.ts';
import { grantedTools, type ToolGrant } from '../../protocol/tool-aliases.ts';
import type { FieldReader } from '../fields/field-reader.ts';
import { mergeToolGrants, tooWideMessage, type GrantedTools } from '../fields/tool-grants.ts';

/** `mcp__SERVER__TOOL`, and patterns for several tools. */
const MCP_TOOL = /^mcp__[\w.*-]+$/;
/** The name of a tool, with or without a limit in parentheses. */
const TOOL = /[^\s,()]+(?:\([^()]*(?:\([^()]*\)[^()]*)*\))?/g;
const PATTERN = /^([^()]+)\(/;
/** The most characters of a list: far more than the names of all tools have. */
const MAX_LIST = 20_000;

/**
 * Reads `allowed-tools`: names separated by spaces or commas, or a list. Undefined: it is absent. A pattern such as
 * `Bash(git log:*)` means its tool, as in Claude Code, where a pattern only allows calls without a question: the
 * rules of the agent that runs the skill decide which calls run. A value that cannot be read grants nothing, with
 * a warning.
 */
export function readAllowedTools(reader: FieldReader): GrantedTools | undefined {
  const list = takeWords(reader, 'allowed-tools');
  if (list === undefined) return undefined;
  const words = list.words.map((word) => ({ word, grants: toolGrants(word, reader.vendor) }));
  warnOfUnknown(reader, list, words);
  const { tooWide, ...granted } = mergeToolGrants(words.flatMap(({ grants }) => grants));
  for (const { word, tool } of tooWide) {
    reader.warn('too-wide-alias', tooWideMessage(word, tool), list.line);
  }
  return granted;
}

/** Reads `disallowed-tools`, in the form of `allowed-tools`, as canonical names. A name for a part of a tool denies the whole tool. */
export function readDisallowedTools(reader: FieldReader): readonly string[] {
  const list = takeWords(reader, 'disallowed-tools');
  if (list === undefined) return [];
  const words = list.words.map((word) => ({ word, grants: toolGrants(word, reader.vendor) }));
  warnOfUnknown(reader, list, words);
  return [...new Set(words.flatMap(({ grants }) => grants.map(({ tool }) => tool)))];
}

interface WordList {
  /** Without duplicates. */
  readonly words: readonly string[];
  readonly line: number | undefined;
}

function takeWords(reader: FieldReader, name: string): WordList | undefined {
  const field = reader.take(name);
  if (field === undefined || field.value === null) return undefined;
  const words = toolWords(field.value);
  if (words !== undefined) return { words: [...new Set(words)], line: field.line };
  const message = `\`${name}\` cannot be read and names no tool. Write \`Read Grep\` or a list of names.`;
  reader.warn('invalid-tools', message, field.line);
  return { words: [], line: field.line };
}

function warnOfUnknown(
  reader: FieldReader,
  { line }: WordList,
  words: readonly { readonly word: string; readonly grants: readonly ToolGrant[] }[],
): void {
  const unknown = words.filter(({ grants }) => grants.length === 0).map(({ word }) => word);
  if (unknown.length > 0) reader.warn('unknown-tool', leftOut(unknown), line);
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
    words.push(...(list.replaceAll(/^\s*\[|\]\s*$/g, '').match(TOOL) ?? []).map(bare));
  }
  return words.filter((word) => word !== '' && word !== '-');
}

/** Removes quotation marks, which remain when YAML is read line by line. */
function bare(word: string): string {
  return word.replace(/^(["'])(.*)\1$/, '$2');
}

function toolGrants(word: string, vendor: string): readonly ToolGrant[] {
  const name = PATTERN.exec(word)?.[1] ?? word;
  if (name.startsWith('mcp__')) return MCP_TOOL.test(name) ? [{ tool: name }] : [];
  return grantedTools(name, vendor) ?? [];
}
