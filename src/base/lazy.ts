/**
 * Returns a function that creates a value at its first call and returns the same value at later calls. Used for
 * patterns with `\p{…}`, which take up to a millisecond each to compile, and for tables that are seldom needed.
 */
export function lazy<T extends object>(create: () => T): () => T {
  let value: T | undefined;
  return () => (value ??= create());
}
