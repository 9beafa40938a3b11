import { UsageError } from '../../base/errors.ts';
import { commandSpec } from './command-table.ts';
import { TEMPLATE_FORMATS, type RunTemplateCommand, type TemplateFormat } from './command.ts';
import type { FlagReader } from './flag-reader.ts';
import type { FlagName } from './flags.ts';
import { agentsArgument, configFlags } from './run-settings.ts';

/** The arguments of `muster run`. Throws UsageError. */
export function parseRunTemplate(operand: string | null, flags: FlagReader): RunTemplateCommand {
  const out = flags.text('out');
  return {
    kind: 'run-template',
    action: actionOf(operand, flags),
    format: formatOf(out, flags),
    out,
    force: flags.given('force'),
    verbose: flags.given('verbose'),
    log: !flags.given('no-log'),
    agents: agentsArgument(flags.text('agents')),
    addDirs: flags.texts('add-dir'),
    dataDir: flags.text('data-dir'),
    ...configFlags(flags, commandSpec('run-template').flags),
  };
}

function actionOf(operand: string | null, flags: FlagReader): RunTemplateCommand['action'] {
  if (flags.given('list')) {
    refuse(flags, ['items', 'continue', 'retry-failed', 'agent', 'max-turns', 'out'], '--list');
    if (operand !== null) throw new UsageError('--list names all templates; leave out the other');
    return { kind: 'list' };
  }
  if (flags.given('continue')) {
    refuse(
      flags,
      ['items', 'model', 'agent', 'max-turns', 'no-log'],
      'a run that goes on as it began',
    );
    return { kind: 'continue', id: operand, retryFailed: flags.given('retry-failed') };
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

function refuse(flags: FlagReader, names: readonly FlagName[], what: string): void {
  const wrong = names.find((name) => flags.given(name));
  if (wrong !== undefined) throw new UsageError(`--${wrong} does not go with ${what}`);
}

/** Where none is named, the name of the file says it. */
function formatOf(out: string | null, flags: FlagReader): TemplateFormat {
  const named = flags.given('json') ? 'json' : /\.(json|csv)$/i.exec(out ?? '')?.[1]?.toLowerCase();
  const usual = TEMPLATE_FORMATS.find((format) => format === named) ?? 'text';
  return flags.choice('output-format', TEMPLATE_FORMATS, usual);
}
