import { isJsonObject, type JsonObject } from '../base/json.ts';
import { truncate } from '../base/text.ts';
import type { RuleSet, PermissionRule } from '../protocol/permission.ts';
import { findKeyEntry } from './key-entry.ts';
import { EMPTY_LAYER, type Assignment, type Layer } from './layer.ts';
import { escapeLine, quoteValue } from './message-text.ts';
import type { ConfigNotice, ConfigProblem, ValueSource } from './setting.ts';
import { CLAUDE_MODES } from '../agents/fields/modes.ts';
import { findSpecifierKind } from '../protocol/specifier-kind.ts';
import { parseRule, printRule, type ParsedRule, type RuleText } from '../policy/rules/rules.ts';
import { makePatternAbsolute } from '../policy/rules/path-pattern.ts';

/** A settings file of Claude Code. Only its permissions are used. */
export interface ClaudeSettings {
  readonly path: string;
  readonly text: string;
  readonly scope: 'user' | 'project';
  /** The absolute directory that patterns like `/src/**` are relative to. */
  readonly directory: string;
}

interface Reading {
  readonly settings: ClaudeSettings;
  readonly assignments: Assignment[];
  readonly problems: ConfigProblem[];
  readonly notices: ConfigNotice[];
  where(path: readonly (string | number)[]): string;
}

const LISTS = ['allow', 'ask', 'deny'] as const satisfies readonly (keyof RuleSet)[];
/** The maximum number of remarks in one notice. */
const MAX_REMARKS = 5;
const MAX_RULE_LENGTH = 80;

/** Reads the permission rules of a settings file, and from the user's own file also the mode. */
export function readClaudeSettings(settings: ClaudeSettings): Layer {
  const { path, text } = settings;
  const parsed = parseJson(path, text);
  if ('problem' in parsed) return { ...EMPTY_LAYER, problems: [parsed.problem] };
  if (!isJsonObject(parsed.value)) return wrong(path, 'it must hold a JSON object');
  const { permissions } = parsed.value;
  if (permissions === undefined) return EMPTY_LAYER;
  const lines = findJsonLines(text);
  const where = (keys: readonly (string | number)[]): string => {
    const line = lines.get(pathKey(keys));
    return line === undefined ? escapeLine(path) : `${escapeLine(path)}:${line}`;
  };
  if (!isJsonObject(permissions)) return wrong(where(['permissions']), 'write it as an object');
  const reading: Reading = { settings, assignments: [], problems: [], notices: [], where };
  readRules(permissions, reading);
  readMode(permissions, reading);
  if (settings.scope === 'project') refuseDirectories(permissions, reading);
  const { assignments, problems, notices } = reading;
  return { ...EMPTY_LAYER, assignments, problems, notices };
}

function parseJson(
  path: string,
  text: string,
): { readonly value: unknown } | { readonly problem: ConfigProblem } {
  try {
    return { value: JSON.parse(text.replace(/^\uFEFF/, '')) };
  } catch (error) {
    // The parser's message quotes the file, which may hold what no log should.
    const at = /\(line (\d+) column (\d+)\)/.exec(String(error));
    const where = at === null ? escapeLine(path) : `${escapeLine(path)}:${at[1]}:${at[2]}`;
    return { problem: { where, message: 'not valid JSON' } };
  }
}

function wrong(where: string, message: string): Layer {
  return { ...EMPTY_LAYER, problems: [{ where: escapeLine(where), message }] };
}

function readRules(permissions: JsonObject, reading: Reading): void {
  const remarks: string[] = [];
  for (const list of LISTS) {
    const rules = permissions[list];
    const listWhere = reading.where(['permissions', list]);
    if (rules === undefined) continue;
    if (!Array.isArray(rules)) {
      reading.problems.push({ where: listWhere, message: `${list} must be a list of rules` });
      continue;
    }
    for (const [index, text] of rules.entries()) {
      const where = reading.where(['permissions', list, index]);
      if (typeof text === 'string') remarks.push(...readRule(text, { list, where }, reading));
      else reading.problems.push({ where, message: `a rule of ${list} must be a text` });
    }
  }
  if (remarks.length === 0) return;
  const more = remarks.length > MAX_REMARKS ? `; and ${remarks.length - MAX_REMARKS} more` : '';
  const message = `rules that cannot be followed to the letter: ${remarks.slice(0, MAX_REMARKS).join('; ')}${more}`;
  reading.notices.push({ where: escapeLine(reading.settings.path), message });
}

/** Adds one rule to the reading, and returns the remarks about it. */
function readRule(
  text: string,
  at: { readonly list: keyof RuleSet; readonly where: string },
  reading: Reading,
): readonly string[] {
  const source: ValueSource = { kind: 'config', where: at.where };
  const { texts, remark } = convertClaudeRule(
    { text, source },
    at.list,
    reading.settings.directory,
  );
  const entry = findKeyEntry(`permissions.${at.list}`);
  if (texts.length > 0) reading.assignments.push({ entry, value: texts, source });
  if (remark === null) return [];
  const line = /:(\d+)$/.exec(at.where)?.[1];
  const shown = escapeLine(truncate(text, MAX_RULE_LENGTH));
  return [`${shown}${line === undefined ? '' : ` (line ${line})`}: ${escapeLine(remark)}`];
}

function readMode(permissions: JsonObject, reading: Reading): void {
  const written = permissions['defaultMode'];
  if (written === undefined) return;
  const where = reading.where(['permissions', 'defaultMode']);
  const notice = (message: string): void => void reading.notices.push({ where, message });
  if (reading.settings.scope === 'project') {
    notice('a project cannot set defaultMode; ignored. Put it into your own configuration');
    return;
  }
  const mode = typeof written === 'string' ? CLAUDE_MODES.get(written)?.mode : undefined;
  if (mode === undefined) notice(`defaultMode ${quoteValue(written)} is not known here; ignored`);
  if (mode === undefined || mode === null) return;
  if (mode === 'autonomous' && permissions['disableBypassPermissionsMode'] === 'disable') {
    notice('defaultMode is ignored, because disableBypassPermissionsMode forbids it');
    return;
  }
  const source: ValueSource = { kind: 'config', where };
  reading.assignments.push({ entry: findKeyEntry('permissions.mode'), value: mode, source });
}

function refuseDirectories(permissions: JsonObject, reading: Reading): void {
  if (permissions['additionalDirectories'] === undefined) return;
  reading.notices.push({
    where: reading.where(['permissions', 'additionalDirectories']),
    message: 'a project cannot add directories; ignored. Give them with --add-dir',
  });
}

/** Matches strings, punctuation, other scalars and line ends, which are all tokens of JSON. */
const TOKENS = /"(?:\\.|[^"\\])*"|[{}[\],:\n]|[^\s"{}[\],:]+/g;

/** Values below this depth get no line: no setting is there, and each path costs time. */
const MAX_DEPTH = 4;

interface Level {
  readonly isArray: boolean;
  /** The index in the array, or the key in the object. */
  at: number | string;
  awaitsKey: boolean;
}

/**
 * Returns the line (from 1) of each value of a valid JSON text, by the path that `pathKey` writes.
 */
export function findJsonLines(text: string): ReadonlyMap<string, number> {
  const lines = new Map<string, number>();
  const levels: Level[] = [];
  let line = 1;
  const note = (): void => {
    if (levels.length <= MAX_DEPTH) lines.set(pathKey(levels.map(({ at }) => at)), line);
  };
  for (const [token] of text.matchAll(TOKENS)) {
    const level = levels.at(-1);
    switch (token) {
      case '\n':
        line += 1;
        break;
      case '{':
      case '[':
        note();
        levels.push({ isArray: token === '[', at: 0, awaitsKey: token === '{' });
        break;
      case '}':
      case ']':
        levels.pop();
        break;
      case ':':
        break;
      case ',':
        if (level?.isArray === true) level.at = Number(level.at) + 1;
        else if (level !== undefined) level.awaitsKey = true;
        break;
      default:
        if (level?.awaitsKey === true) {
          level.at = String(JSON.parse(token));
          level.awaitsKey = false;
        } else note();
    }
  }
  return lines;
}

/** Returns a path as a string that is unambiguous even if a name contains a separator. */
export function pathKey(path: readonly (string | number)[]): string {
  return JSON.stringify(path);
}

export interface ClaudeRule {
  /** The rules in Muster's terms. Empty if Muster cannot follow the rule. */
  readonly texts: readonly string[];
  /** A sentence that says how the rule differs from the one in the file, or null if it does not. */
  readonly remark: string | null;
}

/**
 * Converts a rule of a Claude Code settings file to Muster's terms, and never widens it. A rule that Muster cannot
 * judge is left out of an allow list, and applies to its whole tool in a deny or ask list. Text that is no rule is
 * kept, and is an error at the start.
 *
 * @param directory the directory that a pattern like `/src/**` is relative to
 */
export function convertClaudeRule(
  rule: RuleText,
  list: keyof RuleSet,
  directory: string,
): ClaudeRule {
  const parsed = parseRule(rule);
  if (parsed.ok) return { texts: anchored(parsed.rule, list, directory), remark: null };
  const { narrowing: narrowed, problem } = parsed;
  const { kind } = problem;
  if (kind === 'form') return { texts: [rule.text], remark: null };
  if (list === 'allow') return { texts: [], remark: withoutStop(problem.mistake) };
  return narrowed === undefined
    ? narrowing(rule.text.trim(), parsed)
    : { texts: anchored(narrowed, list, directory), remark: null };
}

/**
 * Returns the rule with a pattern like `/x` relative to the directory of the settings, as in Claude Code, and not to
 * the workspace.
 */
function anchored(rule: PermissionRule, list: keyof RuleSet, directory: string): readonly string[] {
  const { tool, specifier, text } = rule;
  const isFromFile =
    specifier !== undefined && findSpecifierKind(tool) === 'path' && /^\/(?!\/)/.test(specifier);
  if (!isFromFile) return [text];
  const pinned = printRule({ tool, specifier: makePatternAbsolute(specifier, directory) });
  // Whoever wrote a refusal may have meant it from elsewhere: it holds there, too.
  return list === 'allow' ? [pinned] : [pinned, text];
}

function narrowing(text: string, parsed: Extract<ParsedRule, { ok: false }>): ClaudeRule {
  const whole = parsed.tool ?? mcpServer(text);
  const mistake = withoutStop(parsed.problem.mistake);
  return whole === undefined
    ? { texts: [], remark: mistake }
    : { texts: [whole], remark: `${mistake}, so it counts for all of ${whole}` };
}

/**
 * Returns the rule for all tools of the server of a pattern like `mcp__github__get_*`, or for all servers if the
 * pattern does not name one.
 */
function mcpServer(text: string): string | undefined {
  if (!text.startsWith('mcp__')) return undefined;
  const server = /^mcp__([\w.-]+?)__/.exec(text)?.[1];
  return server === undefined ? 'mcp__*' : `mcp__${server}__*`;
}

function withoutStop(sentence: string): string {
  return sentence.replace(/[.;]$/, '');
}
