import { isJsonObject } from '../../../base/json.ts';
import { type AgentDefinition, type AgentProblem } from '../../../protocol/agent.ts';
import type { Field, Fields } from '../../parsing/fields.ts';
import { readBoolean, readSingleLine } from '../../fields/common.ts';
import { readToolSwitches, type PermissionEntry } from '../../permissions/entries.ts';
import { addPermissionRules, translateToToolLists } from '../../permissions/permission-fields.ts';
import type { AgentDialect } from '../../fields/read-agent.ts';
import { EFFORTS } from '../../../protocol/model.ts';

const VENDOR = 'opencode';

/**
 * The values of `mode`, which says who can choose an agent: a person (`primary`), the model (`subagent`), or both
 * (`all`).
 */
const MODES = ['primary', 'subagent', 'all'];

/** The fields that disable an agent, in older and newer files. */
const DISABLING_FIELDS = ['disable', 'disabled'];

const INACTIVE =
  'mode prompt temperature top_p hidden options request variant permission permissions'.split(' ');

/** The data about an agent that its file or its entry in a configuration does not contain. */
export interface OpencodeAgent {
  /** The name of the agent, from the path of its file or the key of its entry. */
  readonly name: string;
  /** Whether only a person can choose the agent, whatever its fields say. */
  readonly primary: boolean;
  /** The permissions that the configuration sets for all agents. */
  readonly common?: readonly PermissionEntry[];
}

/** Returns the dialect of opencode for an agent in a markdown file or in a configuration. */
export function opencodeDialect(options: OpencodeAgent): AgentDialect {
  return {
    vendor: VENDOR,
    inactive: [...INACTIVE, ...DISABLING_FIELDS],
    loadsBareText: true,
    nameFromPath: () => options.name,
    translate: (fields) => translate(fields, options.name),
    complete: (agent, fields) => complete(agent, fields, options),
  };
}

/** Returns the problem that a disabled agent is reported with. Returns undefined if the agent is enabled. */
export function disabledProblem(agent: AgentDefinition): AgentProblem | undefined {
  const isOff = DISABLING_FIELDS.some((name) => readBoolean(agent.extra[name] ?? null) === true);
  if (!isOff) return undefined;
  const message = `\`${agent.name}\` is disabled (\`disable: true\`).`;
  return { code: 'disabled', message, path: agent.origin.path };
}

function translate(fields: Fields, name: string): Fields {
  const shared = new Map(translateToToolLists(fields, VENDOR));
  if (!fields.has('name')) shared.set('name', { value: name, line: undefined });
  if (readMode(fields) !== undefined) shared.delete('mode');
  for (const off of [...DISABLING_FIELDS, 'hidden']) {
    if (readBoolean(fields.get(off)?.value ?? null) === false) shared.delete(off);
  }
  const { model, variant } = readModel(fields);
  if (model !== undefined) shared.set('model', model);
  // Most reasoning models have variants that are named after their effort.
  if (variant !== undefined && EFFORTS.some((each) => each === variant.value)) {
    shared.delete('variant');
    shared.set('effort', variant);
  }
  return shared;
}

/** Reads the model as a text, and its variant. Newer files write the model as `{providerID, model, variant}`. */
function readModel(fields: Fields): {
  readonly model: Field | undefined;
  readonly variant: Field | undefined;
} {
  const field = fields.get('model');
  const variant = fields.get('variant');
  if (!isJsonObject(field?.value)) return { model: field, variant };
  const { providerID, model, modelID = model, variant: builtInPermissions } = field.value;
  const parts = [readSingleLine(providerID), readSingleLine(modelID)].filter(
    (part) => part !== undefined,
  );
  return {
    model: { value: parts.join('/'), line: field.line },
    variant:
      builtInPermissions === undefined ? variant : { value: builtInPermissions, line: field.line },
  };
}

function readMode(fields: Fields): string | undefined {
  const value = readSingleLine(fields.get('mode')?.value)?.toLowerCase();
  return MODES.find((mode) => mode === value);
}

/** Returns whether opencode has a built-in agent with this name. */
export function isOpencodeBuiltin(name: string): boolean {
  return BUILT_IN_PERMISSIONS.has(name) || BUILT_IN_PRIMARY.has(name);
}

function complete(agent: AgentDefinition, fields: Fields, options: OpencodeAgent): AgentDefinition {
  const builtInPermissions = BUILT_IN_PERMISSIONS.get(agent.name) ?? [];
  const before = [...builtInPermissions, ...(options.common ?? [])];
  const ruled = addPermissionRules(agent, fields, { vendor: VENDOR, before });
  const mode = readMode(fields) ?? (BUILT_IN_PRIMARY.has(agent.name) ? 'primary' : 'all');
  const unlisted = options.primary || mode === 'primary';
  const message = `opencode has a built-in agent \`${agent.name}\`: what that agent may not do, this one may not do either.`;
  const { path } = agent.origin;
  const problem =
    builtInPermissions.length === 0 ? [] : [{ code: 'built-in-permissions', message, path }];
  return { ...ruled, ...(unlisted ? { unlisted } : {}), problems: [...ruled.problems, ...problem] };
}

/**
 * The permissions of opencode's built-in agents. An agent with the same name in a file keeps them, except for the
 * permissions that the file changes.
 */
const BUILT_IN_PERMISSIONS: ReadonlyMap<string, readonly PermissionEntry[]> = new Map([
  ['plan', readSwitches({ edit: false })],
  ['general', readSwitches({ todowrite: false })],
  [
    'explore',
    readSwitches({
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
  ...['compaction', 'title', 'summary'].map(
    (name) => [name, readSwitches({ '*': false })] as const,
  ),
]);

const BUILT_IN_PRIMARY: ReadonlySet<string> = new Set(
  'build plan compaction title summary'.split(' '),
);

function readSwitches(switches: Readonly<Record<string, boolean>>): readonly PermissionEntry[] {
  return readToolSwitches(switches) ?? [];
}
