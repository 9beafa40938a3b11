/**
 * Returns an object for `using` that calls `act` when the block ends, whether it returns or throws. `act` should not
 * throw: if the block has thrown before, the caller would get a SuppressedError with an empty message.
 */
export function atScopeEnd(act: () => void): Disposable {
  return { [Symbol.dispose]: act };
}
