import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { onTestFinished } from 'vitest';
import { openSession } from '../../../src/api/open-session.ts';
import { openTasks } from '../../../src/api/tasks/tasks.ts';
import type { Session, SessionOptions, Tasks } from '../../../src/api/index.ts';
import { serveWeb, type ServeWebOptions } from '../../../src/front/web/serve-web.ts';
import { startFakeModel, type FakeModel } from '../../../src/testing/index.ts';
import { expectNoViolations } from '../../no-violations.ts';
import { logIn, type PageServer } from './client.ts';

/** A data directory with a fake model, in which sessions run tasks and servers show them. */
export interface PageWorld {
  readonly directory: string;
  readonly dataDir: string;
  readonly model: FakeModel;
  readonly notices: string[];
  openSession(options?: SessionOptions): Promise<Session>;
  openTasks(): Tasks;
  /** Starts a server on a free port. Resolves when it listens. */
  serve(options?: Partial<ServeWebOptions>): Promise<ServedPage>;
}

export interface ServedPage extends PageServer {
  readonly tasks: Tasks;
  stop(): Promise<void>;
}

/** Opens a world that is gone at the end of the test. */
export async function openPageWorld(
  script: Parameters<typeof startFakeModel>[0] = {},
): Promise<PageWorld> {
  const model = await startFakeModel(script);
  const directory = mkdtempSync(join(tmpdir(), 'muster-test-'));
  const dataDir = join(directory, 'data');
  const environment = { HOME: directory, ...model.env('anthropic') };
  const notices: string[] = [];
  const closing: (() => Promise<void>)[] = [];
  onTestFinished(async () => {
    for (const close of closing.toReversed()) await close();
    await model.close();
    rmSync(directory, { recursive: true, force: true });
    expectNoViolations(model);
  });
  const world: PageWorld = {
    directory,
    dataDir,
    model,
    notices,
    openSession: async (options) => {
      const session = await openSession({
        cwd: directory,
        dataDir,
        environment,
        questions: 'wait',
        ...options,
      });
      closing.push(() => session.close());
      return session;
    },
    openTasks: () => {
      const tasks = openTasks({ dataDir, create: true, environment });
      closing.push(() => tasks.close());
      return tasks;
    },
    serve: async (options) => {
      const tasks = world.openTasks();
      const ending = new AbortController();
      const listening = Promise.withResolvers<string>();
      const served = serveWeb({
        tasks,
        openSession: () => world.openSession(),
        onAsked: () => {},
        address: { host: '127.0.0.1', port: 0 },
        triesNextPorts: false,
        onListening: ({ url }) => listening.resolve(url),
        onNotice: (line) => notices.push(line),
        signal: ending.signal,
        pageDirectory: pathToFileURL(`${directory}/page/`),
        ...options,
      });
      const stop = async (): Promise<void> => {
        ending.abort();
        await served;
      };
      closing.push(stop);
      const url = await Promise.race([listening.promise, served.then(() => '')]);
      return { ...(await logIn(url)), tasks, stop };
    },
  };
  return world;
}
