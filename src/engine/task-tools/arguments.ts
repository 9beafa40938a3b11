import { isJsonObject, type JsonValue } from '../../base/json.ts';
import type { ValidationResult } from '../../protocol/tool.ts';

/** Reads the arguments of a call field by field and gathers what is wrong with them. */
export class Arguments {
  readonly issues: string[] = [];
  private readonly given: Readonly<Record<string, JsonValue | undefined>>;

  constructor(value: JsonValue, known: readonly string[]) {
    if (!isJsonObject(value)) this.issues.push('the arguments must be an object');
    this.given = isJsonObject(value) ? value : {};
    for (const name of Object.keys(this.given)) {
      if (!known.includes(name)) {
        this.issues.push(`${name}: is not an argument; valid are ${known.join(', ')}`);
      }
    }
  }

  /** A text that must be there and not be blank. */
  text(name: string, meaning: string): string {
    const value = this.given[name];
    if (typeof value === 'string' && value.trim() !== '') return value;
    this.issues.push(`${name}: must be ${meaning}, not ${JSON.stringify(value ?? null)}`);
    return '';
  }

  flag(name: string, usual: boolean): boolean {
    const value = this.given[name] ?? usual;
    if (typeof value === 'boolean') return value;
    this.issues.push(`${name}: must be true or false, not ${JSON.stringify(value)}`);
    return usual;
  }

  /** A whole number within the bounds; where there is none, what is usual. */
  count<const Usual extends number | null>(
    name: string,
    {
      usual,
      least,
      most,
    }: { readonly usual: Usual; readonly least: number; readonly most: number },
  ): number | Usual {
    const value = this.given[name] ?? usual;
    if (value === null) return usual;
    if (
      typeof value === 'number' &&
      Number.isSafeInteger(value) &&
      value >= least &&
      value <= most
    ) {
      return value;
    }
    const bounds =
      most === Number.MAX_SAFE_INTEGER ? `from ${least} on` : `from ${least} to ${most}`;
    this.issues.push(`${name}: must be a whole number ${bounds}, not ${JSON.stringify(value)}`);
    return usual;
  }

  choice<T extends string>(name: string, values: readonly T[], usual: T): T {
    const given = this.given[name] ?? usual;
    const value = values.find((each) => each === given);
    if (value !== undefined) return value;
    this.issues.push(`${name}: must be one of ${values.join(', ')}, not ${JSON.stringify(given)}`);
    return usual;
  }

  /** The input, unless something was wrong. */
  result<I>(input: I): ValidationResult<I> {
    return this.issues.length > 0 ? { ok: false, issues: this.issues } : { ok: true, input };
  }
}
