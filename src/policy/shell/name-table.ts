/** Creates a map from a table in which entries with the same value are written once: `'md5sum, sha1sum': VALUE`. */
export function mapByName<T>(table: Readonly<Record<string, T>>): ReadonlyMap<string, T> {
  return new Map(
    Object.entries(table).flatMap(([names, value]) =>
      names.split(', ').map((name) => [name, value] as const),
    ),
  );
}
