import { errorMessage } from '../../base/errors.ts';
import type { Engine } from '../../engine/engine.ts';
import type { TaskStore } from '../../store/task-store.ts';
import type { ControlServer } from '../../control/server.ts';

export interface ControlChannelOptions {
  readonly engine: Engine;
  readonly store: TaskStore;
  readonly dataDir: string;
  /** Called with the reason if the channel cannot be opened. The session continues without the channel. */
  readonly onNotice: (line: string) => void;
}

/**
 * The delay before the socket is opened, so that opening it does not slow down the first request. Nobody needs to
 * control a session that has just started.
 */
const OPEN_DELAY_MS = 50;

/** The control socket, through which other terminals reach this process. It is opened when the first task starts. */
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
    }, OPEN_DELAY_MS).unref();
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
    const [{ controlSocketPath }, { openControlServer }, { createControlHandler }] =
      await Promise.all([
        import('../../control/path.ts'),
        import('../../control/server.ts'),
        import('./control-handler.ts'),
      ]);
    const path = controlSocketPath({ dataDir, token: store.token });
    return await openControlServer({ path, handle: createControlHandler(engine, store) });
  } catch (thrown) {
    onNotice(`other terminals cannot control this session: ${errorMessage(thrown)}`);
    return null;
  }
}
