import type { JsonObject } from '../../../base/json.ts';
import {
  EFFORTS,
  type ModelFailure,
  type ModelRequest,
  type Effort,
} from '../../../protocol/model.ts';
import { findNearestEffort, type EffortRule } from '../../settings/provider-quirks.ts';

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

/** An effort as it is sent with a request. */
export interface SentEffort {
  readonly effort: Effort;
  /** The fields that request it. Null when the provider package writes them. */
  readonly fields: JsonObject | null;
}

/**
 * Decides which efforts a request is sent with, one after the other, until the server accepts one. For a provider
 * with rules, the first one is the nearest effort that its model accepts. Otherwise the provider package chooses the
 * nearest level for the models that it knows, and a server refuses requests with other levels. If no effort is
 * accepted, none is sent, and the model's default holds.
 */
export class EffortFallbacks {
  private readonly rules: readonly EffortRule[] | undefined;
  /** The effort that was accepted in place of a refused one, by model and level; null: none is sent. */
  private readonly accepted = new Map<string, SentEffort | null>();

  /** `rules`: the efforts that the models of the provider accept. Default: they are not known. */
  constructor(rules?: readonly EffortRule[]) {
    this.rules = rules;
  }

  /** Returns the efforts to try in order; null: none is sent. */
  listAttempts({ model, effort }: ModelRequest): readonly (SentEffort | null)[] {
    if (effort === undefined) return [null];
    const known = this.accepted.get(createCacheKey(model.id, effort));
    if (known === null) return [null];
    if (this.rules !== undefined) return listByRule(effort, model.id, this.rules);
    const first = known?.effort ?? effort;
    const efforts = [...new Set([first, NEAREST_COMMON_LEVEL[first]])];
    return [...efforts.map((each) => ({ effort: each, fields: null })), null];
  }

  /** Returns the efforts of a model that were refused, each with the accepted one; null: none is sent. */
  replacements(model: string): ReadonlyMap<Effort, Effort | null> {
    const found = EFFORTS.flatMap((effort) => {
      const accepted = this.accepted.get(createCacheKey(model, effort));
      return accepted === undefined ? [] : [[effort, accepted?.effort ?? null] as const];
    });
    return new Map(found);
  }

  /** Records the accepted effort, with which the next request of this model is sent at once. */
  learn({ model, effort }: ModelRequest, accepted: SentEffort | null): void {
    if (effort !== undefined && effort !== accepted?.effort)
      this.accepted.set(createCacheKey(model.id, effort), accepted);
  }
}

function listByRule(
  wanted: Effort,
  model: string,
  rules: readonly EffortRule[],
): readonly (SentEffort | null)[] {
  const rule = rules.find(({ models }) => models === undefined || models.test(model));
  const effort = rule === undefined ? null : findNearestEffort(wanted, rule);
  const fields = effort === null ? undefined : rule?.fields[effort];
  return effort === null || fields === undefined ? [null] : [{ effort, fields }, null];
}

function createCacheKey(model: string, effort: Effort): string {
  return `${effort} ${model}`;
}

/** Returns true if the failure of a request may be a refusal of its effort. */
export function isPossibleEffortRefusal({ kind, status }: ModelFailure): boolean {
  return kind === 'bad_request' && (status === 400 || status === 422);
}
