import { UsageError } from '../../base/errors.ts';
import type { RuleSource } from '../../protocol/permission.ts';
import { toConfig, type Config } from './config.ts';
import { fileLayer } from './file-layer.ts';
import { ALL_KEYS, type KeyEntry } from './keys.ts';
import { EMPTY_LAYER, type Assignment, type Layer } from './layer.ts';
import { userConfigFile, type UserPlace } from './paths.ts';
import { findProjectFile } from './project-file.ts';
import { projectLayer } from './project-layer.ts';
import { oneLine } from './quote.ts';
import { environmentLayer, flagLayer, type FlagValue } from './text-layer.ts';
import { describeProblem, type ConfigNotice, type ConfigProblem, type Setting } from './source.ts';
import { readTomlFile, type TomlReadOptions } from './toml-file.ts';

export interface ConfigInputs extends UserPlace {
  /** Absolute: where the project's file is looked for. */
  readonly cwd: string;
  /** Without it a project's file is named and not even opened. */
  readonly trustProject: boolean;
  readonly flags: readonly FlagValue[];
}

export interface ConfigFile {
  readonly path: string;
  readonly scope: 'user' | 'project';
  readonly state: 'absent' | 'read' | 'broken' | 'untrusted';
}

export interface LoadedConfig {
  readonly config: Config;
  /** Every key of the table, in its order. */
  readonly settings: ReadonlyMap<string, Setting>;
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
  const user = await readFileLayer(userConfigFile(inputs), 'user', { links: 'follow' });
  const userMode = settle([user.layer]).get('permissions.mode')?.value;
  const project = await readProject(inputs, userMode);
  const layers = [
    user.layer,
    ...(project === undefined ? [] : [project.layer]),
    environmentLayer(inputs.environment),
    flagLayer(inputs.flags),
  ];
  const settings = settle(layers);
  return {
    config: toConfig(settings, user.layer.providers),
    settings,
    files: [user.file, ...(project === undefined ? [] : [project.file])],
    notices: layers.flatMap((layer) => layer.notices),
    problems: layers.flatMap((layer) => layer.problems),
  };
}

interface FileReading {
  readonly file: ConfigFile;
  readonly layer: Layer;
}

async function readFileLayer(
  path: string,
  scope: ConfigFile['scope'],
  options: TomlReadOptions,
): Promise<FileReading> {
  const reading = await readTomlFile(path, options);
  switch (reading.kind) {
    case 'absent':
      return { file: { path, scope, state: 'absent' }, layer: EMPTY_LAYER };
    case 'broken':
      return {
        file: { path, scope, state: 'broken' },
        layer: { ...EMPTY_LAYER, problems: [reading.problem] },
      };
    case 'read':
      return { file: { path, scope, state: 'read' }, layer: fileLayer(reading.file) };
  }
}

async function readProject(
  inputs: ConfigInputs,
  userMode: unknown,
): Promise<FileReading | undefined> {
  const path = findProjectFile(inputs.cwd);
  if (path === undefined) return undefined;
  if (!inputs.trustProject) {
    const notice = {
      where: oneLine(path),
      message:
        'ignored, because this project is not trusted; --trust-project trusts it for one run',
    };
    return {
      file: { path, scope: 'project', state: 'untrusted' },
      layer: { ...EMPTY_LAYER, notices: [notice] },
    };
  }
  const { file, layer } = await readFileLayer(path, 'project', { links: 'refuse' });
  return { file, layer: projectLayer(layer, userMode) };
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
export function ruleTexts(
  loaded: LoadedConfig,
  list: 'allow' | 'ask' | 'deny',
): readonly { readonly text: string; readonly source: RuleSource }[] {
  const items = loaded.settings.get(`permissions.${list}`)?.items ?? [];
  return items.map(({ value, source }) => ({ text: value, source }));
}
