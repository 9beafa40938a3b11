/** Creates a pool that runs a limited number of jobs at a time. */
export function createPool(limit) {
  let running = 0;
  const queue = [];

  async function run(job) {
    if (running >= limit) await new Promise((resolve) => queue.push(resolve));
    running += 1;
    const result = await job();
    running -= 1;
    queue.shift()?.();
    return result;
  }

  return {
    run,
    get running() {
      return running;
    },
    get waiting() {
      return queue.length;
    },
  };
}
