import { errorMessage } from '../../base/errors.ts';
import type { Engine } from '../../engine/engine.ts';
import type { TaskStore } from '../../store/task-store.ts';
import type { ControlServer } from '../../control/server.ts';

export interface ControlChannelOptions {
  readonly engine: Engine;
  readonly store: TaskStore;
  readonly dataDir: string;
  /** Called with the reason if the channel cannot be opened. The run continues without it. */
  readonly onNotice: (line: string) => void;
}

/**
 * The delay of the opening, so that it does not slow down the first request. Nobody controls a run that is so young.
 */
const OPEN_AFTER_MS = 50;

/** The socket through which other terminals reach this process, from its first task on. */
export class ControlChannel {
  private readonly options: ControlChannelOptions;
  private timer: NodeJS.Timeout | null = null;
  private opening: Promise<ControlServer | null> = Promise.resolve(null);

  constructor(options: ControlChannelOptions) {
    this.options = options;
  }

  /** Opens the channel once, after a short delay. */
  open(): void {
    this.timer ??= setTimeout(() => {
      this.opening = openServer(this.options);
    }, OPEN_AFTER_MS).unref();
  }

  async close(): Promise<void> {
    if (this.timer !== null) clearTimeout(this.timer);
    const server = await this.opening;
    await server?.close();
  }
}

async function openServer(options: ControlChannelOptions): Promise<ControlServer | null> {
  const { engine, store, dataDir, onNotice } = options;
  try {
    const [{ controlSocketPath }, { openControlServer: openControl }, { createControlHandler }] =
      await Promise.all([
        import('../../control/path.ts'),
        import('../../control/server.ts'),
        import('./control-handler.ts'),
      ]);
    const path = controlSocketPath({ dataDir, token: store.token });
    return await openControl({ path, handle: createControlHandler(engine, store) });
  } catch (thrown) {
    onNotice(`other terminals can't reach this run: ${errorMessage(thrown)}`);
    return null;
  }
}
