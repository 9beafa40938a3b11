import { dropMissing } from '../../base/drop-missing.ts';
import { loadSessions } from '../../api/index.ts';
import { reserveStdout } from '../../sys/print.ts';
import { printNotice } from './output.ts';
import { toSessionOptions } from './run-prompt.ts';
import type { SessionFlags } from './run-options.ts';

const NO_PROGRAM_PARTS = { tools: [], models: [], context: [], hooks: [] };

/** Serves an ACP client on stdin and stdout until it closes stdin or a signal ends Muster. Resolves to the exit code. */
export async function runAcpServer(flags: SessionFlags): Promise<number> {
  const output = reserveStdout();
  const [{ openSession }, options, { endOnSignals }, { serveAcp }] = await Promise.all([
    loadSessions(),
    toSessionOptions(flags),
    import('../headless/run-to-end.ts'),
    import('../acp/serve-acp.ts'),
  ]);
  const sessions = new Set<Awaited<ReturnType<typeof openSession>>>();
  const signals = endOnSignals({
    stop: async (request) => {
      await Promise.all([...sessions].map((session) => session.stop(request)));
    },
  });
  try {
    await serveAcp({
      input: process.stdin,
      output,
      openSession: async ({ cwd, addDirs, servers, editor, onNotice }) => {
        const session = await openSession({
          ...options,
          cwd,
          addDirs: [...(options.addDirs ?? []), ...addDirs],
          questions: 'wait',
          attended: true,
          onNotice,
          ...dropMissing({ editor }),
          ...(Object.keys(servers).length === 0
            ? {}
            : { program: { ...NO_PROGRAM_PARTS, config: { mcp: servers } } }),
        });
        sessions.add(session);
        return session;
      },
      dataDir: options.dataDir ?? null,
      onNotice: printNotice,
      signal: signals.signal,
    });
    return signals.code() ?? 0;
  } finally {
    signals.stop();
  }
}
