import { UsageError } from '../base/errors.ts';
import { parseRules, type RuleText } from '../policy/rules.ts';
import type { RuleSet } from '../protocol/permission.ts';
import type { ProjectTrust } from '../sys/files/project-file.ts';
import { userClaudeFile } from './claude-places.ts';
import { toConfig, type Config } from './config.ts';
import { readProject, readUser, type ConfigFile } from './files.ts';
import { ALL_KEYS, type KeyEntry } from './keys.ts';
import { EMPTY_LAYER, type Assignment, type Layer } from './layer.ts';
import type { UserPlace } from './paths.ts';
import { oneLine, quoted } from './quote.ts';
import { environmentLayer, flagLayer, type FlagValue } from './text-layer.ts';
import { describeProblem, type ConfigNotice, type ConfigProblem, type Setting } from './source.ts';

export interface ConfigInputs extends UserPlace {
  /** Absolute: where the project's file is looked for. */
  readonly cwd: string;
  /** Which of the project's files act; the others are not parsed. */
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
  /** What is wrong; the keys concerned keep the value of the layer below. */
  readonly problems: readonly ConfigProblem[];
}

/** The configuration, or a UsageError with one line for each thing that is wrong. */
export async function loadConfig(inputs: ConfigInputs): Promise<LoadedConfig> {
  const reading = await readConfig(inputs);
  if (reading.problems.length > 0) {
    throw new UsageError(reading.problems.map(describeProblem).join('\n'));
  }
  return reading;
}

/** As `loadConfig`, for those who tell of problems themselves. */
export async function readConfig(inputs: ConfigInputs): Promise<ConfigReading> {
  const user = await readUser(inputs);
  const own = user.map(({ layer }) => layer);
  const project = await readProject(inputs, settle(own));
  const layers = [
    ...own,
    ...project.map(({ layer }) => layer),
    environmentLayer(inputs.environment),
    flagLayer(inputs.flags),
  ];
  const settings = settle(layers);
  const { rules, problems } = readRules(settings);
  return {
    config: toConfig(settings, own.at(-1) ?? EMPTY_LAYER),
    settings,
    rules,
    files: [...user, ...project].map(({ file }) => file),
    notices: [...layers.flatMap((layer) => layer.notices), ...autonomyNotice(settings, inputs)],
    problems: [...layers.flatMap((layer) => layer.problems), ...problems],
  };
}

/** What the user's own files say, without project, environment and flags. */
export async function userSettings(place: UserPlace): Promise<ReadonlyMap<string, Setting>> {
  return settle((await readUser(place)).map(({ layer }) => layer));
}

/** A mistake in a rule is told where it stands, like any other. */
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
      message: `rule ${quoted(text)}: ${oneLine(mistake)}`,
    })),
  };
}

/** Of all modes this one must not come as a surprise from another product's file. */
function autonomyNotice(
  settings: ConfigReading['settings'],
  { home }: ConfigInputs,
): readonly ConfigNotice[] {
  const mode = settings.get('permissions.mode');
  if (mode === undefined || mode.value !== 'autonomous' || mode.source.kind === 'default')
    return [];
  const { where } = mode.source;
  if (!where.startsWith(`${oneLine(userClaudeFile(home).path)}:`)) return [];
  const message =
    'permissions.mode is "autonomous" by this defaultMode; set permissions.mode in your configuration to decide otherwise';
  return [{ where, message }];
}

/** Later layers win; a key that nobody sets has its default. */
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

/** The permission rules of all layers as written, each with where it stood. */
function ruleTexts(settings: ConfigReading['settings'], list: keyof RuleSet): readonly RuleText[] {
  const items = settings.get(`permissions.${list}`)?.items ?? [];
  return items.map(({ value, source }) => ({ text: value, source }));
}
