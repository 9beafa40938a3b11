import { UsageError } from '../base/errors.ts';
import { parseRules, type RuleText } from '../policy/rules/rules.ts';
import type { RuleSet } from '../protocol/permission.ts';
import { userClaudeFile, type PlacedUser } from './claude-files.ts';
import { buildConfig, type Config } from './config.ts';
import { readProjectConfigFiles, readUserFiles, type ConfigFile } from './files.ts';
import type { ProjectTrust, ProjectFileKind } from '../sys/files/project-file.ts';
import { EMPTY_LAYER, type Assignment, type Layer } from './layer.ts';
import type { UserEnvironment } from './paths.ts';
import { escapeLine, quoteValue } from './message-text.ts';
import { readEnvironmentLayer, readFlagLayer, type FlagValue } from './text-layer.ts';
import {
  describeConfigProblem,
  type ConfigNotice,
  type ConfigProblem,
  type Setting,
} from './setting.ts';
import { dirname } from 'node:path';
import { readClaudeSettings } from './claude-settings.ts';
import { denyKeyFiles } from './providers.ts';
import { addTables, readProgramLayer } from './program-layer.ts';
import { readProjectConfig } from './project-layer.ts';
import { parseToml } from './parse-toml.ts';
import { ALL_KEYS, type KeyEntry } from './key-entry.ts';

/** The settings that a program gives as values. */
export interface ProgramSettings {
  /** The sections and keys of `config.toml`. */
  readonly config: Readonly<Record<string, unknown>>;
  /** The names of its tools, which permission rules may name. */
  readonly tools: readonly string[];
}

/** The sources from which the configuration is loaded. */
export interface ConfigInputs extends UserEnvironment {
  /** The absolute directory from which the project's files are searched. */
  readonly cwd: string;
  /** Decides which of the project's files have an effect. The other files are not parsed. */
  readonly trust: ProjectTrust;
  /** The settings of a program that uses Muster as a library. Default: none. */
  readonly program?: ProgramSettings;
  readonly flags: readonly FlagValue[];
}

/** The configuration, and where its values come from. */
export interface LoadedConfig {
  readonly config: Config;
  /** The value and source of each key, in the order of the table of keys. */
  readonly settings: ReadonlyMap<string, Setting>;
  /** The permission rules of all layers. */
  readonly rules: RuleSet;
  readonly files: readonly ConfigFile[];
  readonly notices: readonly ConfigNotice[];
}

/** The configuration together with the mistakes in its sources. */
export interface ConfigReading extends LoadedConfig {
  /** The mistakes. A key with a mistake keeps the value of the layer below. */
  readonly problems: readonly ConfigProblem[];
}

/** Loads the configuration. Throws UsageError with one line for each mistake. */
export async function loadConfig(inputs: ConfigInputs): Promise<LoadedConfig> {
  const reading = await readConfig(inputs);
  if (reading.problems.length > 0) {
    throw new UsageError(reading.problems.map(describeConfigProblem).join('\n'));
  }
  return reading;
}

/** Loads the configuration like `loadConfig`, but returns the mistakes instead of throwing. */
export async function readConfig(inputs: ConfigInputs): Promise<ConfigReading> {
  const user = await readUserFiles(inputs);
  const userLayers = user.map(({ layer }) => layer);
  const project = await readProjectConfigFiles(inputs, combineLayers(userLayers));
  const program = readProgramLayer(inputs.program?.config ?? {});
  const layers = [
    ...userLayers,
    ...project.map(({ layer }) => layer),
    readEnvironmentLayer(inputs.environment),
    program,
    readFlagLayer(inputs.flags),
  ];
  const settings = combineLayers(layers);
  const { rules, problems } = readRules(settings, inputs.program?.tools ?? []);
  const config = buildConfig(settings, addTables(userLayers.at(-1) ?? EMPTY_LAYER, program));
  return {
    config,
    settings,
    rules: { ...rules, deny: [...rules.deny, ...denyKeyFiles(config.models.providers)] },
    files: [...user, ...project].map(({ file }) => file),
    notices: [...layers.flatMap((layer) => layer.notices), ...findAutonomyNotice(settings, inputs)],
    problems: [...layers.flatMap((layer) => layer.problems), ...problems],
  };
}

/** Returns the settings of the user's own files, without project, environment and flags. */
async function readUserSettings(user: PlacedUser): Promise<ReadonlyMap<string, Setting>> {
  return combineLayers((await readUserFiles(user)).map(({ layer }) => layer));
}

/** Parses the permission rules, and reports each mistake with its file and line. */
function readRules(
  settings: ConfigReading['settings'],
  programTools: readonly string[],
): {
  readonly rules: RuleSet;
  readonly problems: readonly ConfigProblem[];
} {
  const { rules, problems } = parseRules(
    {
      allow: ruleTexts(settings, 'allow'),
      ask: ruleTexts(settings, 'ask'),
      deny: ruleTexts(settings, 'deny'),
    },
    programTools,
  );
  return {
    rules,
    problems: problems.map(({ text, source, mistake }) => ({
      where: source.where,
      message: `rule ${quoteValue(text)}: ${escapeLine(mistake)}`,
    })),
  };
}

/**
 * Returns a notice if the mode is autonomous because of the user's settings file of Claude Code, since the user may
 * have forgotten that file.
 */
function findAutonomyNotice(
  settings: ConfigReading['settings'],
  inputs: ConfigInputs,
): readonly ConfigNotice[] {
  const mode = settings.get('permissions.mode');
  if (mode === undefined || mode.value !== 'autonomous' || mode.source.kind === 'default')
    return [];
  const { where } = mode.source;
  if (!where.startsWith(`${escapeLine(userClaudeFile(inputs).path)}:`)) return [];
  const message =
    'this defaultMode sets permissions.mode to "autonomous"; set permissions.mode in your configuration for another mode';
  return [{ where, message }];
}

/** Combines layers. A later layer overrides an earlier one, and a key that no layer sets has its default value. */
function combineLayers(layers: readonly Layer[]): ReadonlyMap<string, Setting> {
  const settings = new Map<string, Setting>(
    ALL_KEYS.map((entry) => [entry.key, createDefaultSetting(entry)]),
  );
  for (const assignment of layers.flatMap((layer) => layer.assignments)) {
    const { key } = assignment.entry;
    settings.set(
      key,
      applyAssignment(assignment, settings.get(key) ?? createDefaultSetting(assignment.entry)),
    );
  }
  return settings;
}

function createDefaultSetting(entry: KeyEntry): Setting {
  return { value: entry.spec.default, source: { kind: 'default' }, items: [] };
}

function applyAssignment({ entry, value, source }: Assignment, before: Setting): Setting {
  if (entry.spec.combine === 'replace' || !Array.isArray(value))
    return { value, source, items: [] };
  const items = [...before.items, ...value.map((item) => ({ value: String(item), source }))];
  return { value: items.map((item) => item.value), source, items };
}

/** Returns the permission rules of all layers as written, each with its source. */
function ruleTexts(settings: ConfigReading['settings'], list: keyof RuleSet): readonly RuleText[] {
  const items = settings.get(`permissions.${list}`)?.items ?? [];
  return items.map(({ value, source }) => ({ text: value, source }));
}

/** A project's file whose settings are shown before the user decides whether to trust it. */
interface PreviewedFile {
  readonly kind: ProjectFileKind;
  readonly path: string;
  /** The directory that patterns are relative to. Default: the directory of the file. */
  readonly directory?: string;
}

/** Returns the settings that a project's file would contribute if it were trusted. */
export async function previewProjectFile(
  { kind, path, directory = dirname(path) }: PreviewedFile,
  text: string,
  user: PlacedUser,
): Promise<Layer> {
  if (kind === 'permissions')
    return readClaudeSettings({ path, text, directory, scope: 'project' });
  const parsed = await parseToml(path, text);
  if (!parsed.ok) return { ...EMPTY_LAYER, problems: [parsed.problem] };
  return readProjectConfig(parsed.file, await readUserSettings(user));
}
