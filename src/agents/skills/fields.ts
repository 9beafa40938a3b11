import type { JsonValue } from '../../base/json.ts';
import { collapseWhitespace, truncate } from '../../base/text.ts';
import type { SkillDefinition } from '../../protocol/skill.ts';
import { grantedTools, type ToolGrant } from '../../protocol/tool-aliases.ts';
import { withoutControls } from '../parsing/fields.ts';
import { readBoolean, fieldText, singleLineOf } from '../fields/common.ts';
import type { FieldReader } from '../fields/field-reader.ts';
import { mergeToolGrants, tooWideMessage, type GrantedTools } from '../fields/tool-grants.ts';

/** The most characters of a description: hostile files have far longer ones. */
const MAX_DESCRIPTION = 20_000;
/** The characters of the text that are searched for a description, and the most characters of that description. */
const LOOKED_AT = 4_000;
const MAX_BEGINNING = 500;
const MAX_HINT = 200;
/** The most arguments: more than anybody writes. */
const MAX_ARGUMENTS = 50;
const ARGUMENT_NAME = /^[A-Za-z_][\w-]{0,63}$/;

/** Reports a declared name that differs from the name of the folder. */
export function compareNames(reader: FieldReader, folder: string): void {
  const field = reader.take('name');
  const declared = singleLineOf(field?.value);
  if (declared === undefined || declared === folder) return;
  const message = `Its name is \`${declared}\`, and the name of its folder is \`${folder}\`; the folder counts. Make them the same.`;
  reader.warn('name-differs-from-folder', message, field?.line);
}

/** Reads the description, with the `when_to_use` of some products. Without one, it is the beginning of the text. */
export function readSkillDescription(reader: FieldReader, body: string): string {
  const field = reader.take('description');
  const parts = [field?.value, reader.take('when_to_use')?.value].map(fieldText);
  const written = parts.filter((part) => part !== undefined).join(' ');
  if (written !== '') return truncate(written, MAX_DESCRIPTION);
  const message =
    'There is no `description`: the beginning of the text is used instead. Say what it does and when to use it.';
  reader.warn('missing-description', message, field?.line);
  const beginning = withoutControls(truncate(body, LOOKED_AT)).replace(/^(?:#.*\n|\s)+/, '');
  return truncate(collapseWhitespace(beginning.split('\n\n', 1)[0] ?? ''), MAX_BEGINNING);
}

export function readContext(reader: FieldReader): Pick<SkillDefinition, 'context' | 'agent'> {
  const field = reader.take('context');
  const agent = singleLineOf(reader.take('agent')?.value);
  const context = singleLineOf(field?.value);
  if (context === 'fork') return { context, ...(agent === undefined ? {} : { agent }) };
  if (context !== undefined && context !== 'inline' && context !== 'inherit') {
    const message = `\`context\` can only be \`fork\`; \`${context}\` is ignored.`;
    reader.warn('invalid-context', message, field?.line);
  }
  if (agent === undefined) return {};
  const message = '`agent` has an effect only with `context: fork`.';
  reader.warn('agent-without-fork', message, field?.line);
  return { agent };
}

/** @param options.unclear the result for a value that is neither true nor false */
export function readFlag(
  reader: FieldReader,
  name: string,
  { unclear }: { readonly unclear: boolean },
): boolean {
  const field = reader.take(name);
  if (field === undefined || field.value === null) return false;
  const value = readBoolean(field.value);
  if (value !== undefined) return value;
  const message = `\`${name}\` must be true or false; it counts as ${String(unclear)}.`;
  reader.warn('invalid-flag', message, field.line);
  return unclear;
}

/** Many files write the hint without quotation marks, `[issue-number]`, which is a list in YAML. */
export function readHint(reader: FieldReader): string | undefined {
  const value = reader.take('argument-hint')?.value;
  const hint = Array.isArray(value)
    ? value.map((each: JsonValue) => `[${fieldText(each) ?? ''}]`).join(' ')
    : fieldText(value);
  return hint === undefined ? undefined : truncate(collapseWhitespace(hint), MAX_HINT);
}

export function readArgumentNames(reader: FieldReader): readonly string[] {
  const field = reader.take('arguments');
  const value = field?.value ?? [];
  const words: readonly JsonValue[] = Array.isArray(value)
    ? value
    : (fieldText(value) ?? '').split(/[\s,]+/);
  const names = words
    .slice(0, MAX_ARGUMENTS)
    .map((each) => fieldText(each))
    .filter((each) => each !== undefined);
  const wrong = names.filter((each) => !ARGUMENT_NAME.test(each));
  if (wrong.length > 0) {
    const message = `\`arguments\` are names of letters, digits, \`-\` and \`_\`; ignored: ${wrong.join(', ')}.`;
    reader.warn('invalid-arguments', message, field?.line);
    // Without them, the other arguments would have the wrong positions.
    return [];
  }
  return names;
}

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
