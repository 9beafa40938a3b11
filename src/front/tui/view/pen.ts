import { sanitizeLine, sanitizeForTerminal } from '../../../base/terminal-text.ts';
import { runLines, type CodeRun } from './highlighter.ts';
import { PLAIN, type TextRole, type Theme } from './theme.ts';

/** Splits code into runs by their role. */
export interface CodeReader {
  /** Whether roles are known by now. */
  readonly isLoaded: boolean;
  runs(code: string, language: string): readonly CodeRun[] | null;
}

/**
 * The only way by which text gets onto the screen: it is made plain first and then colored. Every result
 * is one line.
 */
export class Pen {
  private theme: Theme;
  private readonly reader: CodeReader | null;

  constructor(theme: Theme, reader: CodeReader | null = null) {
    this.theme = theme;
    // A theme without colors needs no roles of code.
    this.reader = theme === PLAIN ? null : reader;
  }

  /** Whether code is drawn in colors. Lines that were drawn before that are drawn again. */
  get colorsCode(): boolean {
    return this.reader?.isLoaded ?? false;
  }

  /** Changes the colors from now on. */
  use(theme: Theme): void {
    this.theme = theme;
  }

  /** Draws prose. Characters that control a terminal are dropped. */
  prose(role: TextRole, text: string): string {
    return this.paint(role, onOneLine(sanitizeForTerminal(text, 'prose')));
  }

  /** Draws commands and paths. Nothing of them is dropped. */
  exact(role: TextRole, text: string): string {
    return this.paint(role, expandTabs(sanitizeLine(text)));
  }

  /** Draws a block of plain code. `isOpen` means that it still grows; its roles are known at its end. */
  code(plain: string, language: string, { isOpen }: { readonly isOpen: boolean }): string[] {
    const runs = isOpen ? null : (this.reader?.runs(plain, language) ?? null);
    if (runs === null) return plain.split('\n').map((line) => this.paint('code', line));
    return runLines(runs).map((line) => line.map((run) => this.paint(run.role, run.text)).join(''));
  }

  /** Colors plain text. */
  paint(role: TextRole, plain: string): string {
    const codes = this.theme[role] ?? '';
    return codes === '' || plain === '' ? plain : `\u001b[${codes}m${plain}\u001b[0m`;
  }
}

/** Makes text plain and keeps its lines. */
export function plainLines(text: string): string {
  return expandTabs(sanitizeForTerminal(text, 'prose'));
}

function onOneLine(text: string): string {
  return text.replaceAll(/\s*[\n\u0085\u2028\u2029]\s*/g, ' ').replaceAll('\t', ' ');
}

/** The width of a tab depends on its position. */
function expandTabs(text: string): string {
  return text.replaceAll('\t', '    ');
}

/** Keeps drawn lines for as long as the object that they show exists and is drawn in the same way. */
export class LineCache {
  private drawn = new WeakMap<
    object,
    { readonly how: string; readonly lines: readonly string[] }
  >();

  /** Drops all lines, because everything looks different from now on. */
  forget(): void {
    this.drawn = new WeakMap();
  }

  /** Returns the lines of `subject`, which never changes. `how` names everything that decides how it is drawn. */
  get(subject: object, how: string, draw: () => readonly string[]): readonly string[] {
    const known = this.drawn.get(subject);
    if (known?.how === how) return known.lines;
    const lines = draw();
    this.drawn.set(subject, { how, lines });
    return lines;
  }
}

/** The tools that turn text into lines. */
export interface DrawingTools {
  readonly pen: Pen;
  readonly cache: LineCache;
}
