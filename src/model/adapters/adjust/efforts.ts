import {
  EFFORTS,
  type ModelFailure,
  type ModelRequest,
  type Effort,
} from '../../../protocol/model.ts';

/** The nearest of the three levels (low, medium, high) that nearly every server with levels knows. */
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
 * Decides which efforts a request is sent with, one after the other, until the server accepts one. The provider
 * packages choose the nearest level for the models that they know; a server refuses requests with other levels.
 * If no effort is accepted, none is sent, and the model's default holds.
 */
export class EffortFallbacks {
  /** The effort that was accepted in place of a refused one, by model and level; null: none is sent. */
  private readonly accepted = new Map<string, Effort | null>();

  /** Returns the efforts to try in order, at least one; null: none is sent. */
  listAttempts({ model, effort }: ModelRequest): readonly (Effort | null)[] {
    if (effort === undefined) return [null];
    const known = this.accepted.get(keyOf(model.id, effort));
    if (known === null) return [null];
    const first = known ?? effort;
    return [...new Set([first, NEAREST_COMMON_LEVEL[first], null])];
  }

  /** Returns the efforts of a model that were refused, each with the accepted one; null: none is sent. */
  replacements(model: string): ReadonlyMap<Effort, Effort | null> {
    const found = EFFORTS.flatMap((effort) => {
      const accepted = this.accepted.get(keyOf(model, effort));
      return accepted === undefined ? [] : [[effort, accepted] as const];
    });
    return new Map(found);
  }

  /** Records the accepted effort, with which the next request of this model is sent at once. */
  learn({ model, effort }: ModelRequest, accepted: Effort | null): void {
    if (effort !== undefined && effort !== accepted)
      this.accepted.set(keyOf(model.id, effort), accepted);
  }
}

function keyOf(model: string, effort: Effort): string {
  return `${effort} ${model}`;
}

/** Returns true if a failure may be a refusal of the effort. */
export function mayBeEffortRefusal({ kind, status }: ModelFailure): boolean {
  return kind === 'bad_request' && (status === 400 || status === 422);
}
