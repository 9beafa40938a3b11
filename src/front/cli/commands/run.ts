import { UsageError } from '../../../base/errors.ts';
import { defineCommand, type CommandArguments } from '../command.ts';
import type { FlagReader } from '../flag-reader.ts';
import type { FlagName } from '../flags.ts';
import {
  SESSION_FLAGS,
  sessionOptions,
  TEMPLATE_FORMATS,
  type TemplateAction,
  type TemplateRunOptions,
} from '../run-options.ts';

/** `muster run`. The exit code is that of the run, as for `muster -p`. */
export const runCommand = defineCommand<TemplateRunOptions>({
  words: 'run',
  summary: 'run a template over items, one task an item; or continue such a run',
  operands: [
    {
      name: '[TEMPLATE|ID]',
      completes: { found: 'templates' },
      completesWith: { continue: { found: 'runs of templates' } },
    },
    { name: '[ITEM…]' },
  ],
  flags: [
    'items',
    'attempts',
    'models',
    'score',
    'apply',
    'continue',
    'retry-failed',
    'list',
    'output-format',
    'json',
    'out',
    'force',
    'no-log',
    'agent',
    ...SESSION_FLAGS,
  ],
  flagDetails: {
    continue: { help: 'continue the run ID, or the newest of this directory' },
    'output-format': {
      help: 'text (a table), json or csv',
      completes: { words: TEMPLATE_FORMATS },
    },
    force: { group: 'Run', help: 'replace FILE if it exists' },
    agent: { help: 'the agent that works on each item, instead of the one of the template' },
    'max-turns': { help: 'turns for each item' },
  },
  examples: [
    'muster run --list',
    'muster run test-file --items "src/**/*.ts" --permission-mode acceptEdits',
    'git diff --name-only | muster run refactor-module --items - --out results.csv',
    'muster run best-of-n "Make the parser faster" --attempts 4 --models fast,powerful --score "npm run -s bench"',
    'muster run --continue',
    'muster run --continue 4f2k9x --retry-failed',
  ],
  parse: (args) => ({
    action: parseAction(args),
    ...parseOutput(args.flags),
    force: args.flags.has('force'),
    apply: args.flags.has('apply'),
    ...sessionOptions(args.flags),
  }),
  run: async (options, context) => {
    const { listTemplates, runTemplate } = await import('./templates/run-template.ts');
    const { action } = options;
    return action.kind === 'list'
      ? listTemplates(options, context)
      : runTemplate(options, action, context);
  },
});

function parseAction({ operands, flags }: CommandArguments): TemplateAction {
  const [operand = null, ...named] = operands;
  if (flags.has('list')) {
    refuse(flags, ['continue', 'retry-failed', 'apply', 'out', ...NEW_RUN_FLAGS], '--list');
    if (operand !== null) throw new UsageError('--list lists all templates; leave out the name');
    return { kind: 'list' };
  }
  if (flags.has('continue')) {
    refuse(flags, [...NEW_RUN_FLAGS, 'model', 'no-log'], 'a run that continues as it was started');
    if (named.length > 0) throw new UsageError('a run that continues has its items already');
    return { kind: 'continue', id: operand, retryFailed: flags.has('retry-failed') };
  }
  refuse(flags, ['retry-failed'], 'a new run; it goes with --continue');
  const source = flags.text('items');
  if (source !== null && named.length > 0) {
    throw new UsageError('--items does not go with items on the command line');
  }
  const items = source ?? named;
  if (operand === null || items.length === 0) {
    const missing = operand === null ? 'TEMPLATE (muster run --list names them)' : 'an item';
    throw new UsageError(
      `muster run needs ${missing}: muster run TEMPLATE ITEM…, muster run TEMPLATE --items FILE|GLOB|-, or muster run --continue`,
    );
  }
  if (flags.has('models')) refuse(flags, ['model'], '--models');
  return {
    kind: 'start',
    template: operand,
    items,
    agent: flags.text('agent'),
    maxTurns: flags.count('max-turns'),
    attempts: flags.count('attempts'),
    models: readModels(flags),
    score: flags.text('score'),
  };
}

/** The flags that decide what a new run does. */
const NEW_RUN_FLAGS = ['items', 'attempts', 'models', 'score', 'agent', 'max-turns'] as const;

function readModels(flags: FlagReader): readonly string[] | null {
  if (!flags.has('models')) return null;
  const names = flags
    .texts('models')
    .flatMap((text) => text.split(','))
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (names.length === 0) throw new UsageError('--models names no model');
  return names;
}

function refuse(flags: FlagReader, names: readonly FlagName[], reason: string): void {
  const [wrong] = flags.findGivenFlags(names);
  if (wrong !== undefined) throw new UsageError(`${wrong} does not go with ${reason}`);
}

/** Reads the format and the file of the results. Without a format, the extension of the file decides. */
function parseOutput(flags: FlagReader) {
  const out = flags.text('out');
  const extension = /\.(json|csv)$/i.exec(out ?? '')?.[1]?.toLowerCase();
  const usual = flags.has('json') ? 'json' : extension;
  const initial = TEMPLATE_FORMATS.find((format) => format === usual) ?? 'text';
  return { out, format: flags.choice('output-format', TEMPLATE_FORMATS, initial) };
}
