import { resolve } from 'node:path';
import {
  loadSecrets,
  loadSessions,
  loadStoredTasks,
  type Session,
  type Tasks,
} from '../../api/index.ts';
import { UsageError } from '../../base/errors.ts';
import type { HttpAddress } from '../../sys/http/http-address.ts';
import { printText } from '../../sys/print.ts';
import type { CommandContext } from './command.ts';
import { findPageOpener, openPage } from './open-page.ts';
import { printNotice } from './output.ts';
import { toSessionOptions } from './run-prompt.ts';
import type { SessionFlags } from './run-options.ts';

export interface WebOptions {
  readonly session: SessionFlags;
  readonly action: ServeAction | ExportAction;
}

interface ServeAction {
  readonly kind: 'serve';
  readonly address: HttpAddress;
  /** True if the next ports are tried when the port is in use. */
  readonly triesNextPorts: boolean;
  /** Whether the page is opened in a browser, if stdout is a terminal with a screen. */
  readonly opensBrowser: boolean;
  /** The value of `--notify`; null if nobody is notified of questions. */
  readonly notify: string | null;
}

interface ExportAction {
  readonly kind: 'export';
  readonly directory: string;
  /** The id of a task, or its beginning; null for the newest conversation. */
  readonly id: string | null;
}

/** Serves the page until a signal ends Muster, or writes it to a directory. Resolves to the exit code. */
export async function runWeb(
  { session, action }: WebOptions,
  context: Pick<CommandContext, 'environment'>,
): Promise<number> {
  const { openTasks } = await loadStoredTasks();
  const { dataDir } = session;
  const tasks = openTasks({
    ...(dataDir === null ? {} : { dataDir: resolve(dataDir) }),
    // The directory is created, so that the page shows the first task of all.
    create: action.kind === 'serve',
    onNotice: printNotice,
  });
  try {
    if (action.kind === 'serve') return await servePage(tasks, { session, action }, context);
    await exportPage(tasks, action, context);
    return 0;
  } finally {
    await tasks.close();
  }
}

async function servePage(
  tasks: Tasks,
  { session: flags, action }: { readonly session: SessionFlags; readonly action: ServeAction },
  { environment }: Pick<CommandContext, 'environment'>,
): Promise<number> {
  const { address, triesNextPorts, opensBrowser, notify } = action;
  const [{ serveWeb }, { endOnSignals }, notifier] = await Promise.all([
    import('../web/serve-web.ts'),
    import('../headless/run-to-end.ts'),
    notify === null ? null : createNotifier(notify, environment),
  ]);
  let opened: Promise<Session> | null = null;
  // A session that could not be opened has been reported to the page.
  const withSession = async (work: (session: Session) => Promise<void>): Promise<void> =>
    await opened?.then(work, () => {});
  const signals = endOnSignals({
    stop: (request) => withSession((session) => session.stop(request)),
  });
  try {
    await serveWeb({
      tasks,
      address,
      triesNextPorts,
      openSession: () => (opened = openWorkSession(flags)),
      onAsked: (question) => notifier?.notify(question),
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
    await withSession((session) => session.close());
  }
}

/** Opens the session for the tasks that start or continue from the page. */
async function openWorkSession(flags: SessionFlags): Promise<Session> {
  const { openSession } = await loadSessions();
  return openSession({
    ...(await toSessionOptions(flags)),
    // The page shows what is in the logs.
    log: true,
    questions: 'wait',
    attended: true,
    preload: false,
    mainAgent: null,
  });
}

async function createNotifier(target: string, environment: CommandContext['environment']) {
  const [{ Notifier, parseNotifyTarget }, { createHttpFetch }] = await Promise.all([
    import('../web/notifier.ts'),
    import('../../sys/http/http-fetch.ts'),
  ]);
  return new Notifier({
    target: parseNotifyTarget(target),
    fetch: createHttpFetch(environment),
    onNotice: printNotice,
  });
}

async function exportPage(
  tasks: Tasks,
  { directory, id }: ExportAction,
  { environment }: Pick<CommandContext, 'environment'>,
): Promise<void> {
  const [{ exportRun }, { PAGE_DIRECTORY }, { createEnvironmentRedactor }] = await Promise.all([
    import('../web/export-run.ts'),
    import('../web/page-files.ts'),
    loadSecrets(),
  ]);
  const page = await exportRun({
    tasks,
    id: id ?? findNewest(tasks),
    directory: resolve(directory),
    pageDirectory: PAGE_DIRECTORY,
    redact: createEnvironmentRedactor(environment),
  });
  printText(`${page}\n`);
}

function findNewest(tasks: Tasks): string {
  const newest = tasks.list().find(({ parent }) => parent === null);
  if (newest !== undefined) return newest.id;
  throw new UsageError('there is no task to export');
}
