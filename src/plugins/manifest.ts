import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';
import { listNames } from '../base/text.ts';
import { parseJsonc } from '../base/jsonc.ts';
import { isPluginName, NAME_RULE, readRelativePath } from './plugin-paths.ts';
import { ProblemCollector, warnUnknownFields, type PluginProblem } from './plugin-problem.ts';

/** The product in whose format a plugin is written. */
export type PluginFormat = 'claude' | 'gemini';

/** The path of the manifest in Claude Code's format. */
export const CLAUDE_MANIFEST = '.claude-plugin/plugin.json';
/** The path of the manifest in the format of Gemini CLI. */
export const GEMINI_MANIFEST = 'gemini-extension.json';

/** A file with entries, or the entries themselves. */
export type DeclaredEntries = string | JsonObject;

/** The parts that a manifest names. Paths are relative to the directory of the plugin. */
export interface DeclaredParts {
  /** The paths of agents in place of the usual directory. Null if the manifest names none. */
  readonly agents: readonly string[] | null;
  /** The paths of commands in place of the usual directory. Null if the manifest names none. */
  readonly commands: readonly string[] | null;
  /** The paths of skills. Null if the manifest names none. */
  readonly skills: readonly string[] | null;
  /** Whether the skills in the usual directory count, too. */
  readonly hasUsualSkills: boolean;
  readonly hooks: readonly DeclaredEntries[];
  readonly mcpServers: readonly DeclaredEntries[];
  readonly lspServers: readonly DeclaredEntries[];
}

/** The statements of a plugin about itself. */
export interface PluginManifest {
  readonly format: PluginFormat;
  /** The path of the file with the manifest. */
  readonly file: string;
  readonly name: string;
  readonly version: string | null;
  readonly description: string | null;
  readonly declared: DeclaredParts;
}

/** A manifest, unless it has an error, with its problems. */
export interface ManifestReading {
  readonly manifest: PluginManifest | null;
  readonly problems: readonly PluginProblem[];
}

/** Fields of a manifest and of an entry in a marketplace that describe a plugin to people and need no effect. */
const DESCRIPTIVE_FIELDS = listNames(`
  $schema author homepage repository license keywords displayName
  category tags source strict
`);
/** Documented fields of Claude Code that have no effect in Muster. */
const CLAUDE_FIELDS_WITHOUT_EFFECT = listNames(`
  outputStyles themes monitors workflows userConfig channels settings dependencies defaultEnabled experimental
`);
/** Documented fields of Gemini CLI that have no effect in Muster. */
const GEMINI_FIELDS_WITHOUT_EFFECT = listNames(
  'contextFileName excludeTools settings themes plan migratedTo policies',
);
/** The fields that name parts. */
export const PART_FIELDS = ['agents', 'commands', 'skills', 'hooks', 'mcpServers', 'lspServers'];

/** The longest description that is kept, in characters. */
const MAX_DESCRIPTION = 1_000;
const MAX_VERSION = 100;
/** The maximum number of paths that one field may name. */
const MAX_PATHS = 500;

/**
 * Reads a manifest in Claude Code's format. Never throws.
 *
 * @param text the content of the file
 */
export function readClaudeManifest(text: string): ManifestReading {
  const parsed = parseManifest(text, CLAUDE_MANIFEST);
  return 'problems' in parsed ? parsed : readClaudeFields(parsed.value, CLAUDE_MANIFEST);
}

/**
 * Reads the fields of a manifest in Claude Code's format. Never throws.
 *
 * @param file the file that is named in problems
 */
export function readClaudeFields(value: JsonObject, file: string): ManifestReading {
  const problems = new ProblemCollector(file);
  const known = [...DESCRIPTIVE_FIELDS, 'name', 'version', 'description', ...PART_FIELDS];
  warnWithoutEffect(value, CLAUDE_FIELDS_WITHOUT_EFFECT, problems);
  warnUnknownFields(value, new Set([...known, ...CLAUDE_FIELDS_WITHOUT_EFFECT]), {
    prefix: '',
    problems,
  });
  const declared: DeclaredParts = {
    agents: readPaths(value, 'agents', problems),
    commands: readCommandPaths(value, problems),
    skills: readPaths(value, 'skills', problems),
    // Such an entry may name some of the skills in a directory that it shares with other entries.
    hasUsualSkills: value['skills'] === undefined || value['strict'] !== false,
    hooks: readEntries(value, 'hooks', problems),
    mcpServers: readEntries(value, 'mcpServers', problems),
    lspServers: readEntries(value, 'lspServers', problems),
  };
  return finish({ format: 'claude', value, declared, problems });
}

/**
 * Reads a manifest in the format of Gemini CLI. Never throws.
 *
 * @param text the content of the file
 */
export function readGeminiManifest(text: string): ManifestReading {
  const parsed = parseManifest(text, GEMINI_MANIFEST);
  if ('problems' in parsed) return parsed;
  const { value } = parsed;
  const problems = new ProblemCollector(GEMINI_MANIFEST);
  const known = [...DESCRIPTIVE_FIELDS, 'name', 'version', 'description', 'mcpServers'];
  warnWithoutEffect(value, GEMINI_FIELDS_WITHOUT_EFFECT, problems);
  warnUnknownFields(value, new Set([...known, ...GEMINI_FIELDS_WITHOUT_EFFECT]), {
    prefix: '',
    problems,
  });
  const declared: DeclaredParts = {
    agents: null,
    commands: null,
    skills: null,
    hasUsualSkills: true,
    hooks: [],
    mcpServers: readEntries(value, 'mcpServers', problems),
    lspServers: [],
  };
  return finish({ format: 'gemini', value, declared, problems });
}

function parseManifest(
  text: string,
  file: string,
): { readonly value: JsonObject } | ManifestReading {
  const parsed = parseJsonc(text);
  const message = parsed.ok
    ? 'it must contain a JSON object'
    : `it is not valid JSON: ${parsed.message}`;
  if (parsed.ok && isJsonObject(parsed.value)) return { value: parsed.value };
  return { manifest: null, problems: [{ file, field: null, message, severity: 'error' }] };
}

interface ReadFields {
  readonly format: PluginFormat;
  readonly value: JsonObject;
  readonly declared: DeclaredParts;
  readonly problems: ProblemCollector;
}

function finish({ format, value, declared, problems }: ReadFields): ManifestReading {
  const { name } = value;
  if (!isPluginName(name)) problems.error('name', `it must be a name: ${NAME_RULE}`);
  const version = readText(value, 'version', { max: MAX_VERSION, problems });
  const description = readText(value, 'description', { max: MAX_DESCRIPTION, problems });
  const { file, list } = problems;
  return {
    manifest: isPluginName(name) ? { format, file, name, version, description, declared } : null,
    problems: list,
  };
}

function readText(
  value: JsonObject,
  field: string,
  { max, problems }: { readonly max: number; readonly problems: ProblemCollector },
): string | null {
  const text = value[field];
  if (text === undefined) return null;
  if (typeof text !== 'string') {
    problems.warn(field, 'it must be a text');
    return null;
  }
  if (text.length > max) problems.warn(field, `only its first ${max} characters are shown`);
  return text.slice(0, max);
}

function warnWithoutEffect(
  value: JsonObject,
  fields: readonly string[],
  problems: ProblemCollector,
): void {
  for (const field of fields) {
    if (value[field] !== undefined) problems.warn(field, 'this field has no effect in Muster');
  }
}

function readPaths(
  value: JsonObject,
  field: string,
  problems: ProblemCollector,
): readonly string[] | null {
  const declared = value[field];
  if (declared === undefined) return null;
  const items: readonly JsonValue[] = Array.isArray(declared) ? declared : [declared];
  if (items.length > MAX_PATHS) {
    problems.warn(field, `only its first ${MAX_PATHS} paths are used`);
  }
  return items.slice(0, MAX_PATHS).flatMap((item, index) => {
    const name = Array.isArray(declared) ? `${field}[${index}]` : field;
    if (typeof item !== 'string') {
      problems.warn(name, 'it must be a path; it has no effect');
      return [];
    }
    return readPath(item, name, problems);
  });
}

function readPath(text: string, field: string, problems: ProblemCollector): readonly string[] {
  const path = readRelativePath(text);
  if (path !== null) return [path];
  problems.warn(field, `${JSON.stringify(text)} leads out of the plugin; it has no effect`);
  return [];
}

/** Reads the paths of commands. They can also be a map from names to objects with a path. */
function readCommandPaths(value: JsonObject, problems: ProblemCollector): readonly string[] | null {
  const { commands } = value;
  if (!isJsonObject(commands)) return readPaths(value, 'commands', problems);
  return Object.entries(commands)
    .slice(0, MAX_PATHS)
    .flatMap(([name, command]) => {
      const source = isJsonObject(command) ? command['source'] : undefined;
      const field = `commands.${name}`;
      if (typeof source === 'string') return readPath(source, `${field}.source`, problems);
      problems.warn(field, 'it has no path in `source`; it has no effect');
      return [];
    });
}

/** Reads paths of files with entries, and entries that stand in the manifest itself. */
function readEntries(
  value: JsonObject,
  field: string,
  problems: ProblemCollector,
): readonly DeclaredEntries[] {
  const declared = value[field];
  if (declared === undefined) return [];
  const items: readonly JsonValue[] = Array.isArray(declared) ? declared : [declared];
  return items.slice(0, MAX_PATHS).flatMap((item, index): readonly DeclaredEntries[] => {
    const name = Array.isArray(declared) ? `${field}[${index}]` : field;
    if (isJsonObject(item)) return [item];
    if (typeof item === 'string') return readPath(item, name, problems);
    problems.warn(name, 'it must be a path or an object; it has no effect');
    return [];
  });
}
