/** How much of the work the terminal UI shows: changes, command output and plans, or one line for each call. */
export const DETAILS = ['full', 'short'] as const;
export type Detail = (typeof DETAILS)[number];
