import type { Pen } from './pen.ts';

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
