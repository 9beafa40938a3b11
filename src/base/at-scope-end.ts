/**
 * Returns an object for `using` that calls `act` when the block ends, whether it returns or throws. It replaces
 * `try { … } finally { act(); }`.
 */
export function atScopeEnd(act: () => void): Disposable {
  return { [Symbol.dispose]: act };
}
