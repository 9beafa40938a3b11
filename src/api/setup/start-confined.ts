import type { CleanupResult } from '../../base/cleanup-result.ts';
import { startServerProgram, type ServerProcess } from '../../sys/processes/server-process.ts';
import type { CommandToConfine, ConfinedCommand, Sandbox } from '../../sys/sandbox/sandbox.ts';
import { protectedFileNotes } from '../../tools/bash/sandbox-notes.ts';

/** The interval between two searches for protected files that a running program has created. */
const CLEANUP_INTERVAL_MS = 1_000;

/**
 * Starts a program in the sandbox as a server. Protected files that it creates are taken away while it runs and at its
 * end, and then everything that was created for it is released. Call it only if the sandbox works.
 *
 * @param report receives a sentence about each protected file that was taken away
 */
export function startConfinedServer(
  sandbox: Sandbox,
  command: Omit<CommandToConfine, 'stderr'>,
  report: (note: string) => void,
): ServerProcess {
  const { cwd, confinement } = command;
  const confined = sandbox.confine({ ...command, stderr: 'command' });
  const { file, args, env, monitored, startCheck } = confined;
  const { maxProcesses } = sandbox;
  const server = startServerProgram({ file, args, cwd, env, monitored, startCheck, maxProcesses });
  return releaseAtEnd(server, confined, (settled) => {
    for (const note of protectedFileNotes(settled, { cwd, roots: confinement.roots })) report(note);
  });
}

function releaseAtEnd(
  server: ServerProcess,
  confined: ConfinedCommand,
  report: (settled: CleanupResult) => void,
): ServerProcess {
  const timer = setInterval(() => void confined.settle().then(report), CLEANUP_INTERVAL_MS);
  timer.unref();
  const settle = async (): Promise<void> => {
    clearInterval(timer);
    try {
      report(await confined.settle());
    } finally {
      confined.release();
    }
  };
  const settled = server.ended.then(settle, settle);
  const end = async (): Promise<void> => {
    await server.end();
    await settled;
  };
  return { ...server, end };
}
