import { MusterError, UsageError } from '../../base/errors.ts';
import {
  modelName,
  TIER_ALIASES,
  TIERS,
  type ResolvedModel,
  type Tier,
} from '../../protocol/model.ts';
import { chooseTierOrModel, OFFLINE, type ModelSetup } from './choose-model.ts';
import { splitModelNames, toResolvedModel } from './resolve-model.ts';

/** A model that continues a task when another model fails. */
export interface FallbackModel {
  /** The tier whose models the fallback replaces; null: it replaces any model. */
  readonly tier: Tier | null;
  readonly model: ResolvedModel;
}

/** The names that can't be fallbacks, because they stand for a model that is chosen elsewhere or need no server. */
const RELATIVE_NAMES: ReadonlySet<string> = new Set(['inherit', 'auto', OFFLINE]);

/** Resolves the fallback models of the settings, in the same order. Throws UsageError for a fallback that can't be used. */
export function resolveFallbacks(setup: ModelSetup): readonly FallbackModel[] {
  return (setup.settings.fallbacks ?? []).flatMap(({ setting, tier, models }) =>
    models.map((requested) => ({ tier, model: resolveFallback(requested, setting, setup) })),
  );
}

function resolveFallback(name: string, setting: string, setup: ModelSetup): ResolvedModel {
  if (RELATIVE_NAMES.has(name.trim().toLowerCase())) throw createFallbackError(name, setting);
  const choice = chooseTierOrModel(name, setup, TIERS);
  if (choice instanceof MusterError) throw new UsageError(`${setting}: ${choice.message}`);
  if (choice.provider === OFFLINE) throw createFallbackError(name, setting);
  return toResolvedModel(choice, `${setting}: ${name}`);
}

function createFallbackError(name: string, setting: string): UsageError {
  return new UsageError(`${setting}: "${name}" can't be a fallback: name a model or a tier`);
}

/**
 * Selects the models that are tried in turn when a model fails: first the fallbacks for its tier, then the general ones.
 * Each model is selected once, and the failed model is never selected.
 */
export function selectFallbacks(
  { provider, id, tier }: ResolvedModel,
  fallbacks: readonly FallbackModel[],
): readonly ResolvedModel[] {
  const forTier = tier === undefined ? [] : fallbacks.filter((fallback) => fallback.tier === tier);
  const general = fallbacks.filter((fallback) => fallback.tier === null);
  const byName = new Map<string, ResolvedModel>();
  for (const { model } of [...forTier, ...general]) {
    if (!byName.has(modelName(model))) byName.set(modelName(model), model);
  }
  byName.delete(modelName({ provider, id }));
  return [...byName.values()];
}

/** Returns true if a definition names a particular model, and not only a tier, `inherit`, `auto` or `offline`. */
export function hasNamedModel(definition: readonly string[]): boolean {
  return definition.flatMap(splitModelNames).some((entry) => {
    const name = entry.trim().toLowerCase();
    return !RELATIVE_NAMES.has(name) && !Object.hasOwn(TIER_ALIASES, name);
  });
}
