import type { Sandbox } from '../../sys/sandbox/sandbox.ts';
import { openConfiguredSandbox } from '../setup/sandbox.ts';
import type { SessionConfig } from './session-config.ts';

/** Opens the sandbox of a session. */
export function openSessionSandbox(
  { state, loaded, roots, directory, onNotice }: SessionConfig,
  canWriteDataDir: boolean,
): Sandbox {
  const { environment, home } = state;
  const { kind, caches, commandProcesses } = loaded.config.sandbox;
  return openConfiguredSandbox({
    environment,
    home,
    kind,
    caches,
    commandProcesses,
    roots,
    dataDir: directory,
    canWriteDataDir,
    onNotice,
  });
}
