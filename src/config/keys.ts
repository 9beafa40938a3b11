import { NOTIFY } from '../protocol/notify.ts';
import { GRANTABLE_MODES, parseAgentMode } from '../policy/modes.ts';
import { PERMISSION_MODES } from '../protocol/permission.ts';
import {
  booleanKey,
  choiceKey,
  decimalKey,
  listKey,
  textKey,
  optionalKey,
  integerKey,
} from './key-kinds.ts';
import { isPassableToCommands } from '../sys/processes/command-environment.ts';

const WEEK_SECONDS = 604_800;
const MOST_TOKENS = 1_000_000_000;
const MOST_USD = 1_000_000;
const GIBIBYTE = 1_073_741_824;

const seconds = { min: 0.01, max: WEEK_SECONDS };

const TIER_VALUE = 'a model id, "provider/model" or a tier';
const RULES = 'a list of rules like "Bash(npm test:*)"';

function modelListKey(meaning: string) {
  return listKey({ combine: 'replace', separator: ',', expects: 'a list of models', meaning });
}

/** Explains the mode that means opposite things in two products, so that Muster never guesses. */
const DONT_ASK_HINT =
  '"dontAsk" is not taken here, because it means two opposite things: in Claude Code "refuse whatever would ask" ' +
  '(write "default": where nobody can answer, what would ask is refused), and elsewhere "run everything without ' +
  'asking" (write "autonomous")';

/** The keys of the section `sandbox` of the configuration. A project's own file may set none of them. */
const SANDBOX_KEYS = {
  kind: choiceKey('auto', ['auto', 'bwrap', 'seatbelt', 'container', 'off'], {
    project: 'never',
    meaning:
      'what confines shell commands; "auto": what this system has; "container": the machine itself',
  }),
  network: booleanKey(false, {
    project: 'never',
    meaning: 'network for shell commands in the sandbox',
  }),
  caches: choiceKey('private', ['private', 'shared'], {
    project: 'never',
    meaning:
      'caches of package managers that shell commands use: "private", of their own, or "shared", yours, through which a command can reach what you run',
  }),
  env: listKey({
    project: 'never',
    combine: 'replace',
    expects:
      'a list of variable names, none of which tells programs what to run (BASH_ENV, GIT_*, LD_PRELOAD, RIPGREP_CONFIG_PATH, …)',
    takes: isPassableToCommands,
    meaning: 'further environment variables that shell commands see',
  }),
} as const;

/**
 * Every section and key of the configuration (docs/configuration.md), in the order in which they are
 * shown. Types, variables, messages and `config show` are all derived from this table.
 */
export const SECTIONS = {
  task_tool: {
    enabled: booleanKey(true, { meaning: 'offer the Task tools to the model' }),
    max_depth: integerKey(2, {
      min: 0,
      max: 32,
      meaning: 'how deep tasks may nest; the main agent is at 0',
    }),
    nested: booleanKey(false, { meaning: 'give Task to agents whose definition does not list it' }),
    default_timeout_seconds: decimalKey(300, {
      ...seconds,
      meaning: 'after so long a foreground wait goes on in the background',
    }),
    task_wall_seconds: decimalKey(1800, {
      ...seconds,
      project: 'narrow',
      meaning: 'wall time of one delegated task',
    }),
    max_tokens: integerKey(1_000_000, {
      min: 1,
      max: MOST_TOKENS,
      project: 'narrow',
      meaning: 'paid tokens of one delegated task',
    }),
    max_cost_usd: decimalKey(0, {
      min: 0,
      max: MOST_USD,
      project: 'narrow',
      meaning: 'cost of one delegated task in USD; 0: no limit',
    }),
    max_tool_bytes: integerKey(0, {
      min: 0,
      max: 1024 * GIBIBYTE,
      project: 'narrow',
      meaning: 'bytes of all tool results of one delegated task; 0: no limit',
    }),
    max_turns: optionalKey(
      integerKey(1, {
        min: 1,
        max: 100_000,
        project: 'narrow',
        meaning: 'turns of one delegated task, at most',
      }),
      'by definition',
    ),
    result_max_tokens: integerKey(2000, {
      min: 1,
      max: 1_000_000,
      meaning: "tokens of a task's answer that reach its parent's model",
    }),
    max_parallel: integerKey(16, {
      min: 1,
      max: 100_000,
      meaning: 'tasks of one tree at work at a time; the rest queue',
    }),
    max_tasks: integerKey(500, {
      min: 1,
      max: 1_000_000,
      project: 'narrow',
      meaning: 'delegated tasks of one tree',
    }),
    enable_verbose_logging: booleanKey(false, { meaning: "log the subagents' actions in full" }),
    allow_model_override: booleanKey(true, {
      meaning: "let a Task call name another model than the definition's",
    }),
    cache: booleanKey(false, {
      meaning: 'reuse the result of an identical earlier task while all that it read is the same',
    }),
  },
  budget: {
    tree_tokens: integerKey(0, {
      min: 0,
      max: 1_000_000_000_000,
      project: 'narrow',
      meaning: 'paid tokens of the whole tree; 0: no limit',
    }),
    tree_cost_usd: decimalKey(0, {
      min: 0,
      max: MOST_USD,
      project: 'narrow',
      meaning: 'cost of the whole tree in USD; 0: no limit',
    }),
    tree_turns: integerKey(0, {
      min: 0,
      max: 100_000_000,
      project: 'narrow',
      meaning: 'turns of the whole tree; 0: no limit',
    }),
    tree_wall_seconds: decimalKey(0, {
      min: 0,
      max: WEEK_SECONDS,
      project: 'narrow',
      meaning: 'wall time of the whole tree; 0: no limit',
    }),
    tree_tool_bytes: integerKey(0, {
      min: 0,
      max: 1024 * GIBIBYTE,
      project: 'narrow',
      meaning: 'bytes of all tool results of the whole tree; 0: no limit',
    }),
    max_processes: integerKey(64, {
      min: 1,
      max: 100_000,
      project: 'narrow',
      meaning: 'shell commands of one tree at a time; the rest queue',
    }),
  },
  liveness: {
    connect_seconds: decimalKey(20, { ...seconds, meaning: 'to reach a provider' }),
    first_token_seconds: optionalKey(
      decimalKey(120, { ...seconds, meaning: 'to the first token of an answer' }),
      '120, or 600 for a private address',
    ),
    stream_idle_seconds: decimalKey(120, {
      ...seconds,
      meaning: 'silence between events of a stream',
    }),
    silent_retries: integerKey(1, {
      min: 0,
      max: 100,
      meaning: 'further tries of a request that a server took and left without an answer',
    }),
    tool_seconds: decimalKey(600, { ...seconds, meaning: 'one tool call' }),
    no_progress_calls: integerKey(8, {
      min: 2,
      max: 10_000,
      meaning: 'repetitions of the same calls with the same results that end a task',
    }),
  },
  output: {
    tool_result_bytes: integerKey(30_000, {
      min: 256,
      max: GIBIBYTE,
      meaning: 'bytes of one tool result; the rest is kept in a file',
    }),
    read_bytes: integerKey(262_144, {
      min: 256,
      max: GIBIBYTE,
      meaning: 'bytes of one Read result',
    }),
    spill_bytes: integerKey(52_428_800, {
      min: 0,
      max: 1024 * GIBIBYTE,
      meaning: "bytes of a command's output kept in a file before the command is stopped",
    }),
  },
  models: {
    default: optionalKey(
      textKey({ expects: TIER_VALUE, meaning: 'the model of the main agent' }),
      'by what is configured',
    ),
    fast: optionalKey(textKey({ expects: TIER_VALUE, meaning: 'the fast tier' }), 'by provider'),
    balanced: optionalKey(
      textKey({ expects: TIER_VALUE, meaning: 'the balanced tier' }),
      'by provider',
    ),
    powerful: optionalKey(
      textKey({ expects: TIER_VALUE, meaning: 'the powerful tier' }),
      'by provider',
    ),
    fallback: modelListKey('models tried in turn where the chosen one fails'),
    fallback_fast: modelListKey('the same for the fast tier, before those of `fallback`'),
    fallback_balanced: modelListKey('the same for the balanced tier, before those of `fallback`'),
    fallback_powerful: modelListKey('the same for the powerful tier, before those of `fallback`'),
  },
  provider: {
    retries: integerKey(6, { min: 0, max: 100, meaning: 'further tries of one request' }),
    max_wait_seconds: optionalKey(
      decimalKey(300, {
        min: 0,
        max: 31_536_000,
        meaning:
          'how long a request waits for rate limits and for the times that its server states (`Retry-After`); 0: however long it takes',
      }),
      '300, or 0 in the terminal UI',
    ),
    max_concurrent: integerKey(64, {
      min: 1,
      max: 10_000,
      meaning: 'requests in flight per provider and key',
    }),
    cache_hold_ms: integerKey(2_000, {
      min: 0,
      max: 60_000,
      meaning: 'how long siblings wait for the first of them to write the prompt cache; 0: never',
    }),
    requests_per_minute: integerKey(0, {
      min: 0,
      max: 1_000_000,
      meaning: 'per provider and key; 0: no limit',
    }),
  },
  permissions: {
    mode: choiceKey('default', PERMISSION_MODES, {
      project: 'narrow',
      meaning: 'what runs without a rule',
      wrongValueHints: { dontAsk: DONT_ASK_HINT },
    }),
    allow: listKey({ combine: 'append', expects: RULES, meaning: 'calls that run' }),
    ask: listKey({ combine: 'append', expects: RULES, meaning: 'calls that are asked for' }),
    deny: listKey({ combine: 'append', expects: RULES, meaning: 'calls that never run' }),
    agent_modes: listKey({
      project: 'never',
      combine: 'append',
      expects: `a list of NAME=MODE, as in "coder=acceptEdits", with one of the modes ${GRANTABLE_MODES.join(', ')}`,
      takes: (item) => parseAgentMode(item) !== null,
      meaning:
        "modes that agents of yours may have where their definition asks for more than their parent's",
    }),
    on_ask: choiceKey('deny', ['deny', 'park'], {
      meaning: 'what a headless run does with a question',
    }),
  },
  sandbox: SANDBOX_KEYS,
  terminal: {
    notify: choiceKey('bell', NOTIFY, {
      project: 'never',
      meaning: 'how the terminal UI calls you when a task asks, or one in the background has ended',
    }),
  },
  store: {
    retention_days: integerKey(30, {
      min: 0,
      max: 36_500,
      project: 'never',
      meaning: 'how long ended tasks are kept; 0: for ever',
    }),
    durability: choiceKey('safe', ['safe', 'fast'], {
      project: 'never',
      meaning:
        '"safe" syncs the log to disk where a promise was made; "fast" leaves it to the system',
    }),
  },
};

type Sections = typeof SECTIONS;
type SectionName = keyof Sections;
export type ConfigKey = {
  [S in SectionName]: `${S}.${keyof Sections[S] & string}`;
}[SectionName];
