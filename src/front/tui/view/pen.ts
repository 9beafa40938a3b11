import { sanitizeLine, sanitizeForTerminal } from '../../../base/terminal-text.ts';
import { runLines, type CodeRun, type Highlighter } from './highlighter.ts';
import { PLAIN, type TextRole, type Theme } from './theme.ts';

type CodeReader = Pick<Highlighter, 'isLoaded' | 'runs'>;

/** The maximum number of texts whose lines are kept. */
const MAX_TEXTS = 200;

/**
 * Draws text for the screen. All text passes through a pen, which removes control characters first and then adds colors.
 * Every result is one line.
 */
export class Pen {
  private theme: Theme;
  private readonly reader: CodeReader | null;
  private drawn = new WeakMap<
    object,
    { readonly how: string; readonly lines: readonly string[] }
  >();
  private readonly drawnTexts = new Map<string, readonly string[]>();
  /** Whether the terminal opens links. */
  readonly hasHyperlinks: boolean;

  constructor(
    theme: Theme,
    reader: CodeReader | null = null,
    { hasHyperlinks = false }: { readonly hasHyperlinks?: boolean } = {},
  ) {
    this.theme = theme;
    this.hasHyperlinks = hasHyperlinks;
    // A theme without colors needs no roles of code.
    this.reader = theme === PLAIN ? null : reader;
  }

  /** Changes the colors from now on. */
  use(theme: Theme): void {
    this.theme = theme;
    this.drawn = new WeakMap();
    this.drawnTexts.clear();
  }

  /**
   * Returns the lines of `subject`, an object that never changes. The lines are kept as long as the subject exists and
   * `how` stays the same. `how` names everything that decides how the subject is drawn.
   */
  keep(subject: object, how: string, draw: () => readonly string[]): readonly string[] {
    const known = this.drawn.get(subject);
    // Lines are drawn again once code can be colored.
    const fullHow = `${how} ${this.reader?.isLoaded ?? false}`;
    if (known?.how === fullHow) return known.lines;
    const lines = draw();
    this.drawn.set(subject, { how: fullHow, lines });
    return lines;
  }

  /** Returns the lines of a text, as `keep` does. The texts that were drawn last are kept. */
  keepText(text: string, how: string, draw: () => readonly string[]): readonly string[] {
    const key = `${how} ${this.reader?.isLoaded ?? false} ${text}`;
    const lines = this.drawnTexts.get(key) ?? draw();
    this.drawnTexts.delete(key);
    this.drawnTexts.set(key, lines);
    for (const oldest of this.drawnTexts.keys()) {
      if (this.drawnTexts.size <= MAX_TEXTS) break;
      this.drawnTexts.delete(oldest);
    }
    return lines;
  }

  /** Makes a drawn text a link, which the terminal opens. `target` has only visible ASCII characters. */
  link(target: string, drawn: string): string {
    return `\u001b]8;;${target}\u001b\\${drawn}\u001b]8;;\u001b\\`;
  }

  /** Draws prose. Characters that control a terminal are dropped. */
  prose(role: TextRole, text: string): string {
    return this.paint(role, onOneLine(sanitizeForTerminal(text, 'prose')));
  }

  /** Draws commands and paths. Every character of them is shown; control characters are escaped. */
  exact(role: TextRole, text: string): string {
    return this.paint(role, exactText(text));
  }

  /** Draws a block of code without control characters. `isOpen` says that the block still grows; then it gets no roles. */
  code(plain: string, language: string, { isOpen }: { readonly isOpen: boolean }): string[] {
    const lines = isOpen ? null : this.codeRuns(plain, language);
    if (lines === null) return plain.split('\n').map((line) => this.paint('code', line));
    return lines.map((line) => line.map((run) => this.paint(run.role, run.text)).join(''));
  }

  /** Splits each line of code without control characters into runs by their role; null if no roles are known. */
  codeRuns(plain: string, language: string): readonly (readonly CodeRun[])[] | null {
    const runs = this.reader?.runs(plain, language) ?? null;
    return runs === null ? null : runLines(runs);
  }

  /** Colors plain text. */
  paint(role: TextRole, plain: string): string {
    const codes = this.theme[role] ?? '';
    return codes === '' || plain === '' ? plain : `\u001b[${codes}m${plain}\u001b[0m`;
  }
}

/** Returns a command, a path or a line of code with every character shown; control characters are escaped. */
export function exactText(text: string): string {
  return expandTabs(sanitizeLine(text));
}

/** Removes control characters from a text and keeps its line ends. */
export function plainLines(text: string): string {
  return expandTabs(sanitizeForTerminal(text, 'prose'));
}

function onOneLine(text: string): string {
  return text.replaceAll(/\s*[\n\u0085\u2028\u2029]\s*/g, ' ').replaceAll('\t', ' ');
}

/** Replaces tabs by blanks, because the width of a tab depends on its position. */
function expandTabs(text: string): string {
  return text.replaceAll('\t', '    ');
}
