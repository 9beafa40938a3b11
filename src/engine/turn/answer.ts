import type { ModelPart, Usage } from '../../protocol/model.ts';
import type { NoRoom } from './turn-outcome.ts';

/** The last part of an answer. */
export type LastPart = Extract<ModelPart, { type: 'finished' | 'failed' }>;

/**
 * The end of an answer; `estimated`: what it has used, where the provider did not say; `noRoom`: the
 * limit that left no room for it by the time that it could be asked for; `cut`: the text of one that broke off.
 */
export type ModelAnswer = LastPart & {
  readonly estimated?: Usage;
  readonly noRoom?: NoRoom;
  readonly cut?: string;
};
