import { USAGE_KEYS } from '../../../../api/usage-keys.ts';
import { OUTPUT_FORMATS } from '../../../../protocol/output-format.ts';
import { PERMISSION_MODES } from '../../../../protocol/permission.ts';
import { GRANT_SCOPES } from '../../../../protocol/question.ts';
import { TASK_STATUSES } from '../../../../protocol/result.ts';
import { TIERS } from '../../../../protocol/model.ts';
import { COMPLETED_SHELLS, SCHEMA_NAMES, TEMPLATE_FORMATS } from '../../command.ts';
import { commandSpec, type CommandKind } from '../../command-table.ts';
import type { FlagName } from '../../flags.ts';

/** Where the values of a flag or an operand come from; a list is all there are. */
export type ValueSource =
  | 'anything'
  | 'files'
  | 'directories'
  | 'tasks'
  | 'tasks at work'
  | 'questions'
  | 'agents'
  | 'templates'
  | readonly string[];

const MODELS = [...TIERS, 'auto', 'offline'];

/** Of every flag that takes a value. */
const FLAG_VALUES: Readonly<Partial<Record<FlagName, ValueSource>>> = {
  status: TASK_STATUSES,
  from: 'anything',
  turn: 'anything',
  at: 'anything',
  because: 'anything',
  scope: GRANT_SCOPES,
  reason: 'anything',
  days: 'anything',
  by: USAGE_KEYS,
  since: 'anything',
  html: 'files',
  items: 'files',
  out: 'files',
  print: 'anything',
  'output-format': OUTPUT_FORMATS,
  'output-schema': 'files',
  resume: 'tasks',
  model: MODELS,
  'fallback-model': MODELS,
  agent: 'agents',
  name: 'anything',
  description: 'anything',
  tools: 'anything',
  mode: PERMISSION_MODES,
  prompt: 'anything',
  'prompt-file': 'files',
  agents: 'anything',
  'permission-mode': PERMISSION_MODES,
  'parent-mode': PERMISSION_MODES,
  allow: 'anything',
  ask: 'anything',
  deny: 'anything',
  'on-ask': ['deny', 'park'],
  'max-turns': 'anything',
  'max-tokens': 'anything',
  'max-cost-usd': 'anything',
  'max-wall-seconds': 'anything',
  'max-tasks': 'anything',
  cwd: 'directories',
  'add-dir': 'directories',
  'data-dir': 'directories',
  dir: 'directories',
  to: 'directories',
};

/** Where a flag of one command takes something else. */
const FLAG_VALUES_OF: Readonly<
  Partial<Record<CommandKind, Readonly<Partial<Record<FlagName, ValueSource>>>>>
> = {
  'agents-new': { from: 'agents', to: ['project', 'user'] },
  'agents-import': { to: ['project', 'user'] },
  'run-template': { 'output-format': TEMPLATE_FORMATS },
  'tasks-rewind': { to: 'anything' },
};

/** Of each operand in order; where a command takes more of them, the last one counts for all. */
const OPERAND_VALUES: Readonly<Record<CommandKind, readonly ValueSource[]>> = {
  'agents-list': [],
  'agents-show': ['agents'],
  'agents-check': ['agents'],
  'agents-explain': ['agents'],
  'agents-new': [],
  'agents-import': ['files'],
  'skills-list': [],
  'skills-check': [],
  'tasks-list': [],
  'tasks-show': ['tasks'],
  'tasks-log': ['tasks'],
  'tasks-context': ['tasks'],
  'tasks-watch': ['tasks'],
  'tasks-stop': ['tasks at work'],
  'tasks-resume': ['tasks', 'anything'],
  'tasks-send': ['tasks', 'anything'],
  'tasks-answer': ['questions', 'anything'],
  'tasks-background': ['tasks at work'],
  'tasks-rerun': ['tasks'],
  'tasks-branch': ['tasks'],
  'tasks-rewind': ['tasks'],
  'tasks-export': ['tasks', 'files'],
  'tasks-import': ['files'],
  'tasks-delete': ['tasks'],
  'tasks-prune': [],
  'run-template': ['templates'],
  usage: ['tasks'],
  'trust-list': [],
  'trust-add': ['files'],
  'trust-revoke': ['files'],
  models: [],
  'config-show': [],
  sandbox: ['files'],
  doctor: [],
  completion: [COMPLETED_SHELLS, 'anything'],
  schema: [SCHEMA_NAMES],
  // Its operands are words of commands.
  help: [],
};

/** What a flag takes; undefined: nothing. `kind` is null for a run. */
export function flagSource(name: FlagName, kind: CommandKind | null): ValueSource | undefined {
  return (kind === null ? undefined : FLAG_VALUES_OF[kind]?.[name]) ?? FLAG_VALUES[name];
}

/** `index` counts from 0. */
export function operandSource(kind: CommandKind, index: number): ValueSource {
  const sources = OPERAND_VALUES[kind];
  const isRepeated = commandSpec(kind).operands.at(-1)?.includes('…') ?? false;
  return sources[index] ?? (isRepeated ? sources.at(-1) : undefined) ?? 'anything';
}
