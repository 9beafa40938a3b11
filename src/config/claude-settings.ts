import { isJsonObject, type JsonObject } from '../base/json.ts';
import { truncate } from '../base/text.ts';
import type { RuleSet, PermissionRule } from '../protocol/permission.ts';
import { findKeyEntry } from './key-entry.ts';
import { EMPTY_LAYER, type Assignment, type Layer } from './layer.ts';
import { escapeLine, quoteValue } from './message-text.ts';
import type { ConfigNotice, ConfigProblem, ValueSource } from './setting.ts';
import { CLAUDE_MODES } from '../agents/fields/modes.ts';
import { isServerToolName, widenToServer } from '../protocol/server-tool-names.ts';
import { findSpecifierKind } from '../protocol/specifier-kind.ts';
import { parseRule, printRule, type ParsedRule, type RuleText } from '../policy/rules/rules.ts';
import { makePatternAbsolute } from '../policy/rules/path-pattern.ts';

/** A settings file of Claude Code. Muster uses only its permissions. */
export interface ClaudeSettings {
  readonly path: string;
  readonly text: string;
  readonly scope: 'user' | 'project';
  /** The absolute directory that patterns like `/src/**` are relative to. */
  readonly directory: string;
}

/** The results of reading one settings file, which the functions below add to. */
interface Reading {
  readonly settings: ClaudeSettings;
  readonly assignments: Assignment[];
  readonly problems: ConfigProblem[];
  readonly notices: ConfigNotice[];
  /** Returns `FILE:LINE` of the value at this path, or the file alone if the line is not known. */
  where(path: readonly (string | number)[]): string;
}

const LISTS = ['allow', 'ask', 'deny'] as const satisfies readonly (keyof RuleSet)[];
/** The maximum number of remarks in one notice. */
const MAX_REMARKS = 5;
const MAX_RULE_LENGTH = 80;

/** Reads the permission rules of a settings file. If the file is the user's own, reads its permission mode, too. */
export function readClaudeSettings(settings: ClaudeSettings): Layer {
  const { path, text } = settings;
  const parsed = parseJson(path, text);
  if ('problem' in parsed) return { ...EMPTY_LAYER, problems: [parsed.problem] };
  if (!isJsonObject(parsed.value))
    return createProblemLayer(path, 'the file must hold a JSON object');
  const { permissions } = parsed.value;
  if (permissions === undefined) return EMPTY_LAYER;
  const lines = findJsonLines(text);
  const where = (keys: readonly (string | number)[]): string => {
    const line = lines.get(pathKey(keys));
    return line === undefined ? escapeLine(path) : `${escapeLine(path)}:${line}`;
  };
  if (!isJsonObject(permissions))
    return createProblemLayer(where(['permissions']), 'write it as an object');
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
    // The parser's message is not repeated, because it quotes the file, which may hold secrets.
    const at = /\(line (\d+) column (\d+)\)/.exec(String(error));
    const where = at === null ? escapeLine(path) : `${escapeLine(path)}:${at[1]}:${at[2]}`;
    return { problem: { where, message: 'not valid JSON' } };
  }
}

function createProblemLayer(where: string, message: string): Layer {
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
      else reading.problems.push({ where, message: `each rule of ${list} must be a string` });
    }
  }
  if (remarks.length === 0) return;
  const more = remarks.length > MAX_REMARKS ? `; and ${remarks.length - MAX_REMARKS} more` : '';
  const message = `rules that Muster cannot follow exactly: ${remarks.slice(0, MAX_REMARKS).join('; ')}${more}`;
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
    notice('a project cannot set defaultMode; ignored. Set it in your own configuration');
    return;
  }
  const mode = typeof written === 'string' ? CLAUDE_MODES.get(written)?.mode : undefined;
  if (mode === undefined)
    notice(`defaultMode ${quoteValue(written)} is not a mode that Muster knows; ignored`);
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
    message: 'a project cannot add directories; ignored. Add them with --add-dir',
  });
}

/** Matches the tokens of JSON: strings, punctuation, other scalars and line ends. */
const TOKENS = /"(?:\\.|[^"\\])*"|[{}[\],:\n]|[^\s"{}[\],:]+/g;

/** Lines are recorded only down to this depth. Settings are never deeper, and recording each path takes time. */
const MAX_DEPTH = 4;

/** An object or array that the scan is inside of. */
interface Level {
  readonly isArray: boolean;
  /** The index or key of the value that the scan is at. */
  at: number | string;
  expectsKey: boolean;
}

/**
 * Returns the line (from 1) of each value of a valid JSON text, by the path that `pathKey` writes.
 */
export function findJsonLines(text: string): ReadonlyMap<string, number> {
  const lines = new Map<string, number>();
  const levels: Level[] = [];
  let line = 1;
  const recordLine = (): void => {
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
        recordLine();
        levels.push({ isArray: token === '[', at: 0, expectsKey: token === '{' });
        break;
      case '}':
      case ']':
        levels.pop();
        break;
      case ':':
        break;
      case ',':
        if (level?.isArray === true) level.at = Number(level.at) + 1;
        else if (level !== undefined) level.expectsKey = true;
        break;
      default:
        if (level?.expectsKey === true) {
          level.at = String(JSON.parse(token));
          level.expectsKey = false;
        } else recordLine();
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
 * Converts a rule of a Claude Code settings file to Muster's terms. The result never allows more than the rule. A rule
 * that Muster cannot evaluate is left out of an allow list, but applies to all calls of its tool in a deny or ask list.
 * A text that is not a rule is kept, so that the start reports it as an error.
 *
 * @param directory the directory that a pattern like `/src/**` is relative to
 */
export function convertClaudeRule(
  rule: RuleText,
  list: keyof RuleSet,
  directory: string,
): ClaudeRule {
  const parsed = parseRule(rule);
  if (parsed.ok) return { texts: anchorPattern(parsed.rule, list, directory), remark: null };
  const { narrowing, problem } = parsed;
  const { kind } = problem;
  if (kind === 'form') return { texts: [rule.text], remark: null };
  if (list === 'allow') return { texts: [], remark: removeFinalStop(problem.mistake) };
  return narrowing === undefined
    ? applyToWholeTool(rule.text.trim(), parsed)
    : { texts: anchorPattern(narrowing, list, directory), remark: null };
}

/**
 * Makes a pattern like `/x` relative to the directory of the settings file, as it is in Claude Code. In Muster's own
 * rules it is relative to the workspace.
 */
function anchorPattern(
  rule: PermissionRule,
  list: keyof RuleSet,
  directory: string,
): readonly string[] {
  const { tool, specifier, text } = rule;
  const isRelativeToSettings =
    specifier !== undefined && findSpecifierKind(tool) === 'path' && /^\/(?!\/)/.test(specifier);
  if (!isRelativeToSettings) return [text];
  const anchored = printRule({ tool, specifier: makePatternAbsolute(specifier, directory) });
  // The author of an ask or deny rule may have meant the workspace, so the rule also applies relative to it.
  return list === 'allow' ? [anchored] : [anchored, text];
}

function applyToWholeTool(text: string, parsed: Extract<ParsedRule, { ok: false }>): ClaudeRule {
  const name = text.replace(/\(.*$/s, '');
  const wholeTool = parsed.tool ?? (isServerToolName(name) ? widenToServer(name) : undefined);
  const mistake = removeFinalStop(parsed.problem.mistake);
  return wholeTool === undefined
    ? { texts: [], remark: mistake }
    : { texts: [wholeTool], remark: `${mistake}, so the rule applies to all of ${wholeTool}` };
}

function removeFinalStop(sentence: string): string {
  return sentence.replace(/[.;]$/, '');
}
