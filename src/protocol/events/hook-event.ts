import type { HookEventName, HookOutcome, HookSource } from '../hook.ts';

/** The events of hooks of a task. */
export type HookEventBody =
  /**
   * Hooks have run and had something to say. Hooks that succeed without a word leave no event, except those that called a
   * tool, and those of the start and the end of a subagent.
   */
  | {
      readonly type: 'hook.ran';
      readonly event: HookEventName;
      /** The id of the call, the input or the question that they were about; null if there is none. */
      readonly about: string | null;
      readonly outcome: HookOutcome;
    }
  /**
   * A hook in the user's own settings has answered the question that only the default of a tool asks, so the user has granted
   * this one call. The id is that of the call, or of the call that the hook itself makes.
   */
  | {
      readonly type: 'call.granted';
      readonly callId: string;
      readonly tool: string;
      readonly by: 'user';
      readonly hook: HookSource;
    };
