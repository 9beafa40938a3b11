import { deferred, type Deferred } from '../base/async.ts';

/**
 * Hands values from a source to iterators. An iterator gets the values that come after it was created. It holds the values that
 * its reader has not taken yet, without a limit.
 */
export class EventQueue<T> {
  readonly #readers = new Set<Reader<T>>();
  #end: { readonly error: unknown } | null = null;

  push(value: T): void {
    for (const reader of this.#readers) {
      reader.values.push(value);
      reader.changed.resolve();
    }
  }

  /** Ends all iterators after the values that they hold; with an error, they throw it then. */
  end(error?: unknown): void {
    this.#end = { error };
    for (const reader of this.#readers) reader.changed.resolve();
  }

  iterate(): AsyncIterableIterator<T> {
    const reader: Reader<T> = { values: [], changed: deferred<void>() };
    this.#readers.add(reader);
    const close = async (): Promise<IteratorReturnResult<undefined>> => {
      this.#readers.delete(reader);
      reader.values.length = 0;
      // A `next` may be waiting for a value.
      reader.changed.resolve();
      return { done: true, value: undefined };
    };
    const next = async (): Promise<IteratorResult<T, undefined>> => {
      while (reader.values.length === 0 && this.#end === null && this.#readers.has(reader)) {
        await reader.changed.promise;
        reader.changed = deferred<void>();
      }
      if (reader.values.length > 0) return { done: false, value: reader.values.shift() as T };
      const error = this.#readers.has(reader) ? this.#end?.error : undefined;
      await close();
      if (error !== undefined) throw error;
      return { done: true, value: undefined };
    };
    return {
      next,
      return: close,
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }
}

interface Reader<T> {
  readonly values: T[];
  changed: Deferred<void>;
}
