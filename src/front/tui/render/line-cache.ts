/** Lines that were drawn before, for as long as what they show is there and is drawn in the same way. */
export class LineCache {
  private readonly drawn = new WeakMap<
    object,
    { readonly how: string; readonly lines: readonly string[] }
  >();

  /** `how`: all that decides how `of`, which never changes, is drawn. */
  get(of: object, how: string, draw: () => readonly string[]): readonly string[] {
    const known = this.drawn.get(of);
    if (known?.how === how) return known.lines;
    const lines = draw();
    this.drawn.set(of, { how, lines });
    return lines;
  }
}
