/**
 * Returns a copy of an object without the fields whose value is null or undefined.
 */
export function dropMissing<Fields extends object>(
  fields: Fields,
): { [Name in keyof Fields]?: NonNullable<Fields[Name]> };
export function dropMissing(fields: object): object {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null && value !== undefined),
  );
}
