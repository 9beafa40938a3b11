import {
  DETAILS,
  NOTIFY,
  THEME_CHOICES,
  THINKING_DISPLAYS,
} from '../protocol/terminal-settings.ts';
import { SECONDS_RANGE } from '../protocol/limits.ts';
import { FAMILY_CHOICES } from '../protocol/model-families/family-names.ts';
import { SEARCH_SERVICES } from '../protocol/web-search.ts';
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
  limitKeys,
} from './key-kinds.ts';
import { PROCESS_KEYS } from './process-keys.ts';
import { REMOTE_KEYS } from './remote-keys.ts';
import { LOG_KEYS, OTEL_KEYS } from './telemetry-keys.ts';
import { WORKSPACE_KEYS } from './workspace-keys.ts';
import { isPassableToCommands } from '../sys/processes/command-environment.ts';

const GIBIBYTE = 1_073_741_824;

const MODEL_EXPECTED = 'a model id, "provider/model" or a tier';
const RULES_EXPECTED = 'a list of rules like "Bash(npm test:*)"';

function modelListKey(meaning: string) {
  return listKey({ combine: 'replace', separator: ',', expects: 'a list of models', meaning });
}

/**
 * The hint for the mode `dontAsk`, which means opposite things in two products. Muster does not guess which one is
 * meant.
 */
const DONT_ASK_HINT =
  '"dontAsk" is not taken here, because it means two opposite things: in Claude Code "refuse whatever would ask" ' +
  '(write "default": where nobody can answer, what would ask is refused), and elsewhere "run everything without ' +
  'asking" (write "autonomous")';

/** The keys of the section `sandbox`. A project's file may not set any of them. */
const SANDBOX_KEYS = {
  kind: choiceKey(
    'auto',
    ['auto', 'bwrap', 'seatbelt', 'container', 'off'],
    'what confines shell commands; "auto": what this system has; "container": the machine itself',
    { project: 'never' },
  ),
  network: booleanKey(false, 'network for shell commands in the sandbox', { project: 'never' }),
  caches: choiceKey(
    'private',
    ['private', 'shared'],
    'caches of package managers for shell commands: "private" (separate ones) or "shared" (yours, through which a command can change what you run)',
    { project: 'never' },
  ),
  env: listKey({
    project: 'never',
    combine: 'replace',
    expects:
      'a list of variable names, none of which tells programs what to run (BASH_ENV, GIT_*, LD_PRELOAD, RIPGREP_CONFIG_PATH, …)',
    acceptsItem: isPassableToCommands,
    meaning: 'further environment variables that shell commands see',
  }),
  command_processes: integerKey(
    2048,
    [0, 1_000_000],
    'processes and threads of one command at a time; a command with more is ended; 0: no limit',
    { project: 'never' },
  ),
} as const;

/**
 * The table of all sections and keys of the configuration (docs/configuration.md), in the order in which `config show`
 * lists them. Types, environment variables and messages are derived from this table.
 */
export const SECTIONS = {
  task_tool: {
    enabled: booleanKey(true, 'offer the Task tools to the model'),
    max_depth: integerKey(2, [0, 32], 'how deep tasks may nest; the main agent is at 0'),
    nested: booleanKey(false, 'give Task to agents whose definition does not list it'),
    default_timeout_seconds: decimalKey(
      300,
      SECONDS_RANGE,
      'how long a call waits for a task in the foreground before it continues in the background',
    ),
    ...limitKeys('task_tool', 'task'),
    result_max_tokens: integerKey(
      2000,
      [1, 1_000_000],
      "tokens of a task's answer that reach its parent's model",
    ),
    max_parallel: integerKey(
      16,
      [1, 100_000],
      'tasks of one tree at work at a time; the rest queue',
    ),
    ...limitKeys('task_tool', 'tree'),
    enable_verbose_logging: booleanKey(false, "log the subagents' actions in full"),
    allow_model_override: booleanKey(
      true,
      "let a Task call name another model than the definition's",
    ),
    cache: booleanKey(
      false,
      'reuse the result of an identical earlier task while all that it read is the same',
    ),
  },
  budget: limitKeys('budget', 'tree'),
  liveness: {
    connect_seconds: decimalKey(20, SECONDS_RANGE, 'to reach a provider'),
    first_token_seconds: optionalKey(
      decimalKey(120, SECONDS_RANGE, 'to the first token of an answer'),
      '120, or 600 for a private address',
    ),
    stream_idle_seconds: decimalKey(120, SECONDS_RANGE, 'silence between events of a stream'),
    silent_retries: integerKey(
      1,
      [0, 100],
      'further tries of a request that a server took and left without an answer',
    ),
    tool_seconds: decimalKey(600, SECONDS_RANGE, 'one tool call'),
    no_progress_calls: integerKey(
      8,
      [2, 10_000],
      'how often the same calls may give the same results before the task is ended',
    ),
  },
  output: {
    tool_result_bytes: integerKey(
      30_000,
      [256, GIBIBYTE],
      'bytes of one tool result; the rest is kept in a file',
    ),
    read_bytes: integerKey(262_144, [256, GIBIBYTE], 'bytes of one Read result'),
    server_tools_bytes: integerKey(
      35_000,
      [0, GIBIBYTE],
      'bytes of tools of MCP servers in a request; with more, the model searches for them',
    ),
    spill_bytes: integerKey(
      52_428_800,
      [0, 1024 * GIBIBYTE],
      "bytes of a command's output kept in a file before the command is stopped",
    ),
  },
  models: {
    default: optionalKey(
      textKey(MODEL_EXPECTED, 'the model of the main agent'),
      'by what is configured',
    ),
    fast: optionalKey(textKey(MODEL_EXPECTED, 'the fast tier'), 'by provider'),
    balanced: optionalKey(textKey(MODEL_EXPECTED, 'the balanced tier'), 'by provider'),
    powerful: optionalKey(textKey(MODEL_EXPECTED, 'the powerful tier'), 'by provider'),
    fallback: modelListKey('models tried in turn where the chosen one fails'),
    fallback_fast: modelListKey('the same for the fast tier, before those of `fallback`'),
    fallback_balanced: modelListKey('the same for the balanced tier, before those of `fallback`'),
    fallback_powerful: modelListKey('the same for the powerful tier, before those of `fallback`'),
    family: choiceKey(
      'auto',
      FAMILY_CHOICES,
      'the form in which tools are described; "auto": the form that the model was trained with',
    ),
  },
  provider: {
    retries: integerKey(6, [0, 100], 'further tries of one request'),
    max_wait_seconds: optionalKey(
      decimalKey(
        300,
        [0, 31_536_000],
        'how long a request waits for rate limits and for the times that its server states (`Retry-After`); 0: however long it takes',
      ),
      '300, or 0 in the terminal UI',
    ),
    max_concurrent: integerKey(64, [1, 10_000], 'requests in flight per provider and key'),
    cache_hold_ms: integerKey(
      2_000,
      [0, 60_000],
      'how long siblings wait for the first of them to write the prompt cache; 0: never',
    ),
    requests_per_minute: integerKey(0, [0, 1_000_000], 'per provider and key; 0: no limit'),
  },
  permissions: {
    mode: choiceKey('default', PERMISSION_MODES, 'what runs without a rule', {
      project: 'narrow',
      wrongValueHints: { dontAsk: DONT_ASK_HINT },
    }),
    allow: listKey({
      combine: 'append',
      expects: RULES_EXPECTED,
      meaning: 'calls that run without a question',
    }),
    ask: listKey({
      combine: 'append',
      expects: RULES_EXPECTED,
      meaning: 'calls that need your approval',
    }),
    deny: listKey({ combine: 'append', expects: RULES_EXPECTED, meaning: 'calls that never run' }),
    agent_modes: listKey({
      project: 'never',
      combine: 'append',
      expects: `a list of NAME=MODE, as in "coder=acceptEdits", with one of the modes ${GRANTABLE_MODES.join(', ')}`,
      acceptsItem: (item) => parseAgentMode(item) !== null,
      meaning:
        'modes that agents may have if their definition asks for more than the mode of their parent',
    }),
    on_ask: choiceKey('deny', ['deny', 'park'], 'what a headless run does with a question'),
  },
  sandbox: SANDBOX_KEYS,
  code: {
    feedback: booleanKey(
      true,
      'report the problems that an edit causes, as language servers and `check` find them',
    ),
    format: booleanKey(
      true,
      'format the files that an edit has written, as the settings of the project say',
    ),
    check: listKey({
      combine: 'replace',
      expects: 'a list of command lines like "npx tsc --noEmit"',
      meaning: 'commands that check the project after edits of files without a language server',
    }),
    servers: listKey({
      combine: 'replace',
      expects: 'a list of LANGUAGE=COMMAND or .ENDING=COMMAND, as in "python=pylsp"',
      meaning: 'language servers to use instead of those that Muster finds',
    }),
    check_seconds: decimalKey(3, SECONDS_RANGE, 'to check the changes of one call'),
    start_seconds: decimalKey(
      20,
      SECONDS_RANGE,
      'to check the first changes, for which a server has to start',
    ),
    command_seconds: decimalKey(30, SECONDS_RANGE, 'for one run of a command of `check`'),
    format_seconds: decimalKey(10, SECONDS_RANGE, 'to format one file'),
    project_programs: booleanKey(
      false,
      'use programs that the project contains, such as those in node_modules/.bin',
    ),
  },
  workspaces: WORKSPACE_KEYS,
  process: PROCESS_KEYS,
  web: {
    search: choiceKey(
      'auto',
      ['auto', 'off', 'provider', ...SEARCH_SERVICES],
      'who answers WebSearch; "auto": the first service with a key, otherwise the provider of the model if it can search',
      { project: 'never' },
    ),
    searxng_url: optionalKey(
      textKey('the address of a SearXNG instance', 'the instance for `search = "searxng"`', {
        project: 'never',
      }),
      'SEARXNG_URL',
    ),
  },
  remote: REMOTE_KEYS,
  terminal: {
    notify: choiceKey(
      'bell',
      NOTIFY,
      'how the terminal UI calls you when a task asks, a long turn has ended, or a background task has ended',
      { project: 'never' },
    ),
    title: booleanKey(true, 'whether the title of the window shows the state of the conversation', {
      project: 'never',
    }),
    hints: booleanKey(
      true,
      'whether keys are shown in the status line until you have used them five times',
      { project: 'never' },
    ),
    theme: choiceKey(
      'auto',
      THEME_CHOICES,
      'the colors of the terminal UI; "auto": by the background of the terminal',
      { project: 'never' },
    ),
    detail: choiceKey(
      'full',
      DETAILS,
      'what the terminal UI shows of the work: "full" (changes, command output, plans) or "short" (one line for each call)',
      { project: 'never' },
    ),
    thinking: choiceKey(
      'short',
      THINKING_DISPLAYS,
      "how much of the models' thinking the terminal UI shows; /thinking changes it for now",
      { project: 'never' },
    ),
  },
  otel: OTEL_KEYS,
  log: LOG_KEYS,
  store: {
    retention_days: integerKey(30, [0, 36_500], 'how long ended tasks are kept; 0: for ever', {
      project: 'never',
    }),
    durability: choiceKey(
      'safe',
      ['safe', 'fast'],
      '"safe" syncs the log to disk before Muster reports something as saved; "fast" leaves that to the system',
      { project: 'never' },
    ),
  },
};

type Sections = typeof SECTIONS;
type SectionName = keyof Sections;
export type ConfigKey = {
  [S in SectionName]: `${S}.${keyof Sections[S] & string}`;
}[SectionName];
