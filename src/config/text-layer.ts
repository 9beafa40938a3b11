import type { Environment } from '../sys/env.ts';
import type { ConfigNotice, ConfigProblem } from './setting.ts';
import { findKeyEntry, ALL_KEYS, KEYS_BY_SECTION, type KeyEntry } from './key-entry.ts';
import { EMPTY_LAYER, describeWrongValue, type Assignment, type Layer } from './layer.ts';
import { escapeLine } from './message-text.ts';
import { type ConfigKey } from './keys.ts';
import { sortByNearness } from '../base/name-suggestions.ts';

/** A command-line flag that sets a key. Several flags can each add items to one list. */
export interface FlagValue {
  readonly key: ConfigKey;
  /** The flag as the user writes it: `--permission-mode`. */
  readonly flag: string;
  readonly text: string;
}

const VARIABLE_PREFIX = 'MUSTER_';

/** Variables that have the prefix but do not set configuration keys. */
const OTHER_VARIABLES: ReadonlySet<string> = new Set([
  'MUSTER_TASK',
  'MUSTER_PROCESS',
  'MUSTER_DATA_DIR',
  'MUSTER_SCREEN_READER',
]);

const KEYS_BY_VARIABLE: ReadonlyMap<string, KeyEntry> = new Map(
  ALL_KEYS.map((entry) => [entry.variable, entry]),
);

/** Reads the variables `MUSTER_SECTION_KEY`. An empty variable counts as not set. */
export function readEnvironmentLayer(environment: Environment): Layer {
  const assignments: Assignment[] = [];
  const problems: ConfigProblem[] = [];
  const notices: ConfigNotice[] = [];
  for (const [variable, text] of Object.entries(environment)) {
    if (!variable.startsWith(VARIABLE_PREFIX) || OTHER_VARIABLES.has(variable)) continue;
    if (text === undefined || text === '') continue;
    const entry = KEYS_BY_VARIABLE.get(variable);
    if (entry === undefined) {
      const target = findSection(variable) === undefined ? notices : problems;
      target.push({ where: escapeLine(variable), message: describeUnknownVariable(variable) });
    } else {
      addTextValue(
        { entry, text, source: { kind: 'env', where: variable } },
        assignments,
        problems,
      );
    }
  }
  return { ...EMPTY_LAYER, assignments, problems, notices };
}

export function readFlagLayer(flags: readonly FlagValue[]): Layer {
  const assignments: Assignment[] = [];
  const problems: ConfigProblem[] = [];
  for (const { key, flag, text } of flags) {
    const source = { kind: 'flag', where: flag } as const;
    addTextValue({ entry: findKeyEntry(key), text, source }, assignments, problems);
  }
  return { ...EMPTY_LAYER, assignments, problems };
}

/**
 * Describes the mistake if a flag's text is not a valid value of its key, else returns undefined. The description is
 * shown after the flag's name.
 *
 * @param options with `aboveZero`, the text 0 is not valid, even if 0 means "no limit" for the key
 */
export function describeFlagProblem(
  key: ConfigKey,
  text: string,
  { aboveZero = false }: { readonly aboveZero?: boolean } = {},
): string | undefined {
  const entry = findKeyEntry(key);
  const value = entry.spec.fromText(text);
  if (aboveZero && value === 0) return 'must be above 0; leave it out for no limit';
  if (isValidValue(entry, value)) return undefined;
  return describeWrongValue(entry, text, aboveZero ? entry.spec.expectsAboveZero : undefined);
}

interface TextValue {
  readonly entry: KeyEntry;
  readonly text: string;
  readonly source: Assignment['source'];
}

function addTextValue(
  value: TextValue,
  assignments: Assignment[],
  problems: ConfigProblem[],
): void {
  const parsed = value.entry.spec.fromText(value.text);
  if (isValidValue(value.entry, parsed)) {
    assignments.push({ entry: value.entry, value: parsed, source: value.source });
  } else {
    const asList =
      value.entry.spec.combine === 'append' ? ' (one item, or several as a JSON array)' : '';
    problems.push({
      where: value.source.where,
      message: `${value.entry.key} ${describeWrongValue(value.entry, value.text)}${asList}`,
    });
  }
}

function isValidValue(entry: KeyEntry, parsed: unknown): boolean {
  return parsed !== undefined && parsed !== null && entry.spec.accepts(parsed);
}

function findSection(variable: string): string | undefined {
  const rest = variable.slice(VARIABLE_PREFIX.length).toLowerCase();
  return [...KEYS_BY_SECTION.keys()].find((section) => rest.startsWith(`${section}_`));
}

function describeUnknownVariable(variable: string): string {
  if (variable.startsWith('MUSTER_MODELS_PROVIDERS_')) {
    return 'providers are configured in a file only, as [models.providers.NAME]';
  }
  if (variable.startsWith('MUSTER_MODELS_CATALOGUE_')) {
    return 'the catalogue of models is configured in a file only, as [models.catalogue."PROVIDER/MODEL"]';
  }
  const section = findSection(variable);
  if (section === undefined) {
    const nearest = sortByNearness(variable, [...KEYS_BY_VARIABLE.keys()])[0];
    return `no configuration key has this variable; ignored. The nearest is ${nearest}`;
  }
  const names = [...(KEYS_BY_SECTION.get(section)?.values() ?? [])].map((entry) => entry.variable);
  return `no key of [${section}] has this variable; valid: ${sortByNearness(variable, names).join(', ')}`;
}
