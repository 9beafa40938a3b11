import type { Effort } from '../../../protocol/agent.ts';
import type { ModelFailure, ModelRequest } from '../../../protocol/model.ts';

/** The nearest of the three levels that nearly every server knows which knows any. */
const NEAREST_COMMON: Readonly<Record<Effort, Effort>> = {
  none: 'low',
  minimal: 'low',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'high',
  max: 'high',
};

/**
 * With which efforts a request is sent, one after the other, until the server takes it. The provider
 * packages choose the nearest level of the models that they know; what a server says of others it says
 * by refusing the request. An effort is a wish: without one that is taken the model's own holds.
 */
export class EffortFallbacks {
  /** What was taken in place of a level that was refused, by model and level; null: none is sent. */
  private readonly taken = new Map<string, Effort | null>();

  /** At least one; null: none is sent. */
  tries({ model, effort }: ModelRequest): readonly (Effort | null)[] {
    if (effort === undefined) return [null];
    const known = this.taken.get(keyOf(model.id, effort));
    if (known === null) return [null];
    const first = known ?? effort;
    return [...new Set([first, NEAREST_COMMON[first], null])];
  }

  /** The next request of this model is sent so at once. */
  learn({ model, effort }: ModelRequest, taken: Effort | null): void {
    if (effort !== undefined && effort !== taken) this.taken.set(keyOf(model.id, effort), taken);
  }
}

function keyOf(model: string, effort: Effort): string {
  return `${effort} ${model}`;
}

/** Whether a request was found wrong, so that an effort may be what was wrong with it. */
export function mayBeEffortRefusal({ kind, status }: ModelFailure): boolean {
  return kind === 'bad_request' && (status === 400 || status === 422);
}
