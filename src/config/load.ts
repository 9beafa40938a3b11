import { UsageError } from '../base/errors.ts';
import { parseRules, type RuleText } from '../policy/rules/rules.ts';
import type { RuleSet } from '../protocol/permission.ts';
import { userClaudeFile } from './claude-files.ts';
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
import { readProjectConfig } from './project-layer.ts';
import { parseToml } from './parse-toml.ts';
import { ALL_KEYS, type KeyEntry } from './key-entry.ts';

export interface ConfigInputs extends UserEnvironment {
  /** The absolute directory from which the project's files are searched. */
  readonly cwd: string;
  /** Decides which of the project's files have an effect. The others are not parsed. */
  readonly trust: ProjectTrust;
  readonly flags: readonly FlagValue[];
}

export interface LoadedConfig {
  readonly config: Config;
  /** Every key of the table, in its order. */
  readonly settings: ReadonlyMap<string, Setting>;
  /** The permission rules of all layers. */
  readonly rules: RuleSet;
  readonly files: readonly ConfigFile[];
  readonly notices: readonly ConfigNotice[];
}

export interface ConfigReading extends LoadedConfig {
  /** The mistakes. Each key concerned keeps the value of the layer below. */
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
  const own = user.map(({ layer }) => layer);
  const project = await readProjectConfigFiles(inputs, settle(own));
  const layers = [
    ...own,
    ...project.map(({ layer }) => layer),
    readEnvironmentLayer(inputs.environment),
    readFlagLayer(inputs.flags),
  ];
  const settings = settle(layers);
  const { rules, problems } = readRules(settings);
  const config = buildConfig(settings, own.at(-1) ?? EMPTY_LAYER);
  return {
    config,
    settings,
    rules: { ...rules, deny: [...rules.deny, ...denyKeyFiles(config.models.providers)] },
    files: [...user, ...project].map(({ file }) => file),
    notices: [...layers.flatMap((layer) => layer.notices), ...autonomyNotice(settings, inputs)],
    problems: [...layers.flatMap((layer) => layer.problems), ...problems],
  };
}

/** Returns the settings of the user's own files, without project, environment and flags. */
async function readUserSettings(place: UserEnvironment): Promise<ReadonlyMap<string, Setting>> {
  return settle((await readUserFiles(place)).map(({ layer }) => layer));
}

/** Parses the permission rules, and reports each mistake with its file and line. */
function readRules(settings: ConfigReading['settings']): {
  readonly rules: RuleSet;
  readonly problems: readonly ConfigProblem[];
} {
  const { rules, problems } = parseRules({
    allow: ruleTexts(settings, 'allow'),
    ask: ruleTexts(settings, 'ask'),
    deny: ruleTexts(settings, 'deny'),
  });
  return {
    rules,
    problems: problems.map(({ text, source, mistake }) => ({
      where: source.where,
      message: `rule ${quoteValue(text)}: ${escapeLine(mistake)}`,
    })),
  };
}

/**
 * Returns a notice if a settings file of Claude Code sets the autonomous mode, which must not come as a surprise.
 */
function autonomyNotice(
  settings: ConfigReading['settings'],
  { home }: ConfigInputs,
): readonly ConfigNotice[] {
  const mode = settings.get('permissions.mode');
  if (mode === undefined || mode.value !== 'autonomous' || mode.source.kind === 'default')
    return [];
  const { where } = mode.source;
  if (!where.startsWith(`${escapeLine(userClaudeFile(home).path)}:`)) return [];
  const message =
    'permissions.mode is "autonomous" by this defaultMode; set permissions.mode in your configuration to decide otherwise';
  return [{ where, message }];
}

/** Combines layers. Later layers win, and a key that nobody sets has its default. */
function settle(layers: readonly Layer[]): ReadonlyMap<string, Setting> {
  const settings = new Map<string, Setting>(ALL_KEYS.map((entry) => [entry.key, initial(entry)]));
  for (const assignment of layers.flatMap((layer) => layer.assignments)) {
    const { key } = assignment.entry;
    settings.set(key, assigned(assignment, settings.get(key) ?? initial(assignment.entry)));
  }
  return settings;
}

function initial(entry: KeyEntry): Setting {
  return { value: entry.spec.default, source: { kind: 'default' }, items: [] };
}

function assigned({ entry, value, source }: Assignment, before: Setting): Setting {
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

interface PreviewedFile {
  readonly kind: ProjectFileKind;
  readonly path: string;
  readonly directory?: string;
}

/** Returns the settings that a project's file would contribute if it were trusted. */
export async function previewProjectFile(
  { kind, path, directory = dirname(path) }: PreviewedFile,
  text: string,
  place: UserEnvironment,
): Promise<Layer> {
  if (kind === 'permissions')
    return readClaudeSettings({ path, text, directory, scope: 'project' });
  const parsed = await parseToml(path, text);
  if (!parsed.ok) return { ...EMPTY_LAYER, problems: [parsed.problem] };
  return readProjectConfig(parsed.file, await readUserSettings(place));
}
