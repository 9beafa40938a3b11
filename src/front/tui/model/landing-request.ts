import type { LandingForm } from '../../../api/index.ts';

/** An action on the changes that a task has left in its workspace. */
export type LandingRequest =
  | { readonly task: string; readonly action: 'apply'; readonly form: LandingForm }
  | { readonly task: string; readonly action: 'discard' };
