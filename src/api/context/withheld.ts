import { couldMeanRead, readNarrowingRules } from '../../policy/rule-match.ts';
import type { RuleSet } from '../../protocol/permission.ts';
import { isInside } from '../../base/path-inside.ts';

/** Whether a rule refuses, or asks about, reading a path: nobody is asked before a prompt is written. */
export function createReadFilter(
  rules: RuleSet,
  place: { readonly roots: readonly string[]; readonly home: string },
): (asked: string, real: string) => boolean {
  const narrowing = readNarrowingRules(rules);
  return (asked, real) => {
    const insideRoots = place.roots.some((root) => isInside(root, real));
    return couldMeanRead(narrowing, { asked, real, insideRoots }, place);
  };
}
