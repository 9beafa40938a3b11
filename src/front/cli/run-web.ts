import { resolve } from 'node:path';
import { loadStoredTasks } from '../../api/index.ts';
import type { HttpAddress } from '../../sys/http/http-address.ts';
import { printText } from '../../sys/print.ts';
import type { CommandContext } from './command.ts';
import { findPageOpener, openPage } from './open-page.ts';
import { printNotice } from './output.ts';
import type { SessionFlags } from './run-options.ts';

export interface WebOptions {
  readonly session: SessionFlags;
  readonly address: HttpAddress;
  /** True if the next ports are tried when the port is in use. */
  readonly triesNextPorts: boolean;
  /** Whether the page is opened in a browser, if stdout is a terminal with a screen. */
  readonly opensBrowser: boolean;
}

/** Serves the page until a signal ends Muster. Resolves to the exit code. */
export async function runWeb(
  { session, address, triesNextPorts, opensBrowser }: WebOptions,
  { environment }: Pick<CommandContext, 'environment'>,
): Promise<number> {
  const [{ openTasks }, { serveWeb }, { endOnSignals }] = await Promise.all([
    loadStoredTasks(),
    import('../web/serve-web.ts'),
    import('../headless/run-to-end.ts'),
  ]);
  const { dataDir } = session;
  const tasks = openTasks({
    ...(dataDir === null ? {} : { dataDir: resolve(dataDir) }),
    // The directory is created, so that the first task of all is seen.
    create: true,
    onNotice: printNotice,
  });
  const signals = endOnSignals({ stop: async () => {} });
  try {
    await serveWeb({
      tasks,
      address,
      triesNextPorts,
      onNotice: printNotice,
      signal: signals.signal,
      onListening: ({ url, ticketUrl }) => {
        printText(`${url}\n`);
        const opener = findPageOpener(process.platform, environment);
        if (!opensBrowser || opener === null || process.stdout.isTTY !== true) return;
        openPage(opener, ticketUrl, () => printNotice('the browser could not be opened'));
      },
    });
    return signals.code() ?? 0;
  } finally {
    signals.stop();
    await tasks.close();
  }
}
