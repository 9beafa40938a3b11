import { exactLine, terminalText } from '../../../base/terminal-text.ts';
import { runLines, type CodeRun } from './highlighter.ts';
import { PLAIN, type Role, type Theme } from './theme.ts';

/** What code consists of; null: not known, or not yet. */
export interface CodeReader {
  /** Whether it could tell more than before. */
  readonly isLoaded: boolean;
  runs(code: string, language: string): readonly CodeRun[] | null;
}

/**
 * The one way by which text gets onto the screen: it is made plain first, and coloured then. What it gives
 * stands on one line.
 */
export class Pen {
  private theme: Theme;
  private readonly reader: CodeReader | null;

  constructor(theme: Theme, reader: CodeReader | null = null) {
    this.theme = theme;
    // Nothing is loaded to colour what has no colours.
    this.reader = theme === PLAIN ? null : reader;
  }

  /** Whether code is drawn in colours: what was drawn before they were there is drawn anew. */
  get coloursCode(): boolean {
    return this.reader?.isLoaded ?? false;
  }

  /** From here on it paints otherwise. */
  use(theme: Theme): void {
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

  /** A block of plain code, line by line. `isOpen`: it still grows, and what it is will be told at its end. */
  code(plain: string, language: string, { isOpen }: { readonly isOpen: boolean }): string[] {
    const runs = isOpen ? null : (this.reader?.runs(plain, language) ?? null);
    if (runs === null) return plain.split('\n').map((line) => this.paint('code', line));
    return runLines(runs).map((line) => line.map((run) => this.paint(run.role, run.text)).join(''));
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
