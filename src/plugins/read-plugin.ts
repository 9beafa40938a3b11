import { isJsonObject, type JsonObject } from '../base/json.ts';
import { parseJsonc } from '../base/jsonc.ts';
import { MusterError } from '../base/errors.ts';
import {
  CLAUDE_MANIFEST,
  GEMINI_MANIFEST,
  PART_FIELDS,
  readClaudeFields,
  readClaudeManifest,
  readGeminiManifest,
  type DeclaredEntries,
  type ManifestReading,
  type PluginManifest,
} from './manifest.ts';
import { MARKETPLACE_FILE, type MarketplaceEntry } from './marketplace.ts';
import { listPluginFilesBelow, readPluginText, type PluginFile } from './plugin-files.ts';
import { isPluginName } from './plugin-paths.ts';
import { describePluginProblem, type PluginProblem } from './plugin-problem.ts';

/** Entries of hooks or servers, and the file that holds them. */
export interface PluginEntries {
  /** The path of the file, relative to the directory of the plugin. */
  readonly file: string;
  readonly value: JsonObject;
}

/** The parts of a plugin. Paths are relative to the directory of the plugin. */
export interface PluginParts {
  /** The directories and files with agents. */
  readonly agents: readonly string[];
  /** The directories with skills, and the files of single skills. */
  readonly skills: readonly string[];
  /** The directories and files with commands. */
  readonly commands: readonly string[];
  /** The events with their hooks, as they stand in the files. */
  readonly hooks: readonly PluginEntries[];
  /** The servers by name, as they stand in the files. */
  readonly mcpServers: readonly PluginEntries[];
  /** The servers by name, as they stand in the files. */
  readonly lspServers: readonly PluginEntries[];
}

/** A plugin, as its files describe it. */
export interface Plugin {
  readonly manifest: PluginManifest;
  readonly parts: PluginParts;
  /** The warnings about its files. */
  readonly problems: readonly PluginProblem[];
}

/** The facts about a plugin besides its files. */
interface PluginContext {
  /** The source of the files, for messages. */
  readonly source: string;
  /** The entry of the marketplace that names the plugin. Null if it comes from none. */
  readonly entry: MarketplaceEntry | null;
  /** The name of its directory, which names a plugin without a manifest. Null if there is none. */
  readonly directory: string | null;
}

/** Matches the usual places of the parts of a plugin. Without any of them, a directory without a manifest is no plugin. */
const USUAL_PART =
  /^(?:agents\/.*\.md|commands\/.*\.md|skills\/.*\/SKILL\.md|SKILL\.md|hooks\/hooks\.json|\.mcp\.json|\.lsp\.json)$/;

/** The maximum size of a file with hooks or servers, in bytes. */
const MAX_ENTRY_BYTES = 1024 * 1024;

/**
 * Reads the manifest and the parts of a plugin. Throws MusterError if the files are no plugin, or if the manifest has an
 * error.
 */
export function readPlugin(files: readonly PluginFile[], context: PluginContext): Plugin {
  const { manifest, problems } = readManifest(files, context);
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (manifest === null || errors.length > 0) {
    const reasons = errors.map(describePluginProblem).join('; ');
    throw new MusterError(
      'INVALID_PARAM',
      `${context.source} cannot be used as a plugin: ${reasons}`,
    );
  }
  const found: PluginProblem[] = [];
  const parts = listParts(manifest, files, found);
  // People install a plugin by its name in the marketplace.
  const name = context.entry?.name ?? manifest.name;
  return { manifest: { ...manifest, name }, parts, problems: [...problems, ...found] };
}

function readManifest(
  files: readonly PluginFile[],
  { source, entry, directory }: PluginContext,
): ManifestReading {
  const claude = readPluginText(files, CLAUDE_MANIFEST);
  if (entry !== null && (!entry.isStrict || claude === null)) {
    const gemini = entry.isStrict ? readPluginText(files, GEMINI_MANIFEST) : null;
    return gemini === null
      ? readClaudeFields(entry.fields, MARKETPLACE_FILE)
      : readGeminiManifest(gemini);
  }
  if (claude !== null) return addEntry(readClaudeManifest(claude), entry);
  const gemini = readPluginText(files, GEMINI_MANIFEST);
  if (gemini !== null) return readGeminiManifest(gemini);
  const isMarketplace = files.some(({ path }) => path === MARKETPLACE_FILE);
  // As in Claude Code, a manifest is optional.
  if (isPluginName(directory) && !isMarketplace && files.some(({ path }) => USUAL_PART.test(path)))
    return readClaudeFields({ name: directory }, CLAUDE_MANIFEST);
  const hint = isMarketplace ? ' It is a marketplace: muster plugin marketplace add' : '';
  throw new MusterError(
    'INVALID_PARAM',
    `${source} cannot be used as a plugin: it has neither ${CLAUDE_MANIFEST} nor ${GEMINI_MANIFEST}, and no parts in their usual places.${hint}`,
  );
}

/** Adds the parts that the entry of a marketplace names to those of the plugin's own manifest. */
function addEntry(own: ManifestReading, entry: MarketplaceEntry | null): ManifestReading {
  if (entry === null || own.manifest === null) return own;
  const ofEntry = readClaudeFields(entry.fields, MARKETPLACE_FILE);
  const { manifest } = own;
  const more = ofEntry.manifest?.declared;
  if (more === undefined) return own;
  const { declared } = manifest;
  const hasParts = PART_FIELDS.some((field) => entry.fields[field] !== undefined);
  const problems = [...own.problems, ...(hasParts ? ofEntry.problems : [])];
  return {
    manifest: {
      ...manifest,
      version: manifest.version ?? entry.version,
      description: manifest.description ?? entry.description,
      declared: {
        agents: joinPaths(declared.agents, more.agents),
        commands: joinPaths(declared.commands, more.commands),
        skills: joinPaths(declared.skills, more.skills),
        hasUsualSkills: true,
        hooks: [...declared.hooks, ...more.hooks],
        mcpServers: [...declared.mcpServers, ...more.mcpServers],
        lspServers: [...declared.lspServers, ...more.lspServers],
      },
    },
    problems,
  };
}

function joinPaths(
  a: readonly string[] | null,
  b: readonly string[] | null,
): readonly string[] | null {
  return a === null && b === null ? null : [...new Set([...(a ?? []), ...(b ?? [])])];
}

/** The usual places of parts. */
const PLACES = {
  agents: 'agents',
  skills: 'skills',
  commands: 'commands',
  hooks: 'hooks/hooks.json',
  mcpServers: '.mcp.json',
  lspServers: '.lsp.json',
} as const;

function listParts(
  { declared, format, file }: PluginManifest,
  files: readonly PluginFile[],
  problems: PluginProblem[],
): PluginParts {
  const warn = (at: string, field: string | null, message: string): void => {
    problems.push({ file: at, field, message, severity: 'warning' });
  };
  const existing = (paths: readonly string[], field: string): readonly string[] =>
    paths.filter((path) => {
      if (listPluginFilesBelow(files, path).length > 0) return true;
      warn(file, field, `there is no ${JSON.stringify(path)} in the plugin`);
      return false;
    });
  const usual = (path: string): readonly string[] =>
    listPluginFilesBelow(files, path).length > 0 ? [path] : [];
  const ownSkills = [
    ...(declared.hasUsualSkills ? usual(PLACES.skills) : []),
    ...existing(declared.skills ?? [], 'skills'),
  ];
  const hasRootSkill = ownSkills.length === 0 && declared.skills === null;
  const entries = (field: 'hooks' | 'mcpServers' | 'lspServers'): readonly PluginEntries[] => {
    const isRead = format === 'claude' || field === 'hooks';
    const places = isRead ? usual(PLACES[field]) : [];
    return [...new Set<DeclaredEntries>([...places, ...declared[field]])].flatMap((each) => {
      if (typeof each !== 'string') return [{ file, value: unwrap(each, field) }];
      const read = readEntryFile(files, each);
      if (typeof read !== 'string') return [{ file: each, value: unwrap(read, field) }];
      warn(each, null, `${read}; it has no effect`);
      return [];
    });
  };
  return {
    agents: declared.agents === null ? usual(PLACES.agents) : existing(declared.agents, 'agents'),
    skills: [...new Set([...ownSkills, ...(hasRootSkill ? usual('SKILL.md') : [])])],
    commands:
      declared.commands === null ? usual(PLACES.commands) : existing(declared.commands, 'commands'),
    hooks: entries('hooks'),
    mcpServers: entries('mcpServers'),
    lspServers: entries('lspServers'),
  };
}

/** Returns the object in a file, or the reason why there is none. */
function readEntryFile(files: readonly PluginFile[], path: string): JsonObject | string {
  const file = files.find((each) => each.path === path);
  if (file === undefined) return 'there is no such file';
  if (/\.(?:mcpb|dxt)$/i.test(path)) return 'bundles of MCP servers are not supported';
  if (file.bytes.length > MAX_ENTRY_BYTES) {
    return `it is larger than ${MAX_ENTRY_BYTES / 1024 / 1024} MB`;
  }
  const parsed = parseJsonc(file.bytes.toString('utf8'));
  if (!parsed.ok) return `it is not valid JSON: ${parsed.message}`;
  return isJsonObject(parsed.value) ? parsed.value : 'it must contain a JSON object';
}

/** Returns the entries in a file, which may stand under a key of their own. */
function unwrap(value: JsonObject, field: 'hooks' | 'mcpServers' | 'lspServers'): JsonObject {
  const inner = value[field];
  return isJsonObject(inner) ? inner : value;
}
