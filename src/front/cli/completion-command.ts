export const COMPLETED_SHELLS = ['bash', 'zsh', 'fish'] as const;
export type CompletedShell = (typeof COMPLETED_SHELLS)[number];

/** What `muster completion` asks for. */
export interface CompletionCommand {
  readonly kind: 'completion';
  readonly shell: CompletedShell;
  /** Those typed behind the program's name up to the cursor; null: the script of the shell. */
  readonly words: readonly string[] | null;
}
