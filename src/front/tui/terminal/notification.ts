import { sanitizeLine } from '../../../base/terminal-text.ts';
import { truncate } from '../../../base/text.ts';
import type { Notify } from '../../../protocol/terminal-settings.ts';
import type { Environment } from '../../../sys/env.ts';

/** The kind of the escape sequence that shows a notification: OSC 9 (iTerm2), OSC 777 (rxvt) or OSC 99 (kitty). */
export type NotificationKind = 'osc9' | 'osc777' | 'osc99';

/** The way in which the user is notified. */
export interface AttentionMethod {
  /** The kind of notification that the terminal shows, or null if it is not known to show any. */
  readonly kind: NotificationKind | null;
  /** Whether the sequence has to pass through tmux. */
  readonly isInTmux: boolean;
}

const BELL = '\u0007';
const ST = '\u001b\\';
/** The maximum length of a notification, in code points. */
const MAX_LENGTH = 200;

/** Finds out how the user can be notified. Looks at the variables that terminals set, which are also set inside tmux. */
export function findAttentionMethod(environment: Environment): AttentionMethod {
  const isSet = (name: string) => (environment[name] ?? '') !== '';
  return { kind: findNotificationKind(environment, isSet), isInTmux: isSet('TMUX') };
}

function findNotificationKind(
  { TERM, TERM_PROGRAM, LC_TERMINAL }: Environment,
  isSet: (name: string) => boolean,
): NotificationKind | null {
  if (isSet('STY')) return null;
  if (isSet('KITTY_WINDOW_ID') || TERM === 'xterm-kitty') return 'osc99';
  const isITerm =
    TERM_PROGRAM === 'iTerm.app' || LC_TERMINAL === 'iTerm2' || isSet('ITERM_SESSION_ID');
  if (isITerm || isSet('GHOSTTY_RESOURCES_DIR') || TERM === 'xterm-ghostty') return 'osc9';
  if (isSet('WEZTERM_PANE') || TERM_PROGRAM === 'WezTerm') return 'osc777';
  if (TERM?.startsWith('foot') === true || TERM?.startsWith('rxvt-unicode') === true)
    return 'osc777';
  return null;
}

/**
 * Returns the text that notifies the user when it is written to the terminal; empty if notifications are off. The bell
 * rings in a terminal that shows no notifications, and also in tmux, which passes them on only with `allow-passthrough`.
 */
export function attentionSequence(
  notify: Notify,
  { kind, isInTmux }: AttentionMethod,
  text: string,
): string {
  if (notify === 'off') return '';
  if (notify === 'bell' || kind === null) return BELL;
  const sequence = SEQUENCES[kind](truncate(plain(text), MAX_LENGTH));
  return isInTmux
    ? `\u001bPtmux;${sequence.replaceAll('\u001b', '\u001b\u001b')}${ST}${BELL}`
    : sequence;
}

const SEQUENCES: Readonly<Record<NotificationKind, (text: string) => string>> = {
  osc9: (text) => `\u001b]9;${text}${ST}`,
  osc777: (text) => `\u001b]777;notify;Muster;${text}${ST}`,
  osc99: (text) => `\u001b]99;;Muster: ${text}${ST}`,
};

/** Makes one line without `;`, which separates fields, and without a digit at its start, which would give OSC 9 another meaning. */
function plain(text: string): string {
  return sanitizeLine(text).replaceAll(';', ',').replace(/^\d/, ' $&');
}
