import type { ConversationPort } from './terminal/conversation.ts';
import type { Caller } from './terminal/notification.ts';
import type { TerminalDevice } from './terminal/screen.ts';
import type { Theme } from './view/theme.ts';
import type { UiMuster } from './model/ui-library.ts';

/** What the terminal UI is opened with. */
export interface AppOptions {
  readonly muster: UiMuster;
  readonly terminal: TerminalDevice;
  readonly theme: Theme;
  /** How somebody is called who looks elsewhere. */
  readonly caller: Caller;
  /** The definition that the conversation runs as; null: the main agent. */
  readonly agent: string | null;
  /** Another process's conversation that is looked at. Absent: one of this process. */
  readonly watched?: ConversationPort;
  /** What the start had to say, a line each. */
  readonly notices: readonly string[];
  /** Milliseconds on the monotonic clock. */
  readonly now: () => number;
  /** The person wants to go. */
  readonly onLeave: () => void;
}
