/** Calls a function for each item, at most `jobs` at a time, in order. The first error ends the whole. */
export async function forEachInParallel<T>(
  items: readonly T[],
  jobs: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = [...items];
  const worker = async (): Promise<void> => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(jobs, items.length) }, worker));
}
