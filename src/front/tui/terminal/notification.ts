import { exactLine } from '../../../base/terminal-text.ts';
import { truncate } from '../../../base/text.ts';
import type { Notify } from '../../../protocol/notify.ts';
import type { Environment } from '../../../sys/env.ts';

/** How a terminal is told to show a notification: OSC 9 (iTerm2), OSC 777 (rxvt), OSC 99 (kitty). */
export type NotificationWay = 'osc9' | 'osc777' | 'osc99';

export interface Caller {
  readonly notify: Notify;
  /** Null: the terminal is not known to show any. */
  readonly way: NotificationWay | null;
  /** It has to get through tmux. */
  readonly isInTmux: boolean;
}

const BELL = '\u0007';
const ST = '\u001b\\';
/** Of a notification, in code points. */
const MOST = 200;

/** By variables that terminals set for what runs in them, also through tmux and in a shell of their own. */
export function callerOf(notify: Notify, environment: Environment): Caller {
  const isSet = (name: string) => (environment[name] ?? '') !== '';
  return { notify, way: wayOf(environment, isSet), isInTmux: isSet('TMUX') };
}

function wayOf(
  { TERM, TERM_PROGRAM, LC_TERMINAL }: Environment,
  isSet: (name: string) => boolean,
): NotificationWay | null {
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
 * What is written to call somebody; empty: nothing. A terminal that shows no notifications rings instead, and
 * so does tmux, which passes them on only where its `allow-passthrough` is on.
 */
export function callText({ notify, way, isInTmux }: Caller, text: string): string {
  if (notify === 'off') return '';
  if (notify === 'bell' || way === null) return BELL;
  const sequence = sequenceOf(way, truncate(plain(text), MOST));
  return isInTmux
    ? `\u001bPtmux;${sequence.replaceAll('\u001b', '\u001b\u001b')}${ST}${BELL}`
    : sequence;
}

function sequenceOf(way: NotificationWay, text: string): string {
  switch (way) {
    case 'osc9':
      return `\u001b]9;${text}${ST}`;
    case 'osc777':
      return `\u001b]777;notify;Muster;${text}${ST}`;
    case 'osc99':
      return `\u001b]99;;Muster: ${text}${ST}`;
    default:
      return way satisfies never;
  }
}

/** One line; and `;` separates fields, a digit at the beginning of OSC 9 is another command (`9;4`: progress). */
function plain(text: string): string {
  return exactLine(text).replaceAll(';', ',').replace(/^\d/, ' $&');
}
