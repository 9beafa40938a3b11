import { after } from './clock.ts';
import type { Callback } from './store.ts';

export function retry<T>(times: number, work: (callback: Callback<T>) => void, callback: Callback<T>): void {
  let attempt = 1;
  const next = () =>
    work((error, value) => {
      if (error && attempt < times) {
        after(10 * attempt++, next);
      } else {
        callback(error, value);
      }
    });
  next();
}
