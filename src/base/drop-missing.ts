/**
 * Returns the fields that have a value, without those that are null or undefined: an optional field is left out
 * instead of being set to nothing.
 */
export function dropMissing<Fields extends object>(
  fields: Fields,
): { [Name in keyof Fields]?: NonNullable<Fields[Name]> };
export function dropMissing(fields: object): object {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null && value !== undefined),
  );
}
