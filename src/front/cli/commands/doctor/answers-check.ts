import type { RepairsByModel } from '../../../../report/repairs.ts';
import { terminalText } from '../../../../base/terminal-text.ts';
import { REPAIRS } from '../../../../protocol/repair.ts';
import { ok, type Check } from './check.ts';

/** Reports the repairs in the answers of each model. They need no action. */
export function answersChecks(repairs: RepairsByModel): readonly Check[] {
  return Array.from(repairs, ([model, counts]) => {
    const said = Array.from(counts, ([repair, count]) => `${REPAIRS[repair]} × ${count}`);
    return ok('answers', terminalText(`${model}: repaired: ${said.join('; ')}`, 'exact'));
  });
}
