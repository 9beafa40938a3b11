import { modelName, type ModelDetails, type ModelRequest } from '../../protocol/model.ts';
import type { EngineDeps } from '../task/deps.ts';
import { estimatePrompt } from '../limits/estimate.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { LeadingRequest } from '../limits/prompt-cache-warm-up.ts';

/** Tokens, where nobody knows of a model: no provider caches a shorter prefix. */
const CACHE_MINIMUM = 1_024;

/**
 * Holds a child's request while the first one with its prefix is on its way, where reading the cache is
 * known to cost less than sending the prefix again. The request leads where one is returned.
 */
export async function waitForPromptCache(
  { models, settings }: Pick<EngineDeps, 'models' | 'settings'>,
  run: TaskRun,
  { model, prefix }: ModelRequest,
): Promise<LeadingRequest | null> {
  if (run.parent === null || settings.cacheHoldMs === 0) return null;
  // The conversation that it inherits, or asks a summary of, was sent a moment ago.
  if (run.spec.inherited !== undefined || prefix !== run.prefix) return null;
  const facts = await models.details(model);
  if (!isCheaperCached(facts)) return null;
  if (estimatePrompt(prefix, []) < (facts.cacheMinimum ?? CACHE_MINIMUM)) return null;
  return run.tree.promptCache.enter(
    `${modelName(model)} ${run.spec.prefix}`,
    run.cancellation.turnSignal,
  );
}

function isCheaperCached({ price }: ModelDetails): boolean {
  return price !== null && price.cacheRead < price.input;
}
