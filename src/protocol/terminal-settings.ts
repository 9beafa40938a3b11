/** The choices of colors: by the background of the terminal, or always for a dark or a light one. */
export const THEME_CHOICES = ['auto', 'dark', 'light'] as const;
export type ThemeChoice = (typeof THEME_CHOICES)[number];

/** How much of the work the terminal UI shows: changes, command output and plans, or one line for each call. */
export const DETAILS = ['full', 'short'] as const;
export type Detail = (typeof DETAILS)[number];

/** The amounts of a model's thinking that the terminal UI shows: one line, the full text, or nothing. */
export const THINKING_DISPLAYS = ['short', 'full', 'hidden'] as const;
export type ThinkingDisplay = (typeof THINKING_DISPLAYS)[number];

/**
 * The ways to get a person's attention: the bell of the terminal, a desktop notification, or none. `notify` is another
 * word for `desktop`.
 */
export const NOTIFY = ['bell', 'desktop', 'notify', 'off'] as const;
export type Notify = (typeof NOTIFY)[number];

/** The settings of the terminal UI: the section `[terminal]` of the configuration. */
export interface TerminalSettings {
  /** How the UI notifies a user who is not looking at it. */
  readonly notify: Notify;
  /** Whether the title of the window shows the state of the conversation. */
  readonly title: boolean;
  /** Whether hints about keys are shown until the user has used them a few times. */
  readonly hints: boolean;
  readonly theme: ThemeChoice;
  /** How much the conversation shows of the work. */
  readonly detail: Detail;
  /** How much of the models' thinking is shown. */
  readonly thinking: ThinkingDisplay;
}

/** The settings of the terminal UI without a configuration. */
export const DEFAULT_TERMINAL_SETTINGS: TerminalSettings = {
  notify: 'bell',
  title: true,
  hints: true,
  theme: 'auto',
  detail: 'full',
  thinking: 'short',
};
