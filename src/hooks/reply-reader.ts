import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';

/** Reads the fields of an object from a hook, and keeps what is wrong with them. */
export class ReplyReader {
  /** Clauses such as `reason is not a text`. */
  readonly problems: string[] = [];
  readonly #value: JsonObject;
  readonly #prefix: string;
  readonly #read = new Set<string>();

  constructor(value: JsonObject, prefix: string) {
    this.#value = value;
    this.#prefix = prefix;
  }

  text(name: string): string | undefined {
    return this.#take(name, 'a text', (value) => typeof value === 'string');
  }

  flag(name: string): boolean | undefined {
    return this.#take(name, 'true or false', (value) => typeof value === 'boolean');
  }

  object(name: string): JsonObject | undefined {
    return this.#take(name, 'an object', isJsonObject);
  }

  choice<T extends string>(name: string, choices: readonly T[]): T | undefined {
    return this.#take(name, `one of ${choices.join(', ')}`, (value): value is T =>
      choices.some((choice) => choice === value),
    );
  }

  /** Lists the names of the fields that nobody has read. */
  unread(): readonly string[] {
    return Object.keys(this.#value).filter((name) => !this.#read.has(name));
  }

  #take<T extends JsonValue>(
    name: string,
    expected: string,
    accepts: (value: JsonValue) => value is T,
  ): T | undefined {
    this.#read.add(name);
    const value = this.#value[name];
    if (value === undefined || accepts(value)) return value;
    this.problems.push(`${this.#prefix}${name} is not ${expected}`);
    return undefined;
  }
}
