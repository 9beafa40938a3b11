import type { ConversationPort } from './conversation.ts';
import type { Caller } from './notification.ts';
import type { TerminalDevice } from './pi/screen.ts';
import type { Theme } from './render/theme.ts';
import type { UiMuster } from './ui-muster.ts';

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
