import { PROJECT_FLAGS, type CommandSpec, type FlagWords } from './command-spec.ts';

/** What these commands keep nothing in. */
const DATA_DIR: FlagWords = { help: 'where it is kept which files are trusted' };
/** What they write is an agent's file. */
const FORCE: FlagWords = { group: 'Places', help: 'replace files that are there' };

/** `muster agents …`, by kind. */
export const AGENTS_COMMANDS = {
  'agents-list': {
    words: 'agents list',
    summary: 'which agents there are, where each comes from and what it may do',
    operands: [],
    flags: ['verbose', 'json', 'dir', ...PROJECT_FLAGS, 'data-dir', 'help'],
    flagHelp: {
      verbose: {
        group: 'General',
        help: 'all that is known of each, and those whose name another one has',
      },
      'data-dir': DATA_DIR,
    },
    examples: ['muster agents list', 'muster agents list --json --dir ~/.claude'],
  },
  'agents-show': {
    words: 'agents show',
    summary: 'one agent with all that its file says, its prompt too',
    operands: ['NAME'],
    flags: ['json', ...PROJECT_FLAGS, 'data-dir', 'help'],
    flagHelp: { 'data-dir': DATA_DIR },
    examples: ['muster agents show Explore'],
  },
  'agents-check': {
    words: 'agents check',
    summary: 'what is wrong, or worth knowing, with agents and their files',
    operands: ['[NAME|FILE…]'],
    flags: ['strict', 'json', 'dir', ...PROJECT_FLAGS, 'data-dir', 'help'],
    flagHelp: { 'data-dir': DATA_DIR },
    examples: [
      'muster agents check',
      'muster agents check reviewer .claude/agents/tester.md --strict',
      'muster agents check --dir ../collection --json',
    ],
  },
  'agents-explain': {
    words: 'agents explain',
    summary: 'what an agent becomes when it is delegated to, and why',
    operands: ['NAME'],
    flags: [
      'json',
      'model',
      'fallback-model',
      'parent-mode',
      'agent-mode',
      'allow',
      'ask',
      'deny',
      ...PROJECT_FLAGS,
      'add-dir',
      'data-dir',
      'help',
    ],
    flagHelp: {
      model: { help: "the main agent's: provider/model, a model id, a tier, auto or offline" },
      'data-dir': DATA_DIR,
    },
    examples: ['muster agents explain Review', 'muster agents explain Bash --parent-mode plan'],
  },
  'agents-new': {
    words: 'agents new',
    summary: 'write a new agent; a terminal is asked for what no flag says',
    operands: ['[NAME]'],
    flags: [
      'description',
      'tools',
      'model',
      'mode',
      'prompt',
      'prompt-file',
      'from',
      'to',
      'force',
      'json',
      ...PROJECT_FLAGS,
      'data-dir',
      'help',
    ],
    flagHelp: {
      model: {
        help: 'what its file asks for: a tier (fast, balanced, powerful), provider/model, a model id, auto, or inherit (the default)',
      },
      from: {
        value: 'NAME',
        group: 'Agents and models',
        help: 'the agent, or example (deepresearch, code), that it is made from; other flags go before it',
      },
      force: FORCE,
      'data-dir': DATA_DIR,
    },
    examples: [
      'muster agents new',
      'muster agents new migrations --description "Reviews database migrations. Use after a change to the schema." --tools "Read, Grep, Glob" --prompt-file prompt.md',
      'muster agents new my-explore --from Explore --model balanced --to user',
      'muster agents new research --from deepresearch',
    ],
  },
  'agents-import': {
    words: 'agents import',
    summary: "write agents of another product's files in Muster's own format",
    operands: ['[FILE|NAME…]'],
    flags: ['to', 'name', 'force', 'json', 'dir', ...PROJECT_FLAGS, 'data-dir', 'help'],
    flagHelp: { force: FORCE, 'data-dir': DATA_DIR },
    examples: [
      'muster agents import .github/agents/planner.agent.md',
      'muster agents import --dir ~/.claude/agents --to user',
    ],
  },
} as const satisfies Readonly<Record<string, CommandSpec>>;
