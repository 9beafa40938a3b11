/** The amounts of a model's thinking that the terminal UI shows: one line, the full text, or nothing. */
export const THINKING_DISPLAYS = ['short', 'full', 'hidden'] as const;
export type ThinkingDisplay = (typeof THINKING_DISPLAYS)[number];
