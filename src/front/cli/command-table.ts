import { AGENTS_COMMANDS } from './agents-commands.ts';
import {
  CONFIG_FLAGS,
  CONVERSATION_FLAGS,
  PROJECT_FLAGS,
  type CommandSpec,
} from './command-spec.ts';
import { TASKS_COMMANDS } from './tasks-commands.ts';
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
  ...TASKS_COMMANDS,
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
    flags: ['json', 'model', 'fallback-model', 'sandbox', ...PROJECT_FLAGS, 'data-dir', 'help'],
    examples: ['muster doctor', 'muster doctor --sandbox container'],
  },
  completion: {
    words: 'completion',
    summary: 'the script that lets a shell complete: bash, zsh or fish; with words, the next one',
    operands: ['SHELL', '[WORD…]'],
    flags: ['help'],
    examples: [
      'eval "$(muster completion bash)"',
      'muster completion fish > ~/.config/fish/completions/muster.fish',
      'muster completion bash -- tasks s',
    ],
  },
  schema: {
    words: 'schema',
    summary: 'the JSON Schema of what Muster writes for programs, and of its configuration',
    operands: ['[NAME]'],
    flags: ['help'],
    examples: [
      'muster schema',
      'muster schema result',
      'muster schema config > muster.schema.json',
    ],
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
