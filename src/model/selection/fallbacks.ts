import { MusterError, UsageError } from '../../base/errors.ts';
import {
  modelName,
  TIER_ALIASES,
  TIERS,
  type ResolvedModel,
  type Tier,
} from '../../protocol/model.ts';
import { chooseTierOrModel, OFFLINE, type ModelSetup } from './choose-model.ts';
import { splitModelNames } from './display-name.ts';
import { toResolvedModel } from './resolve-model.ts';

/** A model that goes on where another one fails. */
export interface FallbackModel {
  /** Whose models it stands in for; null: any. */
  readonly tier: Tier | null;
  readonly model: ResolvedModel;
}

/** Words for a model that is some other wish's: none of them says what to use instead of that. */
const NO_MODELS: ReadonlySet<string> = new Set(['inherit', 'auto', OFFLINE]);

/** All that the settings name, in their order. Throws UsageError for one that can't be used. */
export function resolveFallbacks(setup: ModelSetup): readonly FallbackModel[] {
  return (setup.settings.fallbacks ?? []).flatMap(({ where, tier, models }) =>
    models.map((wish) => ({ tier, model: resolveFallback(wish, where, setup) })),
  );
}

function resolveFallback(wish: string, where: string, setup: ModelSetup): ResolvedModel {
  if (NO_MODELS.has(wish.trim().toLowerCase())) throw noStandIn(wish, where);
  const choice = chooseTierOrModel(wish, setup, TIERS);
  if (choice instanceof MusterError) throw new UsageError(`${where}: ${choice.message}`);
  if (choice.provider === OFFLINE) throw noStandIn(wish, where);
  return toResolvedModel(choice, `${where}: ${wish}`);
}

function noStandIn(wish: string, where: string): UsageError {
  return new UsageError(`${where}: "${wish}" can't stand in for a model: name one, or a tier`);
}

/** What is tried in turn where a model fails: that of its tier first, each model once, itself never. */
export function selectFallbacks(
  { provider, id, tier }: ResolvedModel,
  fallbacks: readonly FallbackModel[],
): readonly ResolvedModel[] {
  const ofTier = tier === undefined ? [] : fallbacks.filter((each) => each.tier === tier);
  const general = fallbacks.filter((each) => each.tier === null);
  const byName = new Map<string, ResolvedModel>();
  for (const { model } of [...ofTier, ...general]) {
    if (!byName.has(modelName(model))) byName.set(modelName(model), model);
  }
  byName.delete(modelName({ provider, id }));
  return [...byName.values()];
}

/** Whether a definition names a model outright, and not a tier or its parent's. */
export function hasNamedModel(definition: readonly string[]): boolean {
  return definition.flatMap(splitModelNames).some((wish) => {
    const word = wish.trim().toLowerCase();
    return !NO_MODELS.has(word) && !Object.hasOwn(TIER_ALIASES, word);
  });
}
