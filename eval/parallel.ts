/**
 * Calls a function for each item, at most `jobs` at a time, in order. After an error no further item is begun; when those
 * at work have ended, the first error is thrown.
 */
export async function forEachInParallel<T>(
  items: readonly T[],
  jobs: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = [...items];
  const errors: unknown[] = [];
  const worker = async (): Promise<void> => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) {
      try {
        await work(item);
      } catch (thrown) {
        errors.push(thrown);
        queue.length = 0;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(jobs, items.length) }, worker));
  if (errors.length > 0) throw errors[0];
}
