import { rightsAlone, rightsBelow } from '../../policy/mode-grants.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import type { ModeGrant, PermissionMode, Rights } from '../../protocol/permission.ts';

/** Inputs of the rights of a task beside its own. */
interface RightsTerms {
  /** The rights of the parent; null for a task at the top. */
  readonly above: Rights | null;
  readonly definition: AgentDefinition;
  /** The grant of the user to its agent now. */
  readonly grant: ModeGrant | null;
  /** The mode that it would have without the grant that it was made by. */
  readonly withoutGrant: PermissionMode | null;
}

/**
 * Cuts the rights of a task by those of the one above it as they are now, which may be fewer than when
 * it was made. Asked at every call, so it remembers its last answer: rights are values, never changed.
 */
export class EffectiveRights {
  private own: Rights | null = null;
  private above: Rights | null = null;
  private grant: ModeGrant | null = null;
  private cut: Rights | null = null;

  of(own: Rights, { above, definition, grant, withoutGrant }: RightsTerms): Rights {
    if (above === null && withoutGrant === null) return own;
    const isSame = own === this.own && above === this.above && grant === this.grant;
    if (this.cut !== null && isSame) return this.cut;
    this.own = own;
    this.above = above;
    this.grant = grant;
    this.cut =
      above === null
        ? rightsAlone(own, withoutGrant, grant)
        : rightsBelow(own, above, { definition, grant });
    return this.cut;
  }
}
