import { isJsonObject } from '../../../base/json.ts';
import { EFFORTS, type AgentDefinition, type AgentProblem } from '../../../protocol/agent.ts';
import type { Field, Fields } from '../../parsing/fields.ts';
import { readBoolean, word } from '../../fields/common.ts';
import { CLAUDE_MODES } from '../../fields/modes.ts';
import { switchEntries, type PermissionEntry } from '../../permissions/entries.ts';
import { withPermissionRules, withPermissionsAsTools } from '../../permissions/fields.ts';
import type { Dialect } from '../../fields/read-agent.ts';

const VENDOR = 'opencode';

/** Who chooses an agent: a person (`primary`), the model, or both. */
const MODES = ['primary', 'subagent', 'all'];

/** Fields that switch an agent off, in older and newer files. */
const SWITCHES_OFF = ['disable', 'disabled'];

export interface OpencodeAgent {
  /** By which its place calls it. */
  readonly name: string;
  /** Whether only a person chooses it, whatever it says. */
  readonly primary: boolean;
  /** Permissions that the file has for all of its agents. */
  readonly common?: readonly PermissionEntry[];
}

/** How opencode's fields are read, wherever they stand. */
export function opencodeDialect(about: OpencodeAgent): Dialect {
  return {
    vendor: VENDOR,
    modes: CLAUDE_MODES,
    limits: [],
    inactive: [
      'mode',
      'prompt',
      'temperature',
      'top_p',
      'hidden',
      'options',
      'request',
      'variant',
      'permission',
      'permissions',
      ...SWITCHES_OFF,
    ],
    loadsBareText: true,
    nameFromPath: () => about.name,
    translate: (fields) => translate(fields, about.name),
    complete: (agent, fields) => complete(agent, fields, about),
  };
}

/** Whether it is switched off; told as skipped, with the path of its file. */
export function disabledProblem(agent: AgentDefinition): AgentProblem | undefined {
  const isOff = SWITCHES_OFF.some((name) => readBoolean(agent.extra[name] ?? null) === true);
  if (!isOff) return undefined;
  const message = `\`${agent.name}\` is switched off (\`disable: true\`).`;
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
  // Of the models that think, most have variants that are called after how much.
  if (variant !== undefined && EFFORTS.some((each) => each === variant.value)) {
    shared.delete('variant');
    shared.set('effort', variant);
  }
  return shared;
}

/** The model as text; newer files write `{providerID, model, variant}`, too. */
function modelOf(fields: Fields): {
  readonly model: Field | undefined;
  readonly variant: Field | undefined;
} {
  const field = fields.get('model');
  const variant = fields.get('variant');
  if (!isJsonObject(field?.value)) return { model: field, variant };
  const { providerID, model, modelID = model, variant: own } = field.value;
  const parts = [word(providerID), word(modelID)].filter((part) => part !== undefined);
  return {
    model: { value: parts.join('/'), line: field.line },
    variant: own === undefined ? variant : { value: own, line: field.line },
  };
}

function modeOf(fields: Fields): string | undefined {
  const said = word(fields.get('mode')?.value)?.toLowerCase();
  return MODES.find((mode) => mode === said);
}

/** Whether opencode has an agent of this name built in. */
export function isOpencodeOwn(name: string): boolean {
  return BUILT_IN.has(name) || BUILT_IN_PRIMARY.has(name);
}

function complete(agent: AgentDefinition, fields: Fields, about: OpencodeAgent): AgentDefinition {
  const own = BUILT_IN.get(agent.name) ?? [];
  const before = [...own, ...(about.common ?? [])];
  const ruled = withPermissionRules(agent, fields, { vendor: VENDOR, before });
  const mode = modeOf(fields) ?? (BUILT_IN_PRIMARY.has(agent.name) ? 'primary' : 'all');
  const unlisted = about.primary || mode === 'primary';
  const message = `opencode has an agent \`${agent.name}\` of its own: what that one may not do, this one may not.`;
  const { path } = agent.origin;
  const told = own.length === 0 ? [] : [{ code: 'built-in-permissions', message, path }];
  return {
    ...ruled,
    ...(unlisted ? { unlisted } : {}),
    problems: [...ruled.problems, ...told],
  };
}

/**
 * What opencode's own agents may not do. One that a file defines under the same name keeps that, but
 * for what the file allows.
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
  return switchEntries(switches) ?? [];
}
