import { dropMissing } from '../../base/drop-missing.ts';
import { isDataDirectoryChosen } from '../../config/paths.ts';
import { openMemoryStore } from '../../store/memory-store.ts';
import { openSessionStore } from '../setup/data-dir.ts';
import type { SessionOptions } from '../setup/options.ts';
import type { ProgramParts, ProgramStorePart } from '../setup/program-parts.ts';
import { createCommandChanges } from './command-changes.ts';
import { EventRouter, SignalRouter } from './event-router.ts';
import type { SessionConfig } from './session-config.ts';
import { openSessionSandbox } from './session-sandbox.ts';

/**
 * Opens the store, the listeners of its events, and the sandbox. Throws UsageError for a data directory that cannot be
 * used.
 */
export async function openStorage(session: SessionConfig, { log }: Pick<SessionOptions, 'log'>) {
  const { state, directory, loaded, program, redact, onNotice } = session;
  const { durability } = loaded.config.store;
  const clock = dropMissing({ clock: program.clock });
  const stored =
    log === false
      ? null
      : openSessionStore(
          { dataDir: directory, durability, redact, onProblem: onNotice, ...clock },
          { isRequired: log === true || isDataDirectoryChosen(state, state.dataDir), onNotice },
        );
  const canWriteDataDir = stored !== null;
  const own =
    program.store === undefined
      ? null
      : await openProgramStore(program.store, { redact, ...clock });
  const store = stored ?? own ?? openMemoryStore({ redact, ...clock });
  const onFault = (thrown: unknown) => session.onFault(null, thrown);
  const sandbox = openSessionSandbox(session, canWriteDataDir);
  return {
    store,
    /** Reads a tree from the store of the program. */
    load: async (id: string, options: { readonly takesOver: boolean }) =>
      await own?.load(id, options),
    /** Without it the session leaves nothing on disk. */
    canWriteDataDir,
    changes: createCommandChanges(directory),
    router: new EventRouter(onFault),
    signals: new SignalRouter(onFault),
    sandbox,
  };
}

async function openProgramStore(
  { port, onCancelRequested }: ProgramStorePart,
  options: Pick<SessionConfig, 'redact'> & Pick<ProgramParts, 'clock'>,
) {
  const { ProgramStore } = await import('../../store/program-store.ts');
  return new ProgramStore(port, { ...options, onCancelRequested });
}
