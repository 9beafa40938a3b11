import { exactLine, terminalText } from '../../../base/terminal-text.ts';
import type { Role, Theme } from './theme.ts';

/**
 * The one way by which text gets onto the screen: it is made plain first, and coloured then. What it gives
 * stands on one line.
 */
export class Pen {
  readonly theme: Theme;

  constructor(theme: Theme) {
    this.theme = theme;
  }

  /** Words: what steers a terminal is dropped. */
  prose(role: Role, text: string): string {
    return this.paint(role, onOneLine(terminalText(text, 'prose')));
  }

  /** Commands, paths: nothing of them is dropped. */
  exact(role: Role, text: string): string {
    return this.paint(role, expandTabs(exactLine(text)));
  }

  /** Of plain text alone. */
  paint(role: Role, plain: string): string {
    const codes = this.theme[role];
    return codes === '' || plain === '' ? plain : `\u001b[${codes}m${plain}\u001b[0m`;
  }
}

/** What a markdown reader gets: plain text, its lines as they were. */
export function plainLines(text: string): string {
  return expandTabs(terminalText(text, 'prose'));
}

function onOneLine(text: string): string {
  return text.replaceAll(/\s*[\n\u0085\u2028\u2029]\s*/g, ' ').replaceAll('\t', ' ');
}

/** How wide a tab is depends on where it stands. */
function expandTabs(text: string): string {
  return text.replaceAll('\t', '    ');
}
