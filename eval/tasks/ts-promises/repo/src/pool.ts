import type { Callback } from './store.ts';

export function forEach<T>(
  items: T[],
  limit: number,
  work: (item: T, callback: Callback<void>) => void,
  callback: Callback<void>,
): void {
  let index = 0;
  let running = 0;
  const start = () => {
    if (index >= items.length && running === 0) callback(null);
    while (running < limit && index < items.length) {
      running++;
      work(items[index++], (error) => {
        running--;
        if (error) callback(error);
        start();
      });
    }
  };
  start();
}
