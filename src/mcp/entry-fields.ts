import { isJsonObject } from '../base/json.ts';

/** A problem with one field of an entry. */
export interface EntryProblem {
  /** The field as the file spells it. Null if the problem is about the entry as a whole. */
  readonly field: string | null;
  readonly message: string;
  /** `error`: the entry cannot be used. `warning`: the field has no effect. */
  readonly severity: 'error' | 'warning';
}

/** The maximum length of a text, and the maximum number of items of a list or a map. No real entry has more. */
const MAX_TEXT_LENGTH = 32_768;
const MAX_ITEMS = 500;

interface Field {
  readonly name: string;
  readonly value: unknown;
}

/**
 * Reads the fields of one entry and collects the problems. Products write the same field as `startupTimeoutSec`,
 * `startup_timeout_sec` and `startup-timeout-sec`, so fields are found without regard to case, `_` and `-`.
 */
export class EntryFields {
  readonly problems: EntryProblem[] = [];
  private readonly fields: Map<string, Field>;

  constructor(entry: Readonly<Record<string, unknown>>) {
    const fields = Object.entries(entry).filter(
      ([, value]) => value !== undefined && value !== null,
    );
    this.fields = new Map(
      fields.map(([name, value]) => [name.replaceAll(/[_-]/g, '').toLowerCase(), { name, value }]),
    );
  }

  /** Takes out the first field that exists. Fields that are not taken out are unknown. */
  take(...keys: readonly string[]): Field | undefined {
    const present = keys.filter((key) => this.fields.has(key));
    const [first] = present.map((key) => this.fields.get(key));
    for (const key of present) this.fields.delete(key);
    return first;
  }

  /** Returns the names of the fields that were not taken out. */
  remaining(): readonly string[] {
    return [...this.fields.values()].map(({ name }) => name);
  }

  error(field: string | null, message: string): void {
    this.problems.push({ field, message, severity: 'error' });
  }

  warn(field: string, message: string): void {
    this.problems.push({ field, message, severity: 'warning' });
  }

  text(...keys: readonly string[]): string | undefined {
    const field = this.take(...keys);
    if (field === undefined) return undefined;
    if (isText(field.value) && field.value.trim() !== '') return field.value;
    this.error(field.name, 'it must be a text that is not empty');
    return undefined;
  }

  /** Reads a flag. Returns undefined if it is absent. */
  flag(...keys: readonly string[]): boolean | undefined {
    const field = this.take(...keys);
    if (field === undefined) return undefined;
    if (typeof field.value === 'boolean') return field.value;
    this.error(field.name, 'it must be true or false');
    return undefined;
  }

  /** Reads a positive number. */
  number(...keys: readonly string[]): number | undefined {
    const field = this.take(...keys);
    if (field === undefined) return undefined;
    const { value } = field;
    if (typeof value === 'number' && Number.isFinite(value) && value > 0) return value;
    this.error(field.name, 'it must be a number above 0');
    return undefined;
  }

  list(...keys: readonly string[]): readonly string[] | undefined {
    const field = this.take(...keys);
    if (field === undefined) return undefined;
    const { value } = field;
    if (Array.isArray(value) && value.length <= MAX_ITEMS && value.every(isText)) return value;
    this.error(field.name, `it must be a list of at most ${MAX_ITEMS} texts`);
    return undefined;
  }

  /** Reads an object whose values are texts. Numbers and flags are accepted as texts. */
  map(...keys: readonly string[]): Readonly<Record<string, string>> | undefined {
    const field = this.take(...keys);
    if (field === undefined) return undefined;
    const entries = isJsonObject(field.value) ? Object.entries(field.value) : undefined;
    if (entries === undefined || entries.length > MAX_ITEMS) {
      this.error(field.name, `it must be an object with at most ${MAX_ITEMS} texts`);
      return undefined;
    }
    const wrong = entries.find(([, value]) => toText(value) === undefined);
    if (wrong === undefined) {
      return Object.fromEntries(entries.map(([name, value]) => [name, toText(value) ?? '']));
    }
    this.error(`${field.name}.${wrong[0]}`, 'it must be a text');
    return undefined;
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_TEXT_LENGTH && !value.includes('\0');
}

function toText(value: unknown): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return isText(value) ? value : undefined;
}
