import type { EventBody } from '../../protocol/events/event.ts';
import type { LimitHit } from '../../protocol/state/activation.ts';

type Body<T extends EventBody['type']> = Extract<EventBody, { type: T }>;

/** What is done before a task's next request goes out, as its log will tell it. */
export type CompactionStep =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'record';
      readonly event: Body<'context.cleared' | 'context.dropped' | 'context.handed'>;
    }
  | { readonly kind: 'summarise'; readonly event: Body<'summary.started'> }
  /** Nothing is left to take out; `hit` null: the provider says so, and how it was refused stands. */
  | { readonly kind: 'stuck'; readonly hit: LimitHit | null };
