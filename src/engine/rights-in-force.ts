import { intersectRights } from '../policy/attenuate.ts';
import type { Rights } from '../protocol/permission.ts';

/**
 * Cuts the rights of a task by those of the one above it as they are now, which may be fewer than when
 * it was made. Asked at every call, so it remembers its last answer: rights are values, never changed.
 */
export class RightsInForce {
  private own: Rights | null = null;
  private above: Rights | null = null;
  private cut: Rights | null = null;

  /** @param above null for a task that nobody stands above */
  of(own: Rights, above: Rights | null): Rights {
    if (above === null) return own;
    if (this.cut === null || own !== this.own || above !== this.above) {
      this.cut = intersectRights(own, above);
      this.own = own;
      this.above = above;
    }
    return this.cut;
  }
}
