import { dropMissing } from '../../base/drop-missing.ts';
import { type ConfigKey, SECTIONS } from '../../config/keys.ts';
import { LIMITS, type LimitName, type LimitRow } from '../../protocol/limits.ts';
import { INPUT_FORMATS, OUTPUT_FORMATS } from '../../protocol/output-format.ts';
import { GRANT_SCOPES } from '../../protocol/question.ts';
import { TASK_STATUSES } from '../../protocol/result.ts';
import {
  AGENT_VALUES,
  FILES,
  MODEL_VALUES,
  MODES,
  TOOLS,
  type Paths,
  type CompletionValues,
} from './completion-values.ts';
import { LANDING_FLAGS } from './landing-flags.ts';
import { SERVER_FLAGS } from './server-flags.ts';
import { TEMPLATE_FLAGS } from './template-flags.ts';
import { USAGE_FLAGS } from './usage-flags.ts';

/** A flag of the command line. */
export interface FlagSpec extends FlagDetails {
  /** The heading of the help under which the flag stands. */
  readonly group: string;
}

interface FlagDetails {
  readonly short?: string;
  /** A name that earlier versions had, and that is still read. */
  readonly formerName?: string;
  /** The name of the value in the help. Default: the flag takes no value. */
  readonly value?: string;
  /** Set if the value may be left out. */
  readonly hasOptionalValue?: true;
  readonly help: string;
  /** Set if the value is a path. `~` at its start is the home directory, because no shell expands `--cwd=~/x`. */
  readonly path?: Paths;
  /** The values that completion offers. Default: paths for a path, otherwise none. */
  readonly completes?: CompletionValues;
  /** The configuration key that the flag sets for this run. */
  readonly configKey?: ConfigKey;
  /** The text that joins the values of a repeated flag. Default: the last value counts, or all values of a list. */
  readonly joinedBy?: string;
  /** Set if zero is refused. In a configuration file it means "no limit", but on a command line it reads like "nothing". */
  readonly refusesZero?: boolean;
}

type FlaggedLimit = Extract<(typeof LIMITS)[LimitName], { readonly flag: object }>;
type LimitFlagName = FlaggedLimit['flag']['name'];

const LIMIT_FLAGS = createLimitFlags();

function createLimitFlags(): Readonly<Record<LimitFlagName, FlagDetails>> {
  const flags = Object.entries<LimitRow>(LIMITS).flatMap(([key, { section, range, flag }]) => {
    if (flag === undefined) return [];
    const { name, ...texts } = flag;
    return [[name, { ...texts, configKey: `${section}.${key}`, refusesZero: range[0] === 0 }]];
  });
  return Object.fromEntries(flags) as Record<LimitFlagName, FlagDetails>;
}

/** All flags by their long names. A flag has the same form in every command, so it may stand anywhere. */
const FLAGS = {
  ...inGroup('Tasks', {
    all: { help: 'list all of them' },
    status: {
      value: 'STATUS',
      help: `${TASK_STATUSES.join(', ')}; repeatable`,
      completes: { words: TASK_STATUSES },
    },
    send: { help: 'send them to the receiver of OTEL_EXPORTER_OTLP_ENDPOINT or of [otel]' },
    here: { help: 'only the tasks that work in this directory' },
    from: { value: 'START', help: 'where to begin' },
    turn: { value: 'N', help: 'the number of the turn; default: the newest' },
    replay: {
      value: 'TASK',
      help: 'the recorded task, with all tasks below it',
      completes: { found: 'tasks' },
    },
    at: { value: 'N', help: 'the number of the event (`muster tasks log`)' },
    undo: { help: 'undo the last one' },
    ...LANDING_FLAGS,
    only: {
      value: 'PART',
      help: 'what goes back: files or conversation (default: both)',
      completes: { words: ['files', 'conversation'] },
    },
    because: { value: 'TEXT', help: 'the reason, for the log and the parent' },
    scope: {
      short: 's',
      value: 'SCOPE',
      help: `where an answer "always" applies: ${GRANT_SCOPES.join(', ')} (default: task, the conversation with all its tasks); for "mode": task or user`,
      completes: { words: GRANT_SCOPES },
    },
    reason: {
      value: 'TEXT',
      help: 'why you refuse, or what to do instead; the task that asked gets it as an instruction',
    },
    days: {
      value: 'N',
      help: 'delete what ended more than N days ago; default: store.retention_days',
    },
    ...USAGE_FLAGS,
    html: {
      value: 'FILE',
      path: 'files',
      help: 'write a page with the timeline drawn (-: stdout)',
    },
    format: { value: 'FORMAT', help: 'the format of the file' },
    force: { help: 'replace FILE if it exists' },
  }),
  ...inGroup('Run', {
    ...TEMPLATE_FLAGS,
    print: {
      short: 'p',
      value: 'PROMPT',
      hasOptionalValue: true,
      help: 'run without a terminal UI and print the answer; without PROMPT it is read from stdin, with PROMPT stdin is added as context',
    },
    'output-format': {
      value: 'FORMAT',
      help: 'text (the answer), json (the result envelope) or stream-json (one event a line, the envelope last)',
      completes: { words: OUTPUT_FORMATS },
    },
    'input-format': {
      value: 'FORMAT',
      help: 'text, or stream-json: stdin holds messages, interruptions and answers to questions, one JSON object a line (docs/stream-json.md)',
      completes: { words: INPUT_FORMATS },
    },
    'output-schema': {
      value: 'SCHEMA',
      help: 'a JSON Schema, or the file that holds it: the answer must be JSON valid against it (data.structured of the envelope)',
      completes: FILES,
    },
    accept: {
      value: 'COMMAND',
      help: 'the work counts as completed only if this command passes on a clean copy of the directory; may be repeated, and may be JSON with more conditions (docs/acceptance.md)',
    },
    'screen-reader': {
      help: 'the terminal UI in plain lines that are only ever added, for a screen reader (or MUSTER_SCREEN_READER=1)',
    },
    verbose: { help: "show the subagents' actions on stderr" },
    debug: {
      help: 'write what happens, without its content, to log.file or to muster.log in the data directory',
    },
    worktree: {
      value: 'NAME',
      hasOptionalValue: true,
      help: 'work in a worktree of its own, with NAME in the name of its branch; muster tasks apply merges its changes',
    },
    continue: {
      short: 'c',
      help: 'continue the newest conversation of this directory; a prompt is its next message',
    },
    resume: {
      short: 'r',
      value: 'ID',
      hasOptionalValue: true,
      help: 'continue this task, or the newest conversation of this directory (last); without ID, choose one in the terminal UI',
      completes: { words: ['last'], found: 'tasks' },
    },
    'no-log': { help: 'keep nothing of this run after it ends' },
  }),
  ...inGroup('Agents and models', {
    model: {
      value: 'MODEL',
      configKey: 'models.default',
      help: 'provider/model, a model id, a tier (fast, balanced, powerful), auto or offline',
      completes: MODEL_VALUES,
    },
    'fallback-model': {
      value: 'MODEL',
      configKey: 'models.fallback',
      joinedBy: ',',
      help: 'a model to use when the chosen one fails; several with commas, or repeated',
      completes: MODEL_VALUES,
    },
    search: { value: 'TEXT', help: 'only the models with these words in their id' },
    refresh: { help: 'ask the providers again, even if they were asked less than a day ago' },
    provider: {
      value: 'URL|NAME',
      help: 'the provider to probe with a few small requests: its name, or the base URL of any server',
      completes: { found: 'providers' },
    },
    'api-key-env': { value: 'NAME', help: 'the environment variable that holds the key' },
    write: { help: 'append the configuration that was found to your configuration file' },
    agent: { value: 'NAME', help: 'the agent that runs as main agent', completes: AGENT_VALUES },
    name: { value: 'NAME', help: 'the name of the agent' },
    description: { value: 'TEXT', help: 'what the agent does and when to use it' },
    tools: {
      value: 'TOOLS',
      help: 'the tools of the agent, as in "Read, Grep"; default: the core set',
      completes: TOOLS,
    },
    mode: modeFlag(
      'the permission mode that it asks for: plan, default, acceptEdits or autonomous',
    ),
    prompt: { value: 'TEXT', help: 'the instructions of the agent' },
    'prompt-file': {
      value: 'FILE',
      path: 'files',
      help: 'a file that holds the instructions of the agent',
    },
    agents: { value: 'JSON', help: 'agent definitions for this run, as JSON or @FILE' },
  }),
  ...inGroup('Permissions', {
    'permission-mode': modeFlag('plan, default, acceptEdits or autonomous', 'permissions.mode'),
    'agent-mode': {
      value: 'NAME=MODE',
      configKey: 'permissions.agent_modes',
      help: 'let this agent have the mode that its definition asks for, up to MODE (acceptEdits or autonomous), even below a main agent with a stricter mode (--permission-mode); repeatable',
      completes: { found: 'agent modes' },
    },
    'parent-mode': modeFlag('the permission mode of the agent that delegates', 'permissions.mode'),
    allow: ruleFlag(
      'permissions.allow',
      'let matching calls run, as in "Bash(npm test:*)"; repeatable',
    ),
    ask: ruleFlag('permissions.ask', 'ask before matching calls; repeatable'),
    deny: ruleFlag('permissions.deny', 'never run matching calls; repeatable'),
    'on-ask': {
      value: 'ACTION',
      configKey: 'permissions.on_ask',
      help: 'what happens to a question: deny (refused at once) or park (its task waits; muster tasks answer)',
      completes: { words: SECTIONS.permissions.on_ask.choices ?? [] },
    },
    sandbox: {
      value: 'KIND',
      configKey: 'sandbox.kind',
      help: 'what confines commands: auto, bwrap, seatbelt or off; container: this machine is itself the sandbox, so autonomous mode runs commands as they are',
      completes: { words: SECTIONS.sandbox.kind.choices ?? [] },
    },
    'read-only': { help: 'let the command write nothing but temporary files' },
    network: { help: 'let the command use the network' },
    'trust-project': { help: "use this project's agents and configuration in this run" },
    yes: { short: 'y', help: 'answer yes to every question' },
    approve: { value: 'HASH', help: 'approve the content with this hash without a question' },
  }),
  ...inGroup('Limits', {
    'max-turns': { value: 'N', help: 'turns of the main agent' },
    ...LIMIT_FLAGS,
  }),
  ...inGroup('Keys', {
    account: {
      value: 'NAME',
      help: 'the name of the account, if you have several at a provider (default: default)',
      completes: { found: 'stored accounts' },
    },
    store: {
      value: 'PLACE',
      help: 'where the key is kept: keychain (that of the system), file (in the data directory), or auto: the keychain if it works, otherwise the file (the default)',
      completes: { words: ['auto', 'keychain', 'file'] },
    },
    'base-url': {
      value: 'URL',
      help: 'the address of the server, for a proxy or a provider of your own; the key is sent to no other server',
    },
    'no-check': { help: 'store the key without asking the provider whether it is valid' },
  }),
  ...inGroup('Servers', SERVER_FLAGS),
  ...inGroup('Directories', {
    cwd: { value: 'DIR', path: 'directories', help: 'the directory to work in' },
    'add-dir': {
      value: 'DIR',
      path: 'directories',
      help: 'a further directory that tools may use; repeatable',
    },
    'data-dir': { value: 'DIR', path: 'directories', help: 'where logs are kept' },
    dir: {
      value: 'DIR',
      path: 'directories',
      help: 'look at every such file below this directory instead, of any vendor',
    },
    to: {
      value: 'PLACE',
      path: 'directories',
      help: 'project (.muster/agents, the default), user, or a directory',
    },
  }),
  ...inGroup('General', {
    strict: { help: 'exit with 1 for warnings, too' },
    json: { help: 'print JSON' },
    version: { short: 'v', help: 'print the version' },
    help: { short: 'h', help: 'print help' },
  }),
};

function ruleFlag(configKey: ConfigKey, help: string): FlagDetails {
  return { value: 'RULE', configKey, help, completes: TOOLS };
}

function modeFlag(help: string, configKey?: ConfigKey): FlagDetails {
  return { value: 'MODE', help, completes: MODES, ...dropMissing({ configKey }) };
}

function inGroup<const Name extends string>(
  group: string,
  flags: Readonly<Record<Name, FlagDetails>>,
): Readonly<Record<Name, FlagSpec>>;
function inGroup(group: string, flags: Readonly<Record<string, FlagDetails>>) {
  return Object.fromEntries(
    Object.entries(flags).map(([name, details]) => [name, { ...details, group }]),
  );
}

export type FlagName = keyof typeof FLAGS;

export const FLAG_NAMES: readonly FlagName[] = Object.keys(FLAGS).filter(isFlagName);

export function isFlagName(name: string): name is FlagName {
  return Object.hasOwn(FLAGS, name);
}

/** The flags that set limits for the whole run. */
export const LIMIT_FLAG_NAMES: readonly FlagName[] = Object.keys(LIMIT_FLAGS).filter(isFlagName);

export function flagSpec(name: FlagName): FlagSpec {
  return FLAGS[name];
}

/** Returns the values that completion offers for a flag; undefined for a flag without a value. */
export function flagValues({ value, completes, path }: FlagSpec): CompletionValues | undefined {
  if (value === undefined) return undefined;
  return completes ?? (path === undefined ? {} : { paths: path });
}
