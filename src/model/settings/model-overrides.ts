import type { Rates } from '../../protocol/model.ts';

/** The kinds of attachments that a model can be configured to accept. */
export const ATTACHMENT_KINDS = ['image', 'pdf'] as const;
export type AttachmentKind = (typeof ATTACHMENT_KINDS)[number];

/** The configured properties of a model. They have priority over the table of limits and the catalogue. */
export interface ModelOverride {
  readonly contextWindow?: number;
  /** The limit in tokens on the answer to each request. */
  readonly outputLimit?: number;
  readonly price?: Rates;
  readonly attachments?: readonly AttachmentKind[];
}

/** The overrides by `provider/id`. */
export type ModelOverrides = ReadonlyMap<string, ModelOverride>;

/** The source of a price from an override, for messages. */
export const OVERRIDE_SOURCE = 'config.toml';
