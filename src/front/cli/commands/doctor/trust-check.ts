import { untrustedSummary, type Unused } from '../../../../trust/notice.ts';
import { warn, type Check } from './check.ts';

/** What lies in the project and is not used, because nobody has trusted it. */
export function trustChecks(unused: Unused): readonly Check[] {
  const summary = untrustedSummary(unused);
  if (summary === null) return [];
  return [warn('trust', summary, 'look with "muster trust list", then "muster trust add"')];
}
