import { dropMissing } from '../../base/drop-missing.ts';
import { findMissingFields, itemDigest, parseBody } from '../../agents/templates/render.ts';
import type { DiscoveryResult } from '../../agents/loader/discovery-result.ts';
import { sortByNearness } from '../../base/name-suggestions.ts';
import { UsageError } from '../../base/errors.ts';
import type {
  FanOut,
  ItemSource,
  TemplateDefinition,
  TemplateItem,
} from '../../protocol/template.ts';
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
}

/**
 * Plans the run of a template. Throws UsageError for an unknown template, or for an item without a field that the
 * template uses.
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
  const { agent, model, maxTurns, accept, isolation } = { ...template, ...overrides };
  return {
    template: template.name,
    path: template.path,
    body: template.body,
    ...dropMissing({ agent, model, maxTurns, accept, isolation }),
    items,
    source,
    digests: items.map(itemDigest),
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
