export interface FirstByName<T> {
  /** As they were found; no two of the same name, case ignored. */
  readonly first: readonly T[];
  /** Those whose name another one has that was found before it. */
  readonly later: readonly { readonly one: T; readonly first: T }[];
}

/** The first of a name wins, case ignored. */
export function firstByName<T extends { readonly name: string }>(
  found: readonly T[],
): FirstByName<T> {
  const winners = new Map<string, T>();
  const later: { readonly one: T; readonly first: T }[] = [];
  for (const one of found) {
    const key = one.name.toLowerCase();
    const first = winners.get(key);
    if (first === undefined) winners.set(key, one);
    else later.push({ one, first });
  }
  return { first: [...winners.values()], later };
}
