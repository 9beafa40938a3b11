import { EXAMPLE_AGENTS } from '../../../../api/agents/examples.ts';
import { SECTIONS } from '../../../../config/keys.ts';
import { USAGE_KEYS } from '../../../../api/tasks/usage-keys.ts';
import { OUTPUT_FORMATS } from '../../../../protocol/output-format.ts';
import { PERMISSION_MODES } from '../../../../protocol/permission.ts';
import { GRANT_SCOPES } from '../../../../protocol/question.ts';
import { TASK_STATUSES } from '../../../../protocol/result.ts';
import { TIERS } from '../../../../protocol/model.ts';
import { TOOL_NAMES } from '../../../../protocol/tool-names.ts';
import { TEMPLATE_FORMATS } from '../../command.ts';
import { COMPLETED_SHELLS } from '../../completion-command.ts';
import { SCHEMA_NAMES } from '../../schema-command.ts';
import { commandSpec, type CommandKind } from '../../command-table.ts';
import type { FlagName } from '../../flags.ts';

/** Where the values of a flag or an operand come from: all of these together. */
export interface ValueSource {
  readonly words?: readonly string[];
  readonly found?: FoundSource;
  readonly paths?: Paths;
}

/** What only the files of this machine tell. */
export type FoundSource =
  | 'agents'
  | 'agent modes'
  | 'configured models'
  | 'ended tasks'
  | 'open questions'
  | 'runs of templates'
  | 'tasks'
  | 'tasks at work'
  | 'templates';

export type Paths = 'files' | 'directories';

/** Nobody can guess it. */
export const ANYTHING: ValueSource = {};
const AGENTS: ValueSource = { found: 'agents' };
const TASKS: ValueSource = { found: 'tasks' };
const TASKS_AT_WORK: ValueSource = { found: 'tasks at work' };
const FILES: ValueSource = { paths: 'files' };
const DIRECTORIES: ValueSource = { paths: 'directories' };
const MODES: ValueSource = { words: PERMISSION_MODES };
const TOOLS: ValueSource = { words: TOOL_NAMES };
const MODELS: ValueSource = { words: [...TIERS, 'auto', 'offline'], found: 'configured models' };
/** A directory can stand for each of them. */
const AGENT_PLACES: ValueSource = { words: ['project', 'user'], paths: 'directories' };

/** Of every flag that takes a value. */
const FLAG_VALUES: Readonly<Partial<Record<FlagName, ValueSource>>> = {
  status: { words: TASK_STATUSES },
  from: ANYTHING,
  turn: ANYTHING,
  at: ANYTHING,
  because: ANYTHING,
  scope: { words: GRANT_SCOPES },
  reason: ANYTHING,
  days: ANYTHING,
  by: { words: USAGE_KEYS },
  since: ANYTHING,
  html: FILES,
  items: FILES,
  out: FILES,
  print: ANYTHING,
  'output-format': { words: OUTPUT_FORMATS },
  'output-schema': FILES,
  resume: { words: ['last'], found: 'tasks' },
  model: MODELS,
  'fallback-model': MODELS,
  agent: AGENTS,
  name: ANYTHING,
  description: ANYTHING,
  tools: TOOLS,
  mode: MODES,
  prompt: ANYTHING,
  'prompt-file': FILES,
  agents: ANYTHING,
  'permission-mode': MODES,
  'agent-mode': { found: 'agent modes' },
  'parent-mode': MODES,
  allow: TOOLS,
  ask: TOOLS,
  deny: TOOLS,
  'on-ask': { words: SECTIONS.permissions.on_ask.choices ?? [] },
  sandbox: { words: SECTIONS.sandbox.kind.choices ?? [] },
  'max-turns': ANYTHING,
  'max-tokens': ANYTHING,
  'max-cost-usd': ANYTHING,
  'max-wall-seconds': ANYTHING,
  'max-tasks': ANYTHING,
  cwd: DIRECTORIES,
  'add-dir': DIRECTORIES,
  'data-dir': DIRECTORIES,
  dir: DIRECTORIES,
  to: DIRECTORIES,
};

/** Where a flag of one command takes something else. */
const FLAG_VALUES_OF: Readonly<
  Partial<Record<CommandKind, Readonly<Partial<Record<FlagName, ValueSource>>>>>
> = {
  'agents-new': {
    from: { words: EXAMPLE_AGENTS, found: 'agents' },
    to: AGENT_PLACES,
    model: { ...MODELS, words: ['inherit', ...TIERS] },
  },
  'agents-import': { to: AGENT_PLACES },
  'run-template': { 'output-format': { words: TEMPLATE_FORMATS } },
  'tasks-rewind': { to: ANYTHING },
};

/** Of each operand in order; where a command takes more of them, the last one counts for all. */
const OPERAND_VALUES: Readonly<Record<CommandKind, readonly ValueSource[]>> = {
  'agents-list': [],
  'agents-show': [AGENTS],
  'agents-check': [{ found: 'agents', paths: 'files' }],
  'agents-explain': [AGENTS],
  'agents-new': [],
  'agents-import': [FILES],
  'skills-list': [],
  'skills-check': [],
  'tasks-list': [],
  'tasks-show': [TASKS],
  'tasks-log': [TASKS],
  'tasks-context': [TASKS],
  'tasks-watch': [TASKS],
  'tasks-stop': [TASKS_AT_WORK],
  'tasks-resume': [TASKS, ANYTHING],
  'tasks-send': [TASKS, ANYTHING],
  'tasks-answer': [{ found: 'open questions' }, { words: ['yes', 'no', 'always', 'mode'] }],
  'tasks-background': [TASKS_AT_WORK],
  'tasks-rerun': [TASKS],
  'tasks-branch': [TASKS],
  'tasks-rewind': [TASKS],
  'tasks-export': [TASKS, FILES],
  'tasks-import': [FILES],
  'tasks-delete': [{ found: 'ended tasks' }],
  'tasks-prune': [],
  'run-template': [{ found: 'templates' }],
  usage: [TASKS],
  'trust-list': [],
  'trust-add': [FILES],
  'trust-revoke': [FILES],
  models: [],
  'config-show': [],
  sandbox: [FILES],
  doctor: [],
  completion: [{ words: COMPLETED_SHELLS }, ANYTHING],
  schema: [{ words: SCHEMA_NAMES }],
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
  return sources[index] ?? (isRepeated ? sources.at(-1) : undefined) ?? ANYTHING;
}
