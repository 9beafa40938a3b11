import type { RuleChange } from '../../../api/index.ts';
import type { PermissionMode } from '../../../protocol/permission.ts';

/** The state that a UI hands over to the UI that is opened in its place. */
export interface KeptUi {
  /** The id of the conversation; null for a new one. */
  readonly id: string | null;
  /** The unfinished message. */
  readonly typed: string;
  /** The permission mode in force; null for that of the configuration. */
  readonly mode: PermissionMode | null;
  /** The model that the user has chosen; null for that of the configuration. */
  readonly model: string | null;
  /** The message of the command line that was not sent yet. */
  readonly prompt: string | null;
  /** The rules that the user has set for a conversation that has not begun. */
  readonly rules: readonly RuleChange[];
  /** The reason, as a note. */
  readonly done: string;
}
