/**
 * What `make` makes, when it is first asked for. For patterns with `\p{…}`: to make one takes up to a
 * millisecond, which no start should pay that does not use it.
 */
export function lazy<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
