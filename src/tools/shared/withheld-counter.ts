import { plural } from '../../base/text.ts';
import type { Withheld } from '../../protocol/tool.ts';

/** At most so many rules are named; what the others keep back is counted together. */
const MOST_NAMED = 5;

/** Counts what rules keep back from a call, by rule, to be said in its result. */
export class KeptBack {
  readonly #withheld: Withheld | null;
  readonly #counts = new Map<string, number>();

  constructor(withheld: Withheld | null) {
    this.#withheld = withheld;
  }

  /** Whether any rule could keep something back. */
  get isNeeded(): boolean {
    return this.#withheld !== null;
  }

  /** Whether a path is kept back; counted when it is. */
  holds(path: string): boolean {
    const rule = this.#withheld?.(path);
    if (rule === undefined) return false;
    this.#counts.set(rule, (this.#counts.get(rule) ?? 0) + 1);
    return true;
  }

  /** One note a rule, in brackets: `[3 files left out: deny rule …]`. `what`: one of it, several. */
  notes([one, several]: readonly [string, string]): readonly string[] {
    const all = [...this.#counts];
    const named = all.slice(0, MOST_NAMED).map(([rule, count]) => [rule, count] as const);
    const rest = all.slice(MOST_NAMED).reduce((sum, [, count]) => sum + count, 0);
    const lines = rest === 0 ? named : [...named, ['other rules', rest] as const];
    return lines.map(([rule, count]) => `[${plural(count, one, several)} left out: ${rule}]`);
  }
}
