import { MODEL_VALUES } from './completion-values.ts';

/** The flags of the runs of templates. */
export const TEMPLATE_FLAGS = {
  items: {
    value: 'ITEMS',
    path: 'files',
    help: 'the items: a file (one item a line, a JSON list, or JSON lines), a glob of the workspace, or - for stdin',
  },
  attempts: {
    value: 'N',
    help: 'work on each item N times, each time in its own worktree or copy; the best result can be landed',
  },
  models: {
    value: 'MODELS',
    help: 'the models of the attempts, in turn; several with commas, or repeated',
    completes: MODEL_VALUES,
  },
  score: {
    value: 'COMMAND',
    help: 'run COMMAND on a copy of what each task left: the last number that it prints is the score, and without a number its success',
  },
  apply: { help: 'land the best result without asking' },
  'retry-failed': { help: 'with --continue: run the items again that failed or reached a limit' },
  out: { value: 'FILE', path: 'files', help: 'write the results to FILE instead of stdout' },
  list: { help: 'list the templates and where each comes from' },
} as const;
