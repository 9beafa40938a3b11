import type { Loaded } from './page-context.ts';

/** The text in place of data that is not there yet, or cannot be loaded. */
export function LoadState({
  state,
}: {
  readonly state: Exclude<Loaded<unknown>, { kind: 'loaded' }>;
}) {
  return state.kind === 'loading' ? (
    <p class="note">Loading…</p>
  ) : (
    <p class="note bad">{state.reason}</p>
  );
}
