import { isJsonObject, type JsonValue } from '../../base/json.ts';
import { truncate } from '../../base/text.ts';
import type { ValidationResult } from '../../protocol/tool.ts';
import {
  ALWAYS_IGNORED,
  clampNote,
  isEmptyValue,
  createNameResolver,
  type ArgumentAliases,
} from '../../tools/shared/arguments.ts';

/** How the tools of other products that our names are aliases of call a task or a shell. */
export const TASK_ID_ALIASES: ArgumentAliases = {
  id: 'task_id',
  agent_id: 'task_id',
  bash_id: 'task_id',
  shell_id: 'task_id',
};

const WHOLE_NUMBER = /^-?\d+$/;
/** Code points of a wrong value that its message repeats. */
const SHOWN_VALUE = 80;

/**
 * Reads the arguments of a call field by field and gathers what is wrong with them. As in every other tool
 * `null` counts as absent, and so does an empty text or list where a field is optional; a number or boolean
 * that came as a string is read as what it says; a number out of range becomes the nearest one, with a note.
 */
export class ArgumentReader {
  readonly issues: string[] = [];
  private readonly notes: string[] = [];
  private readonly given = new Map<string, JsonValue>();

  constructor(value: JsonValue, known: readonly string[], aliases: ArgumentAliases = {}) {
    if (!isJsonObject(value)) this.issues.push('the arguments must be an object');
    const nameOf = createNameResolver(known, aliases);
    for (const [word, argument] of Object.entries(isJsonObject(value) ? value : {})) {
      const name = nameOf(word)?.name;
      if (name === undefined) {
        if (ALWAYS_IGNORED.includes(word)) continue;
        const valid = known.length === 0 ? 'there are none' : `valid are ${known.join(', ')}`;
        this.issues.push(`${truncate(word, SHOWN_VALUE)}: is not an argument; ${valid}`);
      } else if (argument === undefined || argument === null) {
        continue;
      } else if (this.given.has(name)) {
        this.issues.push(`${word}: means ${name}, which is given too; send one of them`);
      } else {
        this.given.set(name, argument);
      }
    }
  }

  /** A text that must be there and not be blank. */
  text(name: string, meaning: string): string {
    const value = this.given.get(name);
    if (typeof value === 'string' && value.trim() !== '') return value;
    this.wrong(name, meaning, value ?? null);
    return '';
  }

  /** A text that may be absent or empty; a list of words is one text, each word in quotes that needs them. */
  words(name: string): string {
    const value = this.given.get(name) ?? '';
    if (typeof value === 'string') return value;
    if (typeof value === 'number' || typeof value === 'boolean') return String(value);
    if (Array.isArray(value)) {
      const words = value.flatMap((each: JsonValue) =>
        typeof each === 'string' || typeof each === 'number' ? [quoted(String(each))] : [],
      );
      if (words.length === value.length) return words.join(' ');
    }
    this.wrong(name, 'a text', value);
    return '';
  }

  /** Texts that are not blank; where there are none, an empty list. */
  texts(name: string, { most }: { readonly most: number }): readonly string[] {
    const value = this.optional(name) ?? [];
    if (Array.isArray(value) && value.length <= most) {
      const texts = value.flatMap((each) =>
        typeof each === 'string' && each.trim() !== '' ? [each] : [],
      );
      if (texts.length === value.length) return texts;
    }
    this.wrong(name, `a list of at most ${most} texts`, value);
    return [];
  }

  flag(name: string, usual: boolean): boolean {
    const value = this.optional(name) ?? usual;
    if (typeof value === 'boolean') return value;
    if (value === 'true' || value === 'false') return value === 'true';
    this.wrong(name, 'true or false', value);
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
    const given = this.optional(name) ?? usual;
    if (given === null) return usual;
    const value = typeof given === 'string' && WHOLE_NUMBER.test(given) ? Number(given) : given;
    if (typeof value === 'number' && Number.isInteger(value)) {
      const nearest = Math.min(Math.max(value, least), most);
      if (nearest !== value) this.notes.push(clampNote(name, value, nearest));
      return nearest;
    }
    const bounds =
      most === Number.MAX_SAFE_INTEGER ? `from ${least} on` : `from ${least} to ${most}`;
    this.wrong(name, `a whole number ${bounds}`, given);
    return usual;
  }

  choice<T extends string>(name: string, values: readonly T[], usual: T): T {
    const given = this.optional(name) ?? usual;
    const value = values.find((each) => each === given);
    if (value !== undefined) return value;
    this.wrong(name, `one of ${values.join(', ')}`, given);
    return usual;
  }

  /** The input, unless something was wrong. */
  result<I>(input: I): ValidationResult<I> {
    const { issues, notes } = this;
    if (issues.length > 0) return { ok: false, issues };
    return { ok: true, input, ...(notes.length === 0 ? {} : { notes }) };
  }

  /** Returns the value of an optional field; undefined if it is absent or empty. */
  private optional(name: string): JsonValue | undefined {
    const value = this.given.get(name);
    return value === undefined || isEmptyValue(value) ? undefined : value;
  }

  private wrong(name: string, valid: string, value: JsonValue): void {
    const json = JSON.stringify(value);
    const shown = truncate(json, SHOWN_VALUE);
    this.issues.push(
      `${name}: must be ${valid}, not ${shown}${shown.length < json.length ? '…' : ''}`,
    );
  }
}

/** As a shell would need it to be one word. */
function quoted(word: string): string {
  return word !== '' && !/[\s"'\\]/.test(word) ? word : `"${word.replaceAll(/["\\]/g, '\\$&')}"`;
}
