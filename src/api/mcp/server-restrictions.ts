import { findDeniedPaths } from '../../policy/denied-paths.ts';
import type { RuleSet } from '../../protocol/permission.ts';
import type { Restriction } from '../../protocol/state/questions.ts';
import type { DeniedPaths } from '../../sys/sandbox/sandbox.ts';

/**
 * The rules for the sandbox of servers: those of the session, and the ask and deny rules that the user has set for
 * conversations of this process. A server is shared by all of them, so the rules of each hold for it.
 */
export class ServerRestrictions {
  private readonly base: RuleSet;
  private readonly places: { readonly roots: readonly string[]; readonly home: string };
  private readonly byConversation = new Map<string, readonly Restriction[]>();

  /** `places`: absolute, real paths. */
  constructor(base: RuleSet, places: { readonly roots: readonly string[]; readonly home: string }) {
    this.base = base;
    this.places = places;
  }

  get rules(): RuleSet {
    const added = [...this.byConversation.values()].flat();
    const select = (list: Restriction['list']) =>
      added.flatMap((each) => (each.list === list ? [each.rule] : []));
    const { allow, ask, deny } = this.base;
    return { allow, ask: [...ask, ...select('ask')], deny: [...deny, ...select('deny')] };
  }

  /**
   * Replaces the rules of a conversation. Returns whether a sandbox that was built before allows something that the rules
   * now deny.
   */
  set(conversation: string, restrictions: readonly Restriction[]): boolean {
    const before = this.findDenied();
    this.byConversation.set(conversation, restrictions);
    return !covers(before, this.findDenied());
  }

  private findDenied(): DeniedPaths {
    const { roots, home } = this.places;
    return findDeniedPaths({ rules: this.rules, roots }, { home });
  }
}

function covers(before: DeniedPaths, after: DeniedPaths): boolean {
  const includesAll = (old: readonly string[], paths: readonly string[]) =>
    paths.every((path) => old.includes(path));
  return includesAll(before.hidden, after.hidden) && includesAll(before.readOnly, after.readOnly);
}
