import { Worker } from 'node:worker_threads';
import { deferred, onAbort } from '../../base/async.ts';
import { ConcurrencyLimit } from '../../base/concurrency-limit.ts';
import { errorMessage, MusterError } from '../../base/errors.ts';
import type { ConversionReply, ConversionRequest, ConvertedPage, RawPage } from './page.ts';

/** The number of pages that are converted at the same time. A second worker starts only if the first has work. */
const MAX_WORKERS = 2;
/** The time in ms that the conversion of a page may take. Large pages take one or two seconds. */
const MAX_TIME_MS = 20_000;
/** The largest heap of a worker in MB. */
const MAX_HEAP_MB = 384;
/**
 * The number of bytes by which the memory of the process may grow during a conversion. A document can be made to
 * unpack to gigabytes outside of the worker's heap.
 */
const MAX_GROWTH_BYTES = 1_000_000_000;
const MEMORY_CHECK_MS = 200;
/** The time in ms after which a worker without work ends. */
const IDLE_MS = 15_000;

const WORKER_FILE = new URL(
  import.meta.url.endsWith('.ts') ? './worker.ts' : './page-converter.js',
  import.meta.url,
);

const limit = new ConcurrencyLimit(MAX_WORKERS);
/** The workers without work. They do not keep the process alive. */
const idle = new Map<Worker, NodeJS.Timeout>();

/** Limits of a conversion, for tests. */
export interface ConversionOptions {
  readonly signal: AbortSignal;
  /** The time in ms that the conversion may take. Default: 20 seconds. */
  readonly timeMs?: number;
}

/**
 * Converts a page to text that a model reads. The page is parsed in a worker with limits on its time and memory, so
 * that a hostile page can neither block nor exhaust this process.
 *
 * @throws MusterError LIMIT_EXCEEDED if the page takes too much time or memory, INTERNAL_ERROR if it cannot be
 *   converted; the reason of the signal if that aborts
 */
export async function convertPage(
  page: RawPage,
  options: ConversionOptions,
): Promise<ConvertedPage> {
  const { signal, timeMs = MAX_TIME_MS } = options;
  return await limit.run(async () => {
    signal.throwIfAborted();
    const worker = takeWorker();
    try {
      const converted = await runInWorker(worker, page, { signal, timeMs });
      keepWorker(worker);
      return converted;
    } catch (thrown) {
      // It may still be at work on the page.
      void worker.terminate();
      throw thrown;
    }
  });
}

function takeWorker(): Worker {
  for (const [worker, timer] of idle) {
    clearTimeout(timer);
    idle.delete(worker);
    worker.ref();
    return worker;
  }
  const worker = new Worker(WORKER_FILE, {
    name: 'page-converter',
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB, maxYoungGenerationSizeMb: 64 },
  });
  worker.on('exit', () => {
    clearTimeout(idle.get(worker));
    idle.delete(worker);
  });
  return worker;
}

function keepWorker(worker: Worker): void {
  worker.unref();
  const timer = setTimeout(() => {
    idle.delete(worker);
    void worker.terminate();
  }, IDLE_MS);
  timer.unref();
  idle.set(worker, timer);
}

/** Sends a page to a worker and waits for the answer, or for the end of the worker's time. */
async function runInWorker(
  worker: Worker,
  { bytes, contentType, url }: RawPage,
  { signal, timeMs }: Required<ConversionOptions>,
): Promise<ConvertedPage> {
  const { promise, resolve, reject } = deferred<ConvertedPage>();
  const tooLarge = (what: string): MusterError =>
    new MusterError(
      'LIMIT_EXCEEDED',
      `The page ${url.href} takes too much ${what} to convert. Fetch a smaller page instead.`,
    );
  const onMessage = (reply: ConversionReply): void => {
    if ('page' in reply) resolve(reply.page);
    else
      reject(
        new MusterError(
          'INTERNAL_ERROR',
          `The page ${url.href} cannot be converted: ${reply.error}`,
        ),
      );
  };
  const onError = (thrown: unknown): void => {
    const isMemory =
      thrown instanceof Error && 'code' in thrown && thrown.code === 'ERR_WORKER_OUT_OF_MEMORY';
    reject(
      isMemory
        ? tooLarge('memory')
        : new MusterError(
            'INTERNAL_ERROR',
            `The page ${url.href} cannot be converted: ${errorMessage(thrown)}`,
          ),
    );
  };
  const onExit = (): void => onError(new Error('the converter ended'));
  worker.on('message', onMessage).on('error', onError).on('exit', onExit);
  const removeAbort = onAbort(signal, () => reject(signal.reason));
  const timer = setTimeout(() => reject(tooLarge('time')), timeMs);
  const memory = process.memoryUsage.rss();
  const check = setInterval(() => {
    if (process.memoryUsage.rss() - memory > MAX_GROWTH_BYTES) reject(tooLarge('memory'));
  }, MEMORY_CHECK_MS);
  const request: ConversionRequest = { bytes, contentType, url: url.href };
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has no origin
  worker.postMessage(request);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    clearInterval(check);
    removeAbort();
    worker.off('message', onMessage).off('error', onError).off('exit', onExit);
  }
}
