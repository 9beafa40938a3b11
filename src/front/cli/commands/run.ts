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
  ],
  flags: [
    'items',
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
    'muster run --continue',
    'muster run --continue 4f2k9x --retry-failed',
  ],
  parse: (args) => ({
    action: parseAction(args),
    ...parseOutput(args.flags),
    force: args.flags.has('force'),
    ...sessionOptions(args.flags),
  }),
  run: async (options, context) => {
    const { listTemplates, runTemplate } = await import('./templates/run-template.ts');
    const { action } = options;
    return action.kind === 'list' ? listTemplates(options, context) : runTemplate(options, action);
  },
});

function parseAction({ operands, flags }: CommandArguments): TemplateAction {
  const [operand = null] = operands;
  if (flags.has('list')) {
    refuse(flags, ['items', 'continue', 'retry-failed', 'agent', 'max-turns', 'out'], '--list');
    if (operand !== null) throw new UsageError('--list lists all templates; leave out the name');
    return { kind: 'list' };
  }
  if (flags.has('continue')) {
    const unchanged = ['items', 'model', 'agent', 'max-turns', 'no-log'] as const;
    refuse(flags, unchanged, 'a run that continues as it was started');
    return { kind: 'continue', id: operand, retryFailed: flags.has('retry-failed') };
  }
  refuse(flags, ['retry-failed'], 'a new run; it goes with --continue');
  const items = flags.text('items');
  if (operand === null || items === null) {
    const missing = operand === null ? 'TEMPLATE (muster run --list names them)' : '--items';
    throw new UsageError(
      `muster run needs ${missing}: muster run TEMPLATE --items FILE|GLOB|-, or muster run --continue`,
    );
  }
  return {
    kind: 'start',
    template: operand,
    items,
    agent: flags.text('agent'),
    maxTurns: flags.count('max-turns'),
  };
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
