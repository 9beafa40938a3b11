import type { Rates } from '../../protocol/model.ts';

/** What a model can be shown beside text. */
export const ATTACHMENT_KINDS = ['image', 'pdf'] as const;
export type AttachmentKind = (typeof ATTACHMENT_KINDS)[number];

/** What the configuration says of a model; goes before the table of limits and the catalogue. */
export interface ModelOverride {
  readonly contextWindow?: number;
  /** Tokens that each request asks for at most. */
  readonly outputLimit?: number;
  readonly price?: Rates;
  readonly attachments?: readonly AttachmentKind[];
}

/** By `provider/id`. */
export type ModelOverrides = ReadonlyMap<string, ModelOverride>;

/** Where such a price comes from, as it is told. */
export const OVERRIDE_SOURCE = 'config.toml';
