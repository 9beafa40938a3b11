import type { ConfigKey } from '../../config/keys.ts';
import { USAGE_KEYS } from '../../api/tasks/usage-keys.ts';
import { GRANT_SCOPES } from '../../protocol/question.ts';
import { TASK_STATUSES } from '../../protocol/result.ts';

/** A flag of the command line. */
export interface FlagSpec {
  readonly short?: string;
  /** Absent: the flag takes no value. */
  readonly value?: string;
  /** The value is a path, in which `~` is the home directory: no shell expands `--cwd=~/x`. */
  readonly isPath?: true;
  /** The value may be left out. */
  readonly optionalValue?: true;
  readonly group: FlagGroup;
  readonly help: string;
  /** The configuration key that the flag sets for this run. */
  readonly configKey?: ConfigKey;
  /** Given several times, what the values are together: each else takes the place of the one before. */
  readonly joinedBy?: string;
  /** 0 means "no limit" in a file, and would be read as "nothing at all" on a command line. */
  readonly aboveZero?: true;
}

/** The headings of the help, in order. */
type FlagGroup =
  | 'Tasks'
  | 'Run'
  | 'Agents and models'
  | 'Permissions'
  | 'Limits'
  | 'Places'
  | 'General';

/** Every flag there is, by its long name. A name means the same wherever it is taken. */
const FLAGS = {
  all: { group: 'Tasks', help: 'all of them' },
  status: { value: 'STATUS', group: 'Tasks', help: `${TASK_STATUSES.join(', ')}; repeatable` },
  here: { group: 'Tasks', help: 'those that work in this directory alone' },
  from: { value: 'START', group: 'Tasks', help: 'what to begin with' },
  turn: { value: 'N', group: 'Tasks', help: 'its turn; default: the newest' },
  at: { value: 'N', group: 'Tasks', help: 'the number of the event (`muster tasks log`)' },
  undo: { group: 'Tasks', help: 'undo the last one' },
  because: { value: 'TEXT', group: 'Tasks', help: 'why, for the log and its parent' },
  scope: {
    value: 'SCOPE',
    group: 'Tasks',
    help: `how far always reaches: ${GRANT_SCOPES.join(', ')} (default: task, with all below it); of mode: task or user`,
  },
  reason: { value: 'TEXT', group: 'Tasks', help: 'why not: the task that asked is told' },
  days: {
    value: 'N',
    group: 'Tasks',
    help: 'what ended longer ago than this; default: store.retention_days',
  },
  by: { value: 'WHAT', group: 'Tasks', help: `${USAGE_KEYS.join(', ')} (default: model)` },
  since: {
    value: 'DAY',
    group: 'Tasks',
    help: 'from this day on: YYYY-MM-DD, or 7d for the last 7 days (days of UTC)',
  },
  html: {
    value: 'FILE',
    isPath: true,
    group: 'Tasks',
    help: 'write a page with the timeline drawn (-: stdout)',
  },
  force: { group: 'Tasks', help: 'replace FILE if it is there' },
  items: {
    isPath: true,
    value: 'ITEMS',
    group: 'Run',
    help: 'what to run it over: a file (one item a line, a JSON list, or JSON lines), a glob of the workspace, or - for stdin',
  },
  'retry-failed': {
    group: 'Run',
    help: 'with --continue: do again what failed or was ended by a limit',
  },
  out: {
    value: 'FILE',
    isPath: true,
    group: 'Run',
    help: 'write the results to FILE instead of stdout',
  },
  list: { group: 'Run', help: 'which templates there are, and where each comes from' },
  print: {
    short: 'p',
    value: 'PROMPT',
    optionalValue: true,
    group: 'Run',
    help: 'run without a terminal UI and print the answer; without PROMPT it is read from stdin, with PROMPT stdin is added as context',
  },
  'output-format': {
    value: 'FORMAT',
    group: 'Run',
    help: 'text (the answer), json (the result envelope) or stream-json (one event a line, the envelope last)',
  },
  'output-schema': {
    value: 'SCHEMA',
    group: 'Run',
    help: 'a JSON Schema, or the file that holds it: the answer must be JSON valid against it (data.structured of the envelope)',
  },
  'screen-reader': {
    group: 'Run',
    help: 'the terminal UI in plain lines that are only ever added, for a screen reader (or MUSTER_SCREEN_READER=1)',
  },
  verbose: { group: 'Run', help: "show the subagents' actions on stderr" },
  continue: {
    short: 'c',
    group: 'Run',
    help: 'go on with the newest conversation of this directory; a prompt is its next message',
  },
  resume: {
    short: 'r',
    value: 'ID',
    group: 'Run',
    help: 'go on with this task, or with the newest conversation of this directory (last)',
  },
  'no-log': { group: 'Run', help: 'keep nothing of this run after it ends' },
  model: {
    value: 'MODEL',
    group: 'Agents and models',
    configKey: 'models.default',
    help: 'provider/model, a model id, a tier (fast, balanced, powerful), auto or offline',
  },
  'fallback-model': {
    value: 'MODEL',
    group: 'Agents and models',
    configKey: 'models.fallback',
    joinedBy: ',',
    help: 'a model to go on with where the chosen one fails; several with commas, or repeated',
  },
  agent: { value: 'NAME', group: 'Agents and models', help: 'the agent that runs as main agent' },
  name: { value: 'NAME', group: 'Agents and models', help: 'what the agent is to be called' },
  description: {
    value: 'TEXT',
    group: 'Agents and models',
    help: 'what the agent does and when to use it',
  },
  tools: {
    value: 'TOOLS',
    group: 'Agents and models',
    help: 'the tools of the agent, as in "Read, Grep"; default: the core set',
  },
  mode: {
    value: 'MODE',
    group: 'Agents and models',
    help: 'the permission mode that the agent asks for: plan, default, acceptEdits or autonomous',
  },
  prompt: { value: 'TEXT', group: 'Agents and models', help: 'what the agent is told to do' },
  'prompt-file': {
    value: 'FILE',
    isPath: true,
    group: 'Agents and models',
    help: 'a file that holds what the agent is told to do',
  },
  agents: {
    value: 'JSON',
    group: 'Agents and models',
    help: 'agent definitions for this run, as JSON or @FILE',
  },
  'permission-mode': {
    value: 'MODE',
    group: 'Permissions',
    configKey: 'permissions.mode',
    help: 'plan, default, acceptEdits or autonomous',
  },
  'agent-mode': {
    value: 'NAME=MODE',
    group: 'Permissions',
    configKey: 'permissions.agent_modes',
    help: 'let this agent have the mode that its definition asks for, up to MODE (acceptEdits or autonomous), also below a main agent that has less, whose own mode is --permission-mode; repeatable',
  },
  'parent-mode': {
    value: 'MODE',
    group: 'Permissions',
    configKey: 'permissions.mode',
    help: 'the permission mode of the agent that delegates',
  },
  allow: {
    value: 'RULE',
    group: 'Permissions',
    configKey: 'permissions.allow',
    help: 'let matching calls run, as in "Bash(npm test:*)"; repeatable',
  },
  ask: {
    value: 'RULE',
    group: 'Permissions',
    configKey: 'permissions.ask',
    help: 'ask before matching calls; repeatable',
  },
  deny: {
    value: 'RULE',
    group: 'Permissions',
    configKey: 'permissions.deny',
    help: 'never run matching calls; repeatable',
  },
  'on-ask': {
    value: 'ACTION',
    group: 'Permissions',
    configKey: 'permissions.on_ask',
    help: 'what happens to a question: deny (refused at once) or park (its task waits; muster tasks answer)',
  },
  sandbox: {
    value: 'KIND',
    group: 'Permissions',
    configKey: 'sandbox.kind',
    help: 'what holds commands: auto, bwrap, seatbelt or off; container: this machine is itself the sandbox, so autonomous mode runs commands as they are',
  },
  'read-only': { group: 'Permissions', help: 'nothing can be written but temporary files' },
  network: { group: 'Permissions', help: 'let it reach the network' },
  'trust-project': {
    group: 'Permissions',
    help: "let this project's agents and configuration act, for this run",
  },
  yes: { short: 'y', group: 'Permissions', help: 'answer yes to what would be asked' },
  'max-turns': { value: 'N', group: 'Limits', help: 'turns of the main agent' },
  'max-tokens': {
    value: 'N',
    group: 'Limits',
    configKey: 'budget.tree_tokens',
    aboveZero: true,
    help: 'paid tokens of the whole run, subagents included',
  },
  'max-cost-usd': {
    value: 'USD',
    group: 'Limits',
    configKey: 'budget.tree_cost_usd',
    aboveZero: true,
    help: 'cost of the whole run, subagents included',
  },
  'max-wall-seconds': {
    value: 'SECONDS',
    group: 'Limits',
    configKey: 'budget.tree_wall_seconds',
    aboveZero: true,
    help: 'wall time of the whole run, subagents included',
  },
  'max-tasks': {
    value: 'N',
    group: 'Limits',
    configKey: 'task_tool.max_tasks',
    help: 'subagents of the whole run',
  },
  cwd: { value: 'DIR', isPath: true, group: 'Places', help: 'the directory to work in' },
  'add-dir': {
    value: 'DIR',
    isPath: true,
    group: 'Places',
    help: 'a further directory that tools may reach; repeatable',
  },
  'data-dir': { value: 'DIR', isPath: true, group: 'Places', help: 'where logs are kept' },
  dir: {
    value: 'DIR',
    isPath: true,
    group: 'Places',
    help: 'look at every such file below this directory instead, of whatever vendor',
  },
  to: {
    value: 'PLACE',
    isPath: true,
    group: 'Places',
    help: 'project (.muster/agents, the default), user, or a directory',
  },
  strict: { group: 'General', help: 'fail for warnings, too' },
  json: { group: 'General', help: 'print JSON' },
  version: { short: 'v', group: 'General', help: 'print the version' },
  help: { short: 'h', group: 'General', help: 'print help' },
} as const satisfies Readonly<Record<string, FlagSpec>>;

export type FlagName = keyof typeof FLAGS;

export const FLAG_NAMES: readonly FlagName[] = Object.keys(FLAGS).filter(isFlagName);

export function isFlagName(name: string): name is FlagName {
  return Object.hasOwn(FLAGS, name);
}

export function flagSpec(name: FlagName): FlagSpec {
  return FLAGS[name];
}
