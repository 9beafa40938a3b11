import { UsageError } from '../base/errors.ts';
import { sortByNearness } from '../base/name-suggestions.ts';

/** The kinds of values that a field may have. */
export type FieldKind =
  | 'string'
  | 'finite number'
  | 'boolean'
  | 'function'
  | 'object'
  | 'array'
  | 'array of strings'
  | 'any';

/**
 * Checks that an object of options has only known fields, with values of the right kind. Throws UsageError that names the field
 * and what is valid. A field with the value undefined counts as absent.
 *
 * @param where the function and the option, for messages
 */
export function checkFields(
  value: object,
  where: string,
  kinds: Readonly<Record<string, FieldKind | readonly FieldKind[]>>,
): void {
  if (typeof value !== 'object' || value === null)
    throw new UsageError(`${where}: must be an object`);
  const names = Object.keys(kinds);
  const fields: readonly (readonly [string, unknown])[] = Object.entries(value);
  for (const [name, field] of fields) {
    if (!Object.hasOwn(kinds, name)) {
      const [nearest] = sortByNearness(name, names);
      throw new UsageError(
        `${where}: unknown option ${JSON.stringify(name)}. Did you mean ${nearest}? Valid: ${names.join(', ')}`,
      );
    }
    const allowed = [kinds[name] ?? 'any'].flat();
    if (field !== undefined && !allowed.some((kind) => isOfKind(field, kind)))
      throw new UsageError(
        `${where}: ${name} must be ${allowed.join(' or ')}, not ${kindOf(field)}`,
      );
  }
}

function isOfKind(value: unknown, kind: FieldKind): boolean {
  if (kind === 'any') return true;
  if (kind === 'finite number') return Number.isFinite(value);
  if (kind === 'array of strings')
    return Array.isArray(value) && value.every((each) => typeof each === 'string');
  return kindOf(value) === kind;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  return Array.isArray(value) ? 'array' : typeof value;
}

/** Checks that each value of an object, whose names the program chooses, is of one of the kinds. Throws UsageError. */
export function checkValues(values: object, where: string, kinds: readonly FieldKind[]): void {
  checkFields(values, where, Object.fromEntries(Object.keys(values).map((name) => [name, kinds])));
}

/** Checks a position in a log. Throws UsageError for a value that is no whole number of at least 0. */
export function checkPosition(value: unknown, where: string): void {
  if (!Number.isSafeInteger(value) || Number(value) < 0)
    throw new UsageError(`${where} must be a whole number of at least 0, not ${String(value)}`);
}
