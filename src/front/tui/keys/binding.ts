/** Where a key has its meaning: whatever keys are for, or only while they are for one of these. */
export type Place =
  | 'anywhere'
  | 'editor'
  | 'completion'
  | 'question'
  | 'tasks'
  | 'entries'
  | 'search';

export interface Binding {
  /** As the library names them: `ctrl+b`, `shift+tab`, `escape`. */
  readonly keys: readonly string[];
  readonly place: Place;
  /** Only while nothing is typed, so that no key is taken from a text. */
  readonly needsEmptyEditor?: true;
  /** The editor does it. */
  readonly isEditors?: true;
  /** For the help, `{ACTION}` for the keys of another one; absent: it goes without saying, or its place says it. */
  readonly help?: string;
}
