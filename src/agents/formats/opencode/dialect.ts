import { isJsonObject } from '../../../base/json.ts';
import { type AgentDefinition, type AgentProblem } from '../../../protocol/agent.ts';
import type { Field, Fields } from '../../parsing/fields.ts';
import { readBoolean, singleLineOf } from '../../fields/common.ts';
import { readToolSwitches, type PermissionEntry } from '../../permissions/entries.ts';
import {
  withPermissionRules,
  withPermissionsAsTools,
} from '../../permissions/permission-fields.ts';
import type { AgentDialect } from '../../fields/read-agent.ts';
import { EFFORTS } from '../../../protocol/model.ts';

const VENDOR = 'opencode';

/** The values for who can choose an agent: a person (`primary`), the model (`subagent`), or both. */
const MODES = ['primary', 'subagent', 'all'];

/** The fields that disable an agent, in older and newer files. */
const SWITCHES_OFF = ['disable', 'disabled'];

const INACTIVE =
  'mode prompt temperature top_p hidden options request variant permission permissions'.split(' ');

export interface OpencodeAgent {
  /** The name from its path or its key. */
  readonly name: string;
  /** Whether only a person can choose it, whatever its fields say. */
  readonly primary: boolean;
  /** The permissions that the configuration has for all agents. */
  readonly common?: readonly PermissionEntry[];
}

/** Returns the dialect of opencode for an agent in a markdown file or in a configuration. */
export function opencodeDialect(about: OpencodeAgent): AgentDialect {
  return {
    vendor: VENDOR,
    inactive: [...INACTIVE, ...SWITCHES_OFF],
    loadsBareText: true,
    nameFromPath: () => about.name,
    translate: (fields) => translate(fields, about.name),
    complete: (agent, fields) => complete(agent, fields, about),
  };
}

/** Returns the problem of a disabled agent, which is skipped. Undefined: it is enabled. */
export function disabledProblem(agent: AgentDefinition): AgentProblem | undefined {
  const isOff = SWITCHES_OFF.some((name) => readBoolean(agent.extra[name] ?? null) === true);
  if (!isOff) return undefined;
  const message = `\`${agent.name}\` is disabled (\`disable: true\`).`;
  return { code: 'disabled', message, path: agent.origin.path };
}

function translate(fields: Fields, name: string): Fields {
  const shared = new Map(withPermissionsAsTools(fields, VENDOR));
  if (!fields.has('name')) shared.set('name', { value: name, line: undefined });
  if (modeOf(fields) !== undefined) shared.delete('mode');
  for (const off of [...SWITCHES_OFF, 'hidden']) {
    if (readBoolean(fields.get(off)?.value ?? null) === false) shared.delete(off);
  }
  const { model, variant } = modelOf(fields);
  if (model !== undefined) shared.set('model', model);
  // Most models with reasoning have variants that are named after its effort.
  if (variant !== undefined && EFFORTS.some((each) => each === variant.value)) {
    shared.delete('variant');
    shared.set('effort', variant);
  }
  return shared;
}

/** Returns the model as text. Newer files also write `{providerID, model, variant}`. */
function modelOf(fields: Fields): {
  readonly model: Field | undefined;
  readonly variant: Field | undefined;
} {
  const field = fields.get('model');
  const variant = fields.get('variant');
  if (!isJsonObject(field?.value)) return { model: field, variant };
  const { providerID, model, modelID = model, variant: own } = field.value;
  const parts = [singleLineOf(providerID), singleLineOf(modelID)].filter(
    (part) => part !== undefined,
  );
  return {
    model: { value: parts.join('/'), line: field.line },
    variant: own === undefined ? variant : { value: own, line: field.line },
  };
}

function modeOf(fields: Fields): string | undefined {
  const value = singleLineOf(fields.get('mode')?.value)?.toLowerCase();
  return MODES.find((mode) => mode === value);
}

/** Whether opencode has a built-in agent of this name. */
export function isOpencodeBuiltin(name: string): boolean {
  return BUILT_IN.has(name) || BUILT_IN_PRIMARY.has(name);
}

function complete(agent: AgentDefinition, fields: Fields, about: OpencodeAgent): AgentDefinition {
  const own = BUILT_IN.get(agent.name) ?? [];
  const before = [...own, ...(about.common ?? [])];
  const ruled = withPermissionRules(agent, fields, { vendor: VENDOR, before });
  const mode = modeOf(fields) ?? (BUILT_IN_PRIMARY.has(agent.name) ? 'primary' : 'all');
  const unlisted = about.primary || mode === 'primary';
  const message = `opencode has a built-in agent \`${agent.name}\`: what that agent may not do, this one may not do either.`;
  const { path } = agent.origin;
  const problem = own.length === 0 ? [] : [{ code: 'built-in-permissions', message, path }];
  return { ...ruled, ...(unlisted ? { unlisted } : {}), problems: [...ruled.problems, ...problem] };
}

/**
 * The permissions of opencode's built-in agents. An agent of the same name in a file keeps them, except for what
 * the file allows.
 */
const BUILT_IN: ReadonlyMap<string, readonly PermissionEntry[]> = new Map([
  ['plan', entries({ edit: false })],
  ['general', entries({ todowrite: false })],
  [
    'explore',
    entries({
      '*': false,
      grep: true,
      glob: true,
      list: true,
      bash: true,
      webfetch: true,
      websearch: true,
      read: true,
    }),
  ],
  ...['compaction', 'title', 'summary'].map((name) => [name, entries({ '*': false })] as const),
]);

const BUILT_IN_PRIMARY: ReadonlySet<string> = new Set(
  'build plan compaction title summary'.split(' '),
);

function entries(switches: Readonly<Record<string, boolean>>): readonly PermissionEntry[] {
  return readToolSwitches(switches) ?? [];
}
