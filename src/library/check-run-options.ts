import { UsageError } from '../base/errors.ts';
import { PERMISSION_MODES } from '../protocol/permission.ts';
import { checkFields } from './check-fields.ts';
import type { RunOptions } from './options.ts';

/** Checks the options of a method that starts or continues a run. Throws UsageError for an unknown or wrong option. */
export function checkRunOptions(options: object, method: 'run' | 'resume' | 'branch'): void {
  const shared = { signal: 'object', deltas: 'boolean' } as const;
  switch (method) {
    case 'run': {
      checkFields(options, method, {
        ...shared,
        agent: 'string',
        mode: 'string',
        budget: 'object',
        outputSchema: ['object', 'function'],
        accept: ['string', 'array', 'object'],
      });
      const { budget, mode } = options as RunOptions;
      if (budget !== undefined) checkBudget(budget);
      checkMode(mode, method);
      return;
    }
    case 'resume':
      checkFields(options, method, { ...shared, mode: 'string' });
      return;
    case 'branch':
      checkFields(options, method, { ...shared, at: 'number', prompt: 'string' });
  }
}

function checkBudget(budget: object): void {
  const kinds = { tokens: 'number', usd: 'number', seconds: 'number', turns: 'number' } as const;
  checkFields(budget, 'run: budget', kinds);
  for (const [name, value] of Object.entries(budget)) {
    if (typeof value === 'number' && value <= 0)
      throw new UsageError(`run: budget.${name} must be above 0; leave it out for no limit`);
  }
}

function checkMode(mode: string | undefined, where: string): void {
  if (mode === undefined || PERMISSION_MODES.some((each) => each === mode)) return;
  throw new UsageError(`${where}: mode must be one of ${PERMISSION_MODES.join(', ')}, not ${mode}`);
}
