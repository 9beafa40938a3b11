import type { JsonObject, JsonValue } from '../../base/json.ts';
import { isJsonObject } from '../../base/json.ts';
import type { ToolSelection } from '../../protocol/agent.ts';
import { expandToolWord } from '../../protocol/tool-aliases.ts';
import type { Field } from '../front-matter/fields.ts';
import type { FieldReader } from './field-reader.ts';

const ALL_TOOLS: ToolSelection = { mode: 'all', names: [] };
const NO_TOOLS: ToolSelection = { mode: 'allow', names: [] };

/** `mcp__SERVER__TOOL`; all tools of a server are `mcp__SERVER` or `mcp__SERVER__*`. */
const MCP_TOOL = /^mcp__[\w.*-]+$/;
const PATTERN = /^([\w/.-]+)\s*\(.*\)$/s;

interface ToolFields {
  readonly tools: ToolSelection;
  readonly disallowedTools: readonly string[];
}

/**
 * `tools` (`A, B`, a list, `*`, or seed S3's `{mode, allow, deny}`; absent means all, empty none) and
 * `disallowedTools`. What cannot be read gives no tools and a warning: a limit that a file meant to
 * set must never become none.
 */
export function readToolFields(reader: FieldReader): ToolFields {
  const tools = readTools(reader);
  const field = reader.take('disallowed-tools');
  if (field === undefined) return { tools, disallowedTools: [] };
  const denied = deniedTools(reader, field);
  return denied === undefined
    ? { tools: unreadable(reader, '`disallowedTools`', field.line), disallowedTools: [] }
    : { tools, disallowedTools: denied };
}

function readTools(reader: FieldReader): ToolSelection {
  const field = reader.take('tools') ?? reader.take('allowed-tools');
  if (field === undefined) return ALL_TOOLS;
  if (isJsonObject(field.value)) return readToolMap(reader, field.value, field.line);
  return allowedTools(reader, field) ?? unreadable(reader, '`tools`', field.line);
}

/** S3's form. Where `mode` is absent, the list that is there decides. */
function readToolMap(
  reader: FieldReader,
  map: JsonObject,
  line: number | undefined,
): ToolSelection {
  const mode = map['mode'] ?? (map['allow'] === undefined ? 'denylist' : 'allowlist');
  const denied = deniedTools(reader, { value: map['deny'] ?? [], line });
  if (denied === undefined) return unreadable(reader, '`tools.deny`', line);
  if (mode === 'denylist' || mode === 'deny') {
    return map['deny'] === undefined
      ? unreadable(reader, '`tools.deny`', line)
      : { mode: 'deny', names: denied };
  }
  if (mode !== 'allowlist' && mode !== 'allow') return unreadable(reader, '`tools.mode`', line);
  const allowed = allowedTools(reader, { value: map['allow'] ?? [], line });
  if (allowed === undefined) return unreadable(reader, '`tools.allow`', line);
  if (denied.length === 0) return allowed;
  if (allowed.mode === 'all') return { mode: 'deny', names: denied };
  return { mode: 'allow', names: allowed.names.filter((name) => !denied.includes(name)) };
}

/** What a pattern names in part is left out: the narrower of the two readings. */
function allowedTools(reader: FieldReader, { value, line }: Field): ToolSelection | undefined {
  const words = toolWords(value);
  if (words === undefined) return undefined;
  if (words.includes('*')) return everyTool(reader, words, line);
  const names = knownTools(reader, words, { line, onPattern: 'drop' });
  if (words.length === 0) {
    reader.warn('no-tools', 'The list of tools is empty: the agent has none.', line);
  } else if (names.length === 0) {
    const message = `None of the tools it asks for can be used (${words.join(', ')}): the agent has none.`;
    reader.warn('no-known-tools', message, line);
  }
  return { mode: 'allow', names };
}

/** What a pattern names in part is denied as a whole: the narrower of the two readings. */
function deniedTools(reader: FieldReader, { value, line }: Field): readonly string[] | undefined {
  const words = toolWords(value);
  return words === undefined ? undefined : knownTools(reader, words, { line, onPattern: 'whole' });
}

function everyTool(
  reader: FieldReader,
  wished: readonly string[],
  line: number | undefined,
): ToolSelection {
  const beside = wished.filter((word) => word !== '*');
  if (beside.length > 0) {
    const message = `\`*\` stands for the core set; beside it these have no effect: ${beside.join(', ')}.`;
    reader.warn('tools-beside-star', message, line);
  }
  return ALL_TOOLS;
}

function unreadable(reader: FieldReader, what: string, line: number | undefined): ToolSelection {
  const message = `${what} cannot be read, so the agent has no tools. Write \`Read, Grep\`, a list of names, or \`{mode: allowlist, allow: [Read]}\`.`;
  reader.warn('invalid-tools', message, line);
  return NO_TOOLS;
}

/** The words of a comma-separated string or a list; undefined for anything else. */
function toolWords(value: JsonValue): readonly string[] | undefined {
  if (value === null) return [];
  if (typeof value === 'string') return splitWords(value);
  if (!Array.isArray(value)) return undefined;
  const words: string[] = [];
  for (const item of value) {
    if (typeof item !== 'string') return undefined;
    words.push(...splitWords(item));
  }
  return words;
}

/** Splits at commas and line ends outside brackets: `Task(a, b), Read` is two words. */
function splitWords(text: string): readonly string[] {
  const list = text.trim().replace(/^\[([\s\S]*)\]$/, '$1');
  const words = list.includes('(') ? splitOutsideBrackets(list) : list.split(/[,\n]/);
  return words.map(cleanWord).filter((each) => each !== '');
}

function splitOutsideBrackets(list: string): readonly string[] {
  const words: string[] = [];
  let depth = 0;
  let word = '';
  for (const char of list) {
    if (char === '(') depth += 1;
    if (char === ')') depth = Math.max(0, depth - 1);
    if (depth === 0 && (char === ',' || char === '\n')) {
      words.push(word);
      word = '';
    } else {
      word += char;
    }
  }
  words.push(word);
  return words;
}

/** Without a list's dash and quotes, which the line-by-line reading leaves on. */
function cleanWord(word: string): string {
  const bare = word.trim();
  // Most words begin with a letter and are done.
  if (!/^[-"']/.test(bare)) return bare;
  return bare
    .replace(/^- +/, '')
    .replace(/^(["'])(.*)\1$/, '$2')
    .trim();
}

interface KnownToolsOptions {
  readonly line: number | undefined;
  /** What becomes of `Bash(git log:*)`: leave it out, or take the tool as a whole. */
  readonly onPattern: 'drop' | 'whole';
}

function knownTools(
  reader: FieldReader,
  words: readonly string[],
  options: KnownToolsOptions,
): readonly string[] {
  const names = new Set<string>();
  const unknown: string[] = [];
  for (const word of words) {
    const pattern = word.includes('(') ? PATTERN.exec(word)?.[1] : undefined;
    const found = toolNames(reader, pattern ?? word);
    if (found.length === 0) unknown.push(word);
    if (pattern !== undefined && found.length > 0) warnPattern(reader, word, options);
    if (pattern === undefined || options.onPattern === 'whole') {
      for (const name of found) names.add(name);
    }
  }
  for (const word of new Set(unknown)) {
    reader.warn('unknown-tool', `Unknown tool \`${word}\`; it is left out.`, options.line);
  }
  return [...names];
}

function warnPattern(
  reader: FieldReader,
  word: string,
  { line, onPattern }: KnownToolsOptions,
): void {
  const message =
    onPattern === 'drop'
      ? `\`${word}\` limits a tool to a pattern, which \`tools\` cannot do; the tool is left out.`
      : `\`${word}\` denies a pattern, which this field cannot do; the whole tool is denied.`;
  reader.warn('tool-pattern', message, line);
}

function toolNames(reader: FieldReader, word: string): readonly string[] {
  if (word.startsWith('mcp__')) return MCP_TOOL.test(word) ? [word] : [];
  return expandToolWord(word, reader.vendor) ?? [];
}
