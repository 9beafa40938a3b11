import { hash } from 'node:crypto';

/**
 * LiteLLM and other gateways put the signature of a thought into the id of a call, and need it back unchanged:
 * https://docs.litellm.ai/docs/providers/gemini
 */
const CARRIES_SIGNATURE = '__thought__';

const DERIVED_LENGTH = 24;

/**
 * Chooses the ids with which the calls of one conversation are sent. An id that the receiver would refuse is
 * replaced by one that is derived from it, and that is the same in every request.
 */
export class WireCallIds {
  private readonly accepted: RegExp;
  private readonly used = new Set<string>();

  /** `accepted`: matches the ids that the receiver accepts. */
  constructor(accepted: RegExp) {
    this.accepted = accepted;
  }

  /** Returns the id for the next call. `isOwn`: true if the model of the request made the original id. */
  next(id: string, { isOwn }: { readonly isOwn: boolean }): string {
    const readable = id.replace(/[^a-zA-Z0-9_-]/g, '_');
    const wireId = [id, readable].find((each) => this.isFree(each, { isOwn })) ?? this.derived(id);
    this.used.add(wireId);
    return wireId;
  }

  private isFree(id: string, { isOwn }: { readonly isOwn: boolean }): boolean {
    if (this.used.has(id)) return false;
    return this.accepted.test(id) || (isOwn && id.includes(CARRIES_SIGNATURE));
  }

  private derived(id: string): string {
    let derived = deriveCallId(id);
    for (let n = 2; this.used.has(derived); n += 1) derived = deriveCallId(`${id} ${n}`);
    return derived;
  }
}

/** Derives an id of letters and digits, which every API accepts. */
export function deriveCallId(id: string, length: number = DERIVED_LENGTH): string {
  return hash('sha256', id, 'hex').slice(0, length);
}
