export type Callback<T> = (error: Error | null, value?: T) => void;

export interface Store {
  /** Gives undefined for a missing key. */
  read(key: string, callback: Callback<string | undefined>): void;
  write(key: string, text: string, callback: Callback<void>): void;
  remove(key: string, callback: Callback<void>): void;
  /** Gives the keys in any order. */
  keys(callback: Callback<string[]>): void;
}

export class MemoryStore implements Store {
  private entries = new Map<string, string>();

  read(key: string, callback: Callback<string | undefined>): void {
    setImmediate(() => callback(null, this.entries.get(key)));
  }

  write(key: string, text: string, callback: Callback<void>): void {
    setImmediate(() => {
      this.entries.set(key, text);
      callback(null);
    });
  }

  remove(key: string, callback: Callback<void>): void {
    setImmediate(() => {
      this.entries.delete(key);
      callback(null);
    });
  }

  keys(callback: Callback<string[]>): void {
    setImmediate(() => callback(null, [...this.entries.keys()]));
  }
}
