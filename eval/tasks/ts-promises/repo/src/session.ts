import type { Callback, Store } from './store.ts';

export function withLock<T>(
  store: Store,
  name: string,
  work: (callback: Callback<T>) => void,
  callback: Callback<T>,
): void {
  store.read(`lock:${name}`, (error, text) => {
    if (error) return callback(error);
    if (text !== undefined) return callback(new Error(`${name} is locked`));
    store.write(`lock:${name}`, 'locked', (problem) => {
      if (problem) return callback(problem);
      work((failure, value) => {
        store.remove(`lock:${name}`, () => callback(failure, value));
      });
    });
  });
}
