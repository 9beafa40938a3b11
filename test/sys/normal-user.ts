/** Runs `act` as a user to whom permissions mean something: as it is, or, for root, as nobody. */
export async function asNormalUser<T>(act: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return act();
  process.setegid?.(65_534);
  process.seteuid?.(65_534);
  try {
    return await act();
  } finally {
    process.seteuid?.(0);
    process.setegid?.(0);
  }
}
