import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { parseJsonLine } from '../../base/jsonl.ts';
import { StateFile } from './state-file.ts';

const VERSION = 1;

/** The format of a file that holds a list of entries. */
export interface ListFormat<T> {
  readonly fileName: string;
  /** The next step of a person who has moved a damaged file away, such as "sign in again". */
  readonly remedy: string;
  /** True if the file holds keys or passwords. It is not used then if others can read it. Default: false. */
  readonly isSecret?: boolean;
  /** The name of the list in the file. */
  readonly listName: string;
  /** Returns the identity of an entry. A new entry replaces an older one with the same key. */
  keyOf(entry: T): string;
  /** Reads an entry. Returns undefined for an object that is not a valid entry. */
  read(value: JsonObject): T | undefined;
  /** Describes an entry that cannot be read, by its position in the list (from 1). */
  describeInvalid(position: number): string;
}

/**
 * A list of entries in one file of the state directory. All methods throw MusterError for a file that is damaged or
 * not the user's own.
 */
export class StateList<T> {
  readonly #file: StateFile;
  readonly #format: ListFormat<T>;

  constructor(directory: string, format: ListFormat<T>) {
    const { fileName, remedy, isSecret = false } = format;
    this.#file = new StateFile(directory, fileName, remedy, { isSecret });
    this.#format = format;
  }

  get path(): string {
    return this.#file.path;
  }

  all(): readonly T[] {
    return this.#parse(this.#file.read());
  }

  /** Adds entries, which replace earlier ones of the same key. */
  add(entries: readonly T[]): void {
    const { keyOf } = this.#format;
    const keys = new Set(entries.map(keyOf));
    this.#change((before) => [...before.filter((each) => !keys.has(keyOf(each))), ...entries]);
  }

  /**
   * Replaces the entry of a key, or adds or removes it. No other process changes the file in between.
   *
   * @param change returns the new entry; undefined for none
   */
  update(key: string, change: (before: T | undefined) => T | undefined): void {
    const { keyOf } = this.#format;
    this.#change((all) => {
      const changed = change(all.find((each) => keyOf(each) === key));
      const others = all.filter((each) => keyOf(each) !== key);
      return changed === undefined ? others : [...others, changed];
    });
  }

  /** Removes entries, and returns them. */
  remove(shouldRemove: (entry: T) => boolean): readonly T[] {
    let removed: readonly T[] = [];
    this.#change((before) => {
      removed = before.filter(shouldRemove);
      return before.filter((each) => !shouldRemove(each));
    });
    return removed;
  }

  /** Removes the drafts of the file that processes have left. */
  removeDrafts(): void {
    this.#file.removeDrafts();
  }

  #change(change: (before: readonly T[]) => readonly T[]): void {
    const { listName } = this.#format;
    this.#file.update((text) => {
      const content = { version: VERSION, [listName]: change(this.#parse(text)) };
      return `${JSON.stringify(content, null, 2)}\n`;
    });
  }

  #parse(text: string | undefined): readonly T[] {
    if (text === undefined) return [];
    const { listName, read, describeInvalid } = this.#format;
    const value = parseJsonLine(text);
    if (!isJsonObject(value)) throw this.#file.damaged('it does not hold a JSON object');
    if (value['version'] !== VERSION) throw this.#file.damaged(`its version is not ${VERSION}`);
    const list = value[listName];
    if (!Array.isArray(list)) throw this.#file.damaged(`it has no list of ${listName}`);
    return list.map((each: JsonValue, index) => {
      const entry = isJsonObject(each) ? read(each) : undefined;
      if (entry === undefined) throw this.#file.damaged(describeInvalid(index + 1));
      return entry;
    });
  }
}
