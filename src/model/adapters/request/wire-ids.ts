import { hash } from 'node:crypto';

/**
 * The text in the id of a call that contains the signature of a thought. LiteLLM and other gateways create such ids, and
 * need them back unchanged:
 * https://docs.litellm.ai/docs/providers/gemini
 */
const SIGNATURE_MARKER = '__thought__';

const DERIVED_ID_LENGTH = 24;

/**
 * Chooses the ids with which the calls of one conversation are sent. An id that the server would refuse is replaced by
 * a derived id, which is the same in every request.
 */
export class WireCallIds {
  private readonly accepted: RegExp;
  private readonly used = new Set<string>();

  /** `accepted`: matches the ids that the server accepts. */
  constructor(accepted: RegExp) {
    this.accepted = accepted;
  }

  /** Returns the id for the next call. `isOwn`: true if the original id is from the model that receives the request. */
  choose(id: string, { isOwn }: { readonly isOwn: boolean }): string {
    const readable = id.replace(/[^a-zA-Z0-9_-]/g, '_');
    const wireId =
      [id, readable].find((candidate) => this.isUsable(candidate, { isOwn })) ??
      this.deriveUnusedId(id);
    this.used.add(wireId);
    return wireId;
  }

  private isUsable(id: string, { isOwn }: { readonly isOwn: boolean }): boolean {
    if (this.used.has(id)) return false;
    return this.accepted.test(id) || (isOwn && id.includes(SIGNATURE_MARKER));
  }

  private deriveUnusedId(id: string): string {
    let derived = deriveCallId(id);
    for (let n = 2; this.used.has(derived); n += 1) derived = deriveCallId(`${id} ${n}`);
    return derived;
  }
}

/** Derives an id of letters and digits, which every API accepts. */
export function deriveCallId(id: string, length: number = DERIVED_ID_LENGTH): string {
  return hash('sha256', id, 'hex').slice(0, length);
}
