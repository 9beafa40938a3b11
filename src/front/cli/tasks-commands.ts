import { CONFIG_FLAGS, PROJECT_FLAGS, type CommandSpec } from './command-spec.ts';
import type { FlagName } from './flags.ts';

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

/** `muster tasks …`, by kind. */
export const TASKS_COMMANDS = {
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
} as const satisfies Readonly<Record<string, CommandSpec>>;
