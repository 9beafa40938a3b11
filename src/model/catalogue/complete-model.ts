import type { ListedModel } from '../../protocol/listed-model.ts';
import type { ModelPrice, TokenPrices } from '../../protocol/model.ts';
import { routeModel } from '../providers/cloud-route.ts';
import type { ConfiguredProvider } from '../providers/configured-provider.ts';
import type { ModelOverride } from '../settings/model-settings.ts';
import { findKnownAttachments } from './attachment-rules.ts';
import { loadModelDetails } from './catalogue.ts';

/**
 * Adds what is configured, and what the catalogue and the table of attachments know, to the facts that a provider lists
 * about a model. The configuration counts first, then the list. A fact that nobody states stays null.
 */
export async function completeModel(
  provider: ConfiguredProvider,
  model: ListedModel,
  override: ModelOverride = {},
): Promise<ListedModel> {
  const known = await loadModelDetails(routeModel(provider, model.id), model.id);
  const attachments = findKnownAttachments(model.id);
  const accepts = (kind: 'image' | 'pdf', listed: boolean | null): boolean | null =>
    override.attachments?.includes(kind) ?? listed ?? attachments?.includes(kind) ?? null;
  return {
    ...model,
    contextWindow: override.contextWindow ?? model.contextWindow ?? known.contextWindow,
    outputLimit: override.outputLimit ?? model.outputLimit,
    price: override.price ?? model.price ?? toTokenPrices(known.price),
    images: accepts('image', model.images),
    pdf: accepts('pdf', model.pdf),
  };
}

function toTokenPrices(price: ModelPrice | null): TokenPrices | null {
  if (price === null) return null;
  const { input, output, cacheRead, cacheWrite } = price;
  return { input, output, cacheRead, cacheWrite };
}
