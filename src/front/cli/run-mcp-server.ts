import { loadSessions } from '../../api/index.ts';
import { reserveStdout } from '../../sys/print.ts';
import { printNotice } from './output.ts';
import { reportOffline, toSessionOptions } from './run-prompt.ts';
import type { SessionFlags } from './run-options.ts';

/** Serves an MCP client on stdin and stdout until it closes stdin or a signal ends Muster. Resolves to the exit code. */
export async function runMcpServer(
  flags: SessionFlags,
  { hasToolPerAgent }: { readonly hasToolPerAgent: boolean },
): Promise<number> {
  const output = reserveStdout();
  const [{ openSession }, options, { endOnSignals }, { serveTasks }] = await Promise.all([
    loadSessions(),
    toSessionOptions(flags),
    import('../headless/run-to-end.ts'),
    import('../mcp-server/serve.ts'),
  ]);
  const session = await openSession({ ...options, questions: 'wait' });
  const signals = endOnSignals(session);
  try {
    reportOffline(session);
    await serveTasks(session, {
      input: process.stdin,
      output,
      hasToolPerAgent,
      onNotice: printNotice,
      signal: signals.signal,
    });
    return signals.code() ?? 0;
  } finally {
    signals.stop();
    await session.close();
  }
}
