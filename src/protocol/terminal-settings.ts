/** The choices of colors: by the background of the terminal, or always for a dark or a light one. */
export const THEME_CHOICES = ['auto', 'dark', 'light'] as const;
export type ThemeChoice = (typeof THEME_CHOICES)[number];

/** The settings of the terminal UI in the section `[terminal]` of the configuration, except `notify`. */
export interface TerminalSettings {
  /** Whether the title of the window shows the state of the conversation. */
  readonly title: boolean;
  /** Whether hints about keys are shown until the user has used them a few times. */
  readonly hints: boolean;
  readonly theme: ThemeChoice;
}
