import { retry } from './retry.ts';
import type { Callback, Store } from './store.ts';

export interface User {
  id: string;
  name: string;
}

export class NotFoundError extends Error {}

export function loadUser(store: Store, id: string, callback: Callback<User>): void {
  retry(
    3,
    (done: Callback<string | undefined>) => store.read(`user:${id}`, done),
    (error, text) => {
      if (error) return callback(error);
      if (text === undefined) return callback(new NotFoundError(`no user ${id}`));
      callback(null, JSON.parse(text));
    },
  );
}

export function saveUser(store: Store, user: User, callback: Callback<void>): void {
  retry(3, (done: Callback<void>) => store.write(`user:${user.id}`, JSON.stringify(user), done), callback);
}
