import type { ToolOutput, ValidationResult } from '../../protocol/tool.ts';
import { type JsonObject, isJsonObject, type JsonValue } from '../../base/json.ts';
import type { MusterError } from '../../base/errors.ts';
import { failure } from '../../tools/shared/output.ts';
import { truncate } from '../../base/text.ts';
import {
  ALWAYS_IGNORED,
  clampNote,
  isEmptyValue,
  createNameResolver,
  type ArgumentAliases,
} from '../../tools/shared/arguments.ts';

/** The names for the id of a task or shell in similar tools of other products. */
export const TASK_ID_ALIASES: ArgumentAliases = {
  id: 'task_id',
  agent_id: 'task_id',
  bash_id: 'task_id',
  shell_id: 'task_id',
};

const WHOLE_NUMBER = /^-?\d+$/;
/** The maximum length, in code points, of a wrong value in a message. */
const MAX_SHOWN_VALUE = 80;

/**
 * Reads the arguments of a call one by one and gathers the issues. The rules are those of every other tool: `null`
 * counts as absent, and so does an empty text or list in an optional argument. A number or boolean may be given as a
 * string. A number out of range becomes the nearest allowed number, with a note.
 */
export class ArgumentReader {
  readonly issues: string[] = [];
  private readonly notes: string[] = [];
  private readonly values = new Map<string, JsonValue>();

  constructor(value: JsonValue, known: readonly string[], aliases: ArgumentAliases = {}) {
    if (!isJsonObject(value)) this.issues.push('the arguments must be an object');
    const resolveName = createNameResolver(known, aliases);
    for (const [key, argument] of Object.entries(isJsonObject(value) ? value : {})) {
      const name = resolveName(key)?.name;
      if (name === undefined) {
        if (ALWAYS_IGNORED.includes(key)) continue;
        const valid = known.length === 0 ? 'there are none' : `valid are ${known.join(', ')}`;
        this.issues.push(`${truncate(key, MAX_SHOWN_VALUE)}: is not an argument; ${valid}`);
      } else if (argument === undefined || argument === null) {
        continue;
      } else if (this.values.has(name)) {
        this.issues.push(`${key}: means ${name}, which is given too; send one of them`);
      } else {
        this.values.set(name, argument);
      }
    }
  }

  /**
   * Reads a required text that must not be blank.
   *
   * @param meaning describes the argument in the issue
   */
  text(name: string, meaning: string): string {
    const value = this.values.get(name);
    if (typeof value === 'string' && value.trim() !== '') return value;
    this.addWrongValue(name, meaning, value ?? null);
    return '';
  }

  /**
   * Reads an optional text; null if it is absent or empty.
   *
   * @param meaning describes the argument in the issue
   */
  optionalText(name: string, meaning: string): string | null {
    const value = this.getOptional(name) ?? null;
    if (value === null || typeof value === 'string') return value;
    this.addWrongValue(name, meaning, value);
    return null;
  }

  /** Reads an optional command line. A list of words becomes one text, with quotes around words that need them. */
  commandLine(name: string): string {
    const value = this.values.get(name) ?? '';
    if (typeof value === 'string') return value;
    if (typeof value === 'number' || typeof value === 'boolean') return String(value);
    if (Array.isArray(value)) {
      const words = value.flatMap((each: JsonValue) =>
        typeof each === 'string' || typeof each === 'number' ? [quoteWord(String(each))] : [],
      );
      if (words.length === value.length) return words.join(' ');
    }
    this.addWrongValue(name, 'a text', value);
    return '';
  }

  /** Reads an optional list of texts that are not blank. */
  texts(name: string, { max }: { readonly max: number }): readonly string[] {
    const value = this.getOptional(name) ?? [];
    if (Array.isArray(value) && value.length <= max) {
      const texts = value.flatMap((each) =>
        typeof each === 'string' && each.trim() !== '' ? [each] : [],
      );
      if (texts.length === value.length) return texts;
    }
    this.addWrongValue(name, `a list of at most ${max} texts`, value);
    return [];
  }

  /** Reads an optional boolean. */
  flag(name: string, fallback: boolean): boolean {
    const value = this.getOptional(name) ?? fallback;
    if (typeof value === 'boolean') return value;
    if (value === 'true' || value === 'false') return value === 'true';
    this.addWrongValue(name, 'true or false', value);
    return fallback;
  }

  /** Reads an optional whole number within bounds. */
  count<const Fallback extends number | null>(
    name: string,
    {
      fallback,
      min,
      max,
    }: { readonly fallback: Fallback; readonly min: number; readonly max: number },
  ): number | Fallback {
    const given = this.getOptional(name) ?? fallback;
    if (given === null) return fallback;
    const value = typeof given === 'string' && WHOLE_NUMBER.test(given) ? Number(given) : given;
    if (typeof value === 'number' && Number.isInteger(value)) {
      const nearest = Math.min(Math.max(value, min), max);
      if (nearest !== value) this.notes.push(clampNote(name, value, nearest));
      return nearest;
    }
    const range = max === Number.MAX_SAFE_INTEGER ? `from ${min} on` : `from ${min} to ${max}`;
    this.addWrongValue(name, `a whole number ${range}`, given);
    return fallback;
  }

  /** Reads an optional argument with a fixed set of values. */
  choice<T extends string>(name: string, values: readonly T[], fallback: T): T {
    const given = this.getOptional(name) ?? fallback;
    const value = values.find((each) => each === given);
    if (value !== undefined) return value;
    this.addWrongValue(name, `one of ${values.join(', ')}`, given);
    return fallback;
  }

  /** Returns `input` with the notes, or the issues if there are any. */
  result<I>(input: I): ValidationResult<I> {
    const { issues, notes } = this;
    if (issues.length > 0) return { ok: false, issues };
    return { ok: true, input, ...(notes.length === 0 ? {} : { notes }) };
  }

  /** Returns the value of an optional argument; undefined if it is absent or empty. */
  private getOptional(name: string): JsonValue | undefined {
    const value = this.values.get(name);
    return value === undefined || isEmptyValue(value) ? undefined : value;
  }

  private addWrongValue(name: string, valid: string, value: JsonValue): void {
    const json = JSON.stringify(value);
    const shown = truncate(json, MAX_SHOWN_VALUE);
    this.issues.push(
      `${name}: must be ${valid}, not ${shown}${shown.length < json.length ? '…' : ''}`,
    );
  }
}

/** Builds the JSON Schema of a tool's arguments. */
export function argumentsSchema(required: readonly string[], properties: JsonObject): JsonObject {
  return { type: 'object', properties, required };
}

/** Builds the output of a call that failed with an error. */
export function failedCall(tool: string, { code, message }: MusterError): ToolOutput {
  return failure(code, `${tool}: ${message}`);
}

/** Quotes a word if a shell would otherwise split or change it. */
function quoteWord(word: string): string {
  return word !== '' && !/[\s"'\\]/.test(word) ? word : `"${word.replaceAll(/["\\]/g, '\\$&')}"`;
}
