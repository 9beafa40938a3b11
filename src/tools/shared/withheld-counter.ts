import { plural } from '../../base/text.ts';
import type { PathExclusion } from '../../protocol/tool.ts';

/** The most rules that notes name. The files that all other rules withhold are counted together. */
const MAX_RULES_NAMED = 5;

/** Counts the paths that permission rules withhold from a call, by rule, for the notes in its result. */
export class WithheldCounter {
  readonly #withheld: PathExclusion | null;
  readonly #counts = new Map<string, number>();

  constructor(withheld: PathExclusion | null) {
    this.#withheld = withheld;
  }

  /** Whether there is any rule that could withhold something. */
  get hasRules(): boolean {
    return this.#withheld !== null;
  }

  /** Counts a path if a rule withholds it. Returns whether one does. */
  countWithheld(path: string): boolean {
    const rule = this.#withheld?.(path);
    if (rule === undefined) return false;
    this.#counts.set(rule, (this.#counts.get(rule) ?? 0) + 1);
    return true;
  }

  /** Returns one note for each rule: `[3 files left out: deny rule …]`. Takes the noun for one path and for several. */
  notes([one, several]: readonly [string, string]): readonly string[] {
    const all = [...this.#counts];
    const named = all.slice(0, MAX_RULES_NAMED).map(([rule, count]) => [rule, count] as const);
    const rest = all.slice(MAX_RULES_NAMED).reduce((sum, [, count]) => sum + count, 0);
    const lines = rest === 0 ? named : [...named, ['other rules', rest] as const];
    return lines.map(([rule, count]) => `[${plural(count, one, several)} left out: ${rule}]`);
  }
}
