import { dropMissing } from '../../base/drop-missing.ts';
import { findMissingFields, itemDigest, parseBody } from '../../agents/templates/render.ts';
import type { DiscoveryResult } from '../../agents/loader/discovery-result.ts';
import { sortByNearness } from '../../base/name-suggestions.ts';
import { UsageError } from '../../base/errors.ts';
import {
  countItemTasks,
  MAX_ATTEMPTS,
  type FanOut,
  type ItemSource,
  type TemplateDefinition,
  type TemplateItem,
} from '../../protocol/template.ts';
import { plural } from '../../base/text.ts';
import { MAX_ITEMS } from './parse-items.ts';
import { summarizeUntrusted } from '../../trust/untrusted-notice.ts';

/** A template to run over items. */
export interface TemplateRequest {
  /** The name of the template. Upper and lower case are not distinguished. */
  readonly template: string;
  /** At least one item. */
  readonly items: readonly TemplateItem[];
  readonly source: ItemSource;
  /** The agent to use instead of the agent of the template. */
  readonly agent?: string;
  /** The turn limit to use instead of the limit of the template. */
  readonly maxTurns?: number;
  /** The number of attempts for each item, instead of that of the template. */
  readonly attempts?: number;
  /** The models of the attempts, in turn, instead of those of the template. */
  readonly models?: readonly string[];
  /** The command line that scores the work, instead of that of the template. */
  readonly score?: string;
}

/**
 * Plans the run of a template. Throws UsageError for an unknown template, for an item without a field that the template
 * uses, or for too many attempts.
 */
export function planFanOut(
  found: DiscoveryResult<TemplateDefinition>,
  { template: name, items, source, ...overrides }: TemplateRequest,
): FanOut {
  const template = findTemplate(name, found);
  const { parts } = parseBody(template.body);
  for (const [index, item] of items.entries()) {
    const missing = findMissingFields(parts, item);
    if (missing.length === 0) continue;
    throw new UsageError(
      `item ${index + 1} has no field ${missing.join(', ')}, which the template ${template.name} uses`,
    );
  }
  const { agent, model, maxTurns, accept, ...chosen } = { ...template, ...overrides };
  return {
    template: template.name,
    path: template.path,
    body: template.body,
    ...dropMissing({ agent, model, maxTurns, accept }),
    ...planAttempts(items, chosen),
    items,
    source,
    digests: items.map(itemDigest),
  };
}

/** Decides the attempts of each item. Work of which only the best lands, or that is scored, is isolated. */
function planAttempts(
  items: readonly TemplateItem[],
  { attempts, models, score, isolation }: Partial<FanOut>,
): Pick<FanOut, 'attempts' | 'models' | 'score' | 'isolation'> {
  const count = attempts ?? models?.length ?? 1;
  if (count > MAX_ATTEMPTS) {
    throw new UsageError(`${count} attempts; the limit for an item is ${MAX_ATTEMPTS}`);
  }
  if (models !== undefined && models.length > count) {
    throw new UsageError(
      `${plural(models.length, 'model')} cannot share ${plural(count, 'attempt')}; give at least as many attempts as models`,
    );
  }
  const tasks = countItemTasks({ items, attempts: count });
  if (tasks > MAX_ITEMS) {
    throw new UsageError(
      `${plural(items.length, 'item')} with ${plural(count, 'attempt')} each; the limit of one run is ${MAX_ITEMS} tasks`,
    );
  }
  return {
    ...dropMissing({ models, score }),
    ...(count === 1 ? {} : { attempts: count }),
    ...(count > 1 || score !== undefined ? { isolation: 'worktree' } : dropMissing({ isolation })),
  };
}

function findTemplate(
  name: string,
  found: DiscoveryResult<TemplateDefinition>,
): TemplateDefinition {
  const wanted = name.toLowerCase();
  const template = found.items.find((each) => each.name.toLowerCase() === wanted);
  if (template !== undefined) return template;
  const names = sortByNearness(
    name,
    found.items.map((each) => each.name),
  );
  const lines = [
    `there is no template ${name}; nearest first: ${names.join(', ')}`,
    ...found.problems.map(({ path, message }) => `${path}: ${message}`),
    summarizeUntrusted({ files: [], skipped: found.skipped }),
  ];
  throw new UsageError(lines.filter((line) => line !== null).join('\n'));
}

/**
 * Compares items by position with the original items of a run. Returns null if they are the same.
 */
export function compareItems(
  { digests }: Pick<FanOut, 'digests'>,
  now: readonly TemplateItem[],
): { readonly changed: number; readonly before: number; readonly now: number } | null {
  const current = now.map(itemDigest);
  const changed = current.filter(
    (digest, index) => index < digests.length && digest !== digests[index],
  );
  if (changed.length === 0 && current.length === digests.length) return null;
  return { changed: changed.length, before: digests.length, now: current.length };
}
