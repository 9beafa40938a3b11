/** The fields of an object, of which those that may be undefined are optional instead. */
type DefinedFields<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> };

/** Returns the fields of an object that are not undefined, to be spread into an object with optional fields. */
export function definedFields<T extends object>(fields: T): DefinedFields<T> {
  const kept: { [K in keyof T]?: Exclude<T[K], undefined> } = { ...fields };
  for (const name in kept) if (kept[name] === undefined) delete kept[name];
  return kept;
}
