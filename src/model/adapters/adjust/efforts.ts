import type { ModelFailure, ModelRequest, Effort } from '../../../protocol/model.ts';

/** For each effort, the nearest of the levels low, medium and high, which nearly every server with efforts accepts. */
const NEAREST_COMMON_LEVEL: Readonly<Record<Effort, Effort>> = {
  none: 'low',
  minimal: 'low',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'high',
  max: 'high',
};

/**
 * Decides with which efforts a request is sent, one after the other, until the server accepts the request. The provider
 * packages replace an effort by the nearest supported level only for models that they know. If the server refuses
 * every effort, the request is sent without an effort, and the default of the model applies.
 */
export class EffortFallbacks {
  /** The effort that the server accepted instead of a refused effort, by model and refused effort; null: no effort. */
  private readonly accepted = new Map<string, Effort | null>();

  /** Returns the efforts to try, in order; null stands for a request without an effort. */
  listAttempts({ model, effort }: ModelRequest): readonly (Effort | null)[] {
    if (effort === undefined) return [null];
    const known = this.accepted.get(createCacheKey(model.id, effort));
    if (known === null) return [null];
    const first = known ?? effort;
    return [...new Set([first, NEAREST_COMMON_LEVEL[first], null])];
  }

  /** Records the accepted effort, so that the next request with the same model and effort is sent with it at once. */
  learn({ model, effort }: ModelRequest, accepted: Effort | null): void {
    if (effort !== undefined && effort !== accepted)
      this.accepted.set(createCacheKey(model.id, effort), accepted);
  }
}

function createCacheKey(model: string, effort: Effort): string {
  return `${effort} ${model}`;
}

/** Returns true if the failure of a request may be a refusal of its effort. */
export function isPossibleEffortRefusal({ kind, status }: ModelFailure): boolean {
  return kind === 'bad_request' && (status === 400 || status === 422);
}
