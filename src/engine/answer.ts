import type { ModelPart, Usage } from '../protocol/model.ts';
import type { LimitHit } from '../protocol/stint.ts';

/** The last part of an answer. */
export type LastPart = Extract<ModelPart, { type: 'finished' | 'failed' }>;

/**
 * The end of an answer; `estimated`: what it has used, where the provider did not say; `hit`: the cap
 * that left no room for it by the time that it could be asked for; `cut`: the text of one that broke off.
 */
export type Answer = LastPart & {
  readonly estimated?: Usage;
  readonly hit?: LimitHit;
  readonly cut?: string;
};
