import { UsageError } from '../base/errors.ts';
import { PERMISSION_MODES } from '../protocol/permission.ts';
import { checkFields, checkPosition } from './check-fields.ts';
import type { RunBudget, RunOptions } from './options.ts';

/** Checks the options of a method that starts or continues a run. Throws UsageError for an unknown or wrong option. */
export function checkRunOptions(options: object, method: 'run' | 'resume' | 'branch'): void {
  const shared = { signal: 'object', deltas: 'boolean', budget: 'object' } as const;
  switch (method) {
    case 'run': {
      checkFields(options, method, {
        ...shared,
        agent: 'string',
        mode: 'string',
        outputSchema: ['object', 'function'],
        accept: ['string', 'array', 'object'],
        worktree: ['boolean', 'string'],
      });
      checkMode((options as RunOptions).mode, method);
      break;
    }
    case 'resume':
      checkFields(options, method, { ...shared, mode: 'string' });
      break;
    case 'branch':
      checkFields(options, method, { ...shared, at: 'finite number', prompt: 'string' });
      checkPosition('at' in options ? options.at : undefined, 'branch: at');
  }
  const { budget } = options as Pick<RunOptions, 'budget'>;
  if (budget !== undefined) checkBudget(budget, method);
  const { signal } = options as { readonly signal?: Partial<AbortSignal> };
  if (signal !== undefined && typeof signal.addEventListener !== 'function')
    throw new UsageError(`${method}: signal must be an AbortSignal`);
}

/** Checks the prompt of a run. Throws UsageError for a value that is neither a text nor messages. */
export function checkPrompt(prompt: unknown): void {
  const isIterable =
    typeof prompt === 'object' && prompt !== null && Symbol.asyncIterator in prompt;
  if (typeof prompt !== 'string' && !isIterable)
    throw new UsageError('run: the prompt must be a text or an async iterable of texts');
}

/** Checks the limits of a run. Throws UsageError for an unknown limit, and for one that is not above 0. */
export function checkBudget(budget: object, where: string): void {
  const kinds = {
    tokens: 'finite number',
    usd: 'finite number',
    seconds: 'finite number',
    turns: 'finite number',
  } as const;
  checkFields(budget, `${where}: budget`, kinds);
  for (const [name, value] of Object.entries(budget)) {
    if (typeof value === 'number' && value <= 0)
      throw new UsageError(`${where}: budget.${name} must be above 0; leave it out for no limit`);
  }
  const { turns } = budget as RunBudget;
  if (turns !== undefined && !Number.isInteger(turns))
    throw new UsageError(`${where}: budget.turns must be a whole number, not ${turns}`);
}

function checkMode(mode: string | undefined, where: string): void {
  if (mode === undefined || PERMISSION_MODES.some((each) => each === mode)) return;
  throw new UsageError(`${where}: mode must be one of ${PERMISSION_MODES.join(', ')}, not ${mode}`);
}
