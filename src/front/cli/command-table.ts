import { AGENTS_COMMANDS } from './agents-commands.ts';
import {
  CONFIG_FLAGS,
  CONVERSATION_FLAGS,
  PROJECT_FLAGS,
  type CommandSpec,
} from './command-spec.ts';
import type { FlagName } from './flags.ts';
import { TEMPLATE_RUN } from './template-run-spec.ts';

/** `muster -p`: the command without words. */
export const RUN = {
  words: '',
  summary: 'A terminal coding agent that delegates to subagents.',
  operands: ['[PROMPT]'],
  flags: [
    'print',
    'output-format',
    'output-schema',
    ...CONVERSATION_FLAGS,
    ...CONFIG_FLAGS,
    'max-turns',
    ...PROJECT_FLAGS,
    'add-dir',
    'data-dir',
    'version',
    'help',
  ],
  examples: [
    'muster',
    'muster -p "Where is the retry limit decided?"',
    'git diff | muster -p "Review this change" --output-format json',
    'muster -p "Fix the failing test" --permission-mode acceptEdits --allow "Bash(npm test)"',
    'muster --continue -p "Now run the tests"',
    'muster -p -- "- a prompt that begins with a dash"',
  ],
} as const satisfies CommandSpec;

/** Of a run that goes on with what is in the logs. */
const MESSAGE_FLAGS = [
  'output-format',
  'json',
  'verbose',
  'agents',
  ...CONFIG_FLAGS,
  'max-turns',
  ...PROJECT_FLAGS,
  'add-dir',
  'data-dir',
  'help',
] as const satisfies readonly FlagName[];

/** Every command with words, by its kind. */
const COMMANDS = {
  ...AGENTS_COMMANDS,
  'skills-list': {
    words: 'skills list',
    summary: 'which skills there are, where each comes from and how it runs',
    operands: [],
    flags: ['json', 'dir', ...PROJECT_FLAGS, 'data-dir', 'help'],
    examples: ['muster skills list --json'],
  },
  'skills-check': {
    words: 'skills check',
    summary: 'what is wrong with the skills here; exits with 1 for errors',
    operands: [],
    flags: ['json', 'dir', ...PROJECT_FLAGS, 'data-dir', 'help'],
    examples: ['muster skills check', 'muster skills check --dir my-skills/deploy'],
  },
  'tasks-list': {
    words: 'tasks list',
    summary: 'the tasks of this data directory, newest first',
    operands: [],
    flags: ['all', 'status', 'here', 'json', 'data-dir', 'help'],
    examples: ['muster tasks list', 'muster tasks list --status running --status queued --json'],
  },
  'tasks-show': {
    words: 'tasks show',
    summary: 'a task and all below it: where the time went, turns, receipt, answer',
    operands: ['ID'],
    flags: ['html', 'force', 'json', 'data-dir', 'help'],
    examples: ['muster tasks show 4f2k9x', 'muster tasks show 4f2k9x --html report.html'],
  },
  'tasks-log': {
    words: 'tasks log',
    summary: 'the events of one task',
    operands: ['ID'],
    flags: ['from', 'json', 'data-dir', 'help'],
    flagHelp: { from: { value: 'N', help: 'the number of the event to begin with' } },
    examples: ['muster tasks log 4f2k9x --json', 'muster tasks log 4f2k9x --from 120'],
  },
  'tasks-context': {
    words: 'tasks context',
    summary: 'what stood in a request of a task, by part, in tokens',
    operands: ['ID'],
    flags: ['turn', 'json', 'data-dir', 'help'],
    examples: ['muster tasks context 4f2k9x', 'muster tasks context 4f2k9x --turn 3'],
  },
  'tasks-watch': {
    words: 'tasks watch',
    summary: 'what a task and all below it do, as they do it; without ID all tasks',
    operands: ['[ID]'],
    flags: ['json', 'data-dir', 'help'],
    examples: ['muster tasks watch', 'muster tasks watch 4f2k9x --json'],
  },
  'tasks-stop': {
    words: 'tasks stop',
    summary: 'stop a task and all below it; what it found is kept',
    operands: ['ID'],
    flags: ['because', 'json', 'data-dir', 'help'],
    examples: ['muster tasks stop 4f2k9x --because "it looks in the wrong place"'],
  },
  'tasks-resume': {
    words: 'tasks resume',
    summary: 'make a task go on, where it lives or else here; TEXT is for it',
    operands: ['ID', '[TEXT]'],
    flags: MESSAGE_FLAGS,
    examples: ['muster tasks resume 4f2k9x', 'muster tasks resume 4f2k9x "Now run the tests"'],
  },
  'tasks-send': {
    words: 'tasks send',
    summary: 'say something to a task at work; an ended one goes on with it',
    operands: ['ID', '[TEXT]'],
    flags: MESSAGE_FLAGS,
    examples: [
      'muster tasks send 4f2k9x "Leave the tests alone"',
      'git diff | muster tasks send 4f2k9x',
    ],
  },
  'tasks-answer': {
    words: 'tasks answer',
    summary: 'answer what a task asks; without ID list the open questions',
    operands: ['[ID]', '[ANSWER]'],
    flags: ['scope', 'reason', ...MESSAGE_FLAGS],
    examples: [
      'muster tasks answer',
      'muster tasks answer 4f2k9xq1 yes',
      'muster tasks answer 4f2k9xq1 always --scope project',
      'muster tasks answer 4f2k9xq1 no --reason "use the test database"',
      'muster tasks answer 4f2k9xq2 "the second one, but without tests"',
    ],
  },
  'tasks-background': {
    words: 'tasks background',
    summary: 'let the parent of a task at work go on without it',
    operands: ['ID'],
    flags: ['json', 'data-dir', 'help'],
    examples: ['muster tasks background 4f2k9x'],
  },
  'tasks-rerun': {
    words: 'tasks rerun',
    summary: 'run a task again from its log, asking nobody, and compare',
    operands: ['ID'],
    flags: ['json', 'data-dir', 'help'],
    examples: ['muster tasks rerun 4f2k9x'],
  },
  'tasks-branch': {
    words: 'tasks branch',
    summary: 'go another way from an event of a task on, in a new task',
    operands: ['ID'],
    flags: ['at', 'prompt', ...MESSAGE_FLAGS],
    flagHelp: { prompt: { value: 'TEXT', help: 'what is said next' } },
    examples: [
      'muster tasks branch 4f2k9x --at 17 --model powerful',
      'muster tasks branch 4f2k9x --at 17 --prompt "Try it without a lock"',
    ],
  },
  'tasks-rewind': {
    words: 'tasks rewind',
    summary: 'put files and conversation of a task back to one of its events',
    operands: ['ID'],
    flags: ['to', 'undo', 'yes', 'json', 'data-dir', 'help'],
    flagHelp: {
      to: { value: 'N', group: 'Tasks', help: 'the number of the event (`muster tasks log`)' },
      undo: { help: 'undo its last rewind, while it has not gone on' },
    },
    examples: ['muster tasks rewind 4f2k9x --to 17', 'muster tasks rewind 4f2k9x --undo --yes'],
  },
  'tasks-export': {
    words: 'tasks export',
    summary: 'a task and all below it as one file, or on stdout',
    operands: ['ID', '[FILE]'],
    flags: ['force', 'json', 'data-dir', 'help'],
    examples: [
      'muster tasks export 4f2k9x search.muster',
      'muster tasks export 4f2k9x | gzip > search.gz',
    ],
  },
  'tasks-import': {
    words: 'tasks import',
    summary: 'take in the tasks of an exported file, or (-) of stdin',
    operands: ['FILE'],
    flags: ['json', 'data-dir', 'help'],
    examples: ['muster tasks import search.muster', 'gunzip < search.gz | muster tasks import -'],
  },
  'tasks-delete': {
    words: 'tasks delete',
    summary: 'delete ended tasks with all below them, for good',
    operands: ['ID…'],
    flags: ['json', 'data-dir', 'help'],
    examples: ['muster tasks delete 4f2k9x 7hm01c'],
  },
  'tasks-prune': {
    words: 'tasks prune',
    summary: 'delete the conversations that ended long ago, for good',
    operands: [],
    flags: ['days', 'json', 'data-dir', 'help'],
    examples: ['muster tasks prune', 'muster tasks prune --days 7'],
  },
  'run-template': TEMPLATE_RUN,
  usage: {
    words: 'usage',
    summary: 'tokens and cost: of all tasks, or of one with all below it',
    operands: ['[TASK]'],
    flags: ['by', 'since', 'all', 'json', 'data-dir', 'help'],
    examples: ['muster usage', 'muster usage --by day --since 7d', 'muster usage 4f2k9x --by task'],
  },
  'trust-list': {
    words: 'trust list',
    summary: 'the files of this project that could act, and which of them you have trusted',
    operands: [],
    flags: ['json', 'cwd', 'data-dir', 'help'],
    examples: ['muster trust list', 'muster trust list --json'],
  },
  'trust-add': {
    words: 'trust add',
    summary: 'show what files of this project would do, and trust just this content of them',
    operands: ['[PATH…]'],
    flags: ['yes', 'json', 'cwd', 'data-dir', 'help'],
    examples: ['muster trust add', 'muster trust add .claude/agents --yes'],
  },
  'trust-revoke': {
    words: 'trust revoke',
    summary: 'trust files no more, or take an answer "always" back; --all: all of this project',
    operands: ['[NAME…]'],
    flags: ['all', 'json', 'cwd', 'data-dir', 'help'],
    examples: [
      'muster trust revoke .claude/settings.json',
      'muster trust revoke "Bash(npm test)"',
      'muster trust revoke --all',
    ],
  },
  models: {
    words: 'models',
    summary: 'the configured providers and the model of each tier',
    operands: [],
    flags: ['json', 'model', 'fallback-model', ...PROJECT_FLAGS, 'data-dir', 'help'],
    examples: ['muster models'],
  },
  'config-show': {
    words: 'config show',
    summary: 'every setting, its value and where that came from',
    operands: [],
    flags: ['json', ...CONFIG_FLAGS, ...PROJECT_FLAGS, 'data-dir', 'help'],
    examples: ['muster config show', 'muster config show --json --trust-project'],
  },
  sandbox: {
    words: 'sandbox',
    summary: 'run a command as those of an agent are run: in the sandbox',
    operands: ['COMMAND…'],
    flags: ['read-only', 'network', 'cwd', 'add-dir', 'data-dir', 'help'],
    examples: [
      'muster sandbox -- npm test',
      'muster sandbox --read-only -- git log --oneline -5',
      'muster sandbox --add-dir ../shared -- make all',
    ],
  },
  doctor: {
    words: 'doctor',
    summary: 'check that everything a run needs is there',
    operands: [],
    flags: ['json', 'model', 'fallback-model', ...PROJECT_FLAGS, 'data-dir', 'help'],
    examples: ['muster doctor'],
  },
  help: {
    words: 'help',
    summary: 'help for a command',
    operands: ['[COMMAND…]'],
    flags: ['help'],
    examples: ['muster help tasks show'],
  },
} as const satisfies Readonly<Record<string, CommandSpec>>;

export type CommandKind = keyof typeof COMMANDS;

export const COMMAND_KINDS: readonly CommandKind[] = Object.keys(COMMANDS).filter(
  (kind): kind is CommandKind => Object.hasOwn(COMMANDS, kind),
);

export function commandSpec(kind: CommandKind): CommandSpec {
  return COMMANDS[kind];
}

/** The command that these words begin with, and the words left over as its operands. */
export function findCommand(
  words: readonly string[],
): { readonly kind: CommandKind; readonly operands: readonly string[] } | undefined {
  for (const kind of COMMAND_KINDS) {
    const own = COMMANDS[kind].words.split(' ');
    if (own.every((word, index) => words[index] === word)) {
      return { kind, operands: words.slice(own.length) };
    }
  }
  return undefined;
}

/** The commands whose words begin with these. */
export function commandsUnder(words: readonly string[]): readonly CommandKind[] {
  return COMMAND_KINDS.filter((kind) => {
    const own = COMMANDS[kind].words.split(' ');
    return words.length < own.length && words.every((word, index) => own[index] === word);
  });
}
