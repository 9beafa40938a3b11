/** Lines that were drawn before, for as long as what they show is there and is drawn in the same way. */
export class LineCache {
  private drawn = new WeakMap<
    object,
    { readonly how: string; readonly lines: readonly string[] }
  >();

  /** All is drawn otherwise from here on. */
  forget(): void {
    this.drawn = new WeakMap();
  }

  /** `how`: all that decides how `of`, which never changes, is drawn. */
  get(of: object, how: string, draw: () => readonly string[]): readonly string[] {
    const known = this.drawn.get(of);
    if (known?.how === how) return known.lines;
    const lines = draw();
    this.drawn.set(of, { how, lines });
    return lines;
  }
}
