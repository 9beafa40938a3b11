import { spawnSync } from 'node:child_process';
import { closeSync, openSync, writeSync } from 'node:fs';
import { atScopeEnd } from '../base/at-scope-end.ts';
import { readEnvironment } from './env.ts';

/** Removes all modes of the kitty keyboard protocol that programs have pushed, and ends modifyOtherKeys. */
const PLAIN_KEYS = '\u001b[<9u\u001b[>4;0m';

/**
 * The sequences that end everything that the terminal UI turns on. Outside of the alternate screen, none of them moves
 * the cursor: leaving that screen restores the position that was saved last, which is why it is saved first.
 */
const RESET = [
  // Ends an update that was cut off.
  '\u001b[?2026l',
  // Ends reports of the mouse and of the focus, and bracketed paste.
  '\u001b[?1006l\u001b[?1004l\u001b[?1003l\u001b[?1002l\u001b[?1000l\u001b[?2004l',
  PLAIN_KEYS,
  '\u001b7\u001b[?1049l',
  // Each screen has its own modes of the keyboard.
  PLAIN_KEYS,
  // Wraps lines, shows the cursor, and ends colors.
  '\u001b[?7h\u001b[?25h\u001b[0m',
  // Restores the title.
  '\u001b[23;2t',
].join('');

/**
 * Restores the terminal of this process after a program was killed that had its screen there. Returns false if the
 * process has no terminal. Loses the settings that the user has made with `stty`, because nobody knows them any more.
 */
export function restoreTerminal(): boolean {
  let terminal: number;
  try {
    terminal = openSync('/dev/tty', 'r+');
  } catch {
    // There is no terminal, for example in a job of cron.
    return false;
  }
  using _close = atScopeEnd(() => closeSync(terminal));
  writeSync(terminal, RESET);
  spawnSync('stty', ['sane'], { stdio: [terminal, 'ignore', 'ignore'], env: readEnvironment() });
  return true;
}
