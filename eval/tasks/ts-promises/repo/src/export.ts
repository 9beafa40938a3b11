import type { Callback, Store } from './store.ts';
import { loadUser } from './users.ts';

export function exportAll(store: Store, write: (line: string) => void, callback: Callback<number>): void {
  store.keys((error, keys) => {
    if (error || !keys) return callback(error);
    const ids = keys.filter((key) => key.startsWith('user:')).map((key) => key.slice(5));
    let left = ids.length;
    for (const id of ids) {
      loadUser(store, id, (problem, user) => {
        if (problem) return callback(problem);
        write(JSON.stringify(user));
        if (--left === 0) callback(null, ids.length);
      });
    }
  });
}
