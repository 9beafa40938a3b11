import { CONFIG_FLAGS, PROJECT_FLAGS, type CommandSpec } from './command-spec.ts';

/** `muster run`. */
export const TEMPLATE_RUN = {
  words: 'run',
  summary: 'run a template over items, one task an item; or go on with such a run',
  operands: ['[TEMPLATE|ID]'],
  flags: [
    'items',
    'continue',
    'retry-failed',
    'list',
    'output-format',
    'json',
    'out',
    'force',
    'verbose',
    'no-log',
    'agent',
    'agents',
    ...CONFIG_FLAGS,
    'max-turns',
    ...PROJECT_FLAGS,
    'add-dir',
    'data-dir',
    'help',
  ],
  flagHelp: {
    continue: { help: 'go on with the run ID, or with the newest of this directory' },
    'output-format': { help: 'text (a table), json or csv' },
    force: { group: 'Run', help: 'replace FILE if it is there' },
    agent: { help: 'the agent that works on each item, instead of what the template says' },
    'max-turns': { help: 'turns for each item' },
  },
  examples: [
    'muster run --list',
    'muster run test-file --items "src/**/*.ts" --permission-mode acceptEdits',
    'git diff --name-only | muster run refactor-module --items - --out results.csv',
    'muster run --continue',
    'muster run --continue 4f2k9x --retry-failed',
  ],
} as const satisfies CommandSpec;
