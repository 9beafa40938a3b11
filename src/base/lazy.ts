/**
 * Returns a function that creates a value at its first call and returns the same value later. Used for patterns
 * with `\p{…}`, each of which takes up to a millisecond to compile, and for tables that few starts need.
 */
export function lazy<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
