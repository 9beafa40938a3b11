import type { ThemeChoice } from '../../../protocol/terminal-settings.ts';
import type { AppState } from '../model/app-state.ts';
import type { KeptUi } from '../model/kept-ui.ts';
import type { UiLibrary } from '../model/ui-library.ts';
import type { Direction, UiMessage } from '../update/message.ts';
import type { UiEffect } from '../update/step.ts';
import type { ConversationPort } from './conversation-runner.ts';
import type { EditorSurface } from './external-editor.ts';
import type { MessageSender } from './message-sender.ts';
import type { PastedImages } from './pasted-images.ts';
import type { SetupDialogs } from './setup-dialogs.ts';
import type { UserSettings } from '../model/user-settings.ts';
import type { ShellCommands } from './shell-commands.ts';

/** The part of the screen that effects use. The UI in plain lines has no editor, so that some methods are missing there. */
export interface Surface extends EditorSurface {
  setEditorText?(text: string): void;
  addToHistory?(text: string): void;
  pageCompletions?(by: Direction): void;
  redraw?(): void;
  /** Uses other colors. Absent if there are no colors. */
  useTheme?(choice: ThemeChoice): void;
  /** Writes an escape sequence that shows nothing. */
  writeSequence?(sequence: string): void;
  suspend?(): void;
  /** Opens Muster again with this conversation. */
  restart?(kept: KeptUi): void;
  /** Notifies a user who looks at another window. */
  callAttention(text: string): void;
  leave(): void;
}

export type EffectOf<Type extends UiEffect['type']> = Extract<UiEffect, { type: Type }>;

export interface EffectOptions {
  readonly library: UiLibrary;
  readonly conversation: ConversationPort;
  readonly sender: MessageSender;
  readonly shell: ShellCommands;
  readonly images: Pick<PastedImages, 'takeClipboard'>;
  readonly surface: Surface;
  /** The dialogs of the user's setup; null if it cannot be changed here. */
  readonly dialogs: SetupDialogs | null;
  /** The settings of the user; null if they cannot be changed here. */
  readonly settings: UserSettings | null;
  readonly state: () => AppState;
  readonly dispatch: (message: UiMessage) => void;
}
