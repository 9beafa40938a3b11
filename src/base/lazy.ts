/**
 * What `make` makes, when it is first asked for. For patterns with `\p{…}`, of which one takes up to a
 * millisecond to make, and for tables that few starts use.
 */
export function lazy<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
