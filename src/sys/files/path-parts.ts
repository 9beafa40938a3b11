/** A set of names and partial paths (`.git`, `.config/gh`) that can occur anywhere in a path. */
export class PathParts {
  readonly #byLastName: ReadonlyMap<string, readonly (readonly string[])[]>;

  constructor(paths: readonly string[]) {
    const parts = paths.map((path) => path.split('/'));
    this.#byLastName = Map.groupBy(parts, (names) => names.at(-1) ?? '');
  }

  /** Tells whether a name or partial path of the set occurs in `names` and ends at `index`. */
  endAt(names: readonly string[], index: number): boolean {
    const candidates = this.#byLastName.get(names[index] ?? '');
    return (
      candidates?.some((parts) => {
        const start = index - parts.length + 1;
        return parts.every((part, offset) => names[start + offset] === part);
      }) === true
    );
  }
}
