import { errorMessage } from '../../base/errors.ts';
import { openMemoryStore } from '../../store/memory-store.ts';
import { openDataDirectory } from '../setup/data-dir.ts';
import { openConfiguredSandbox } from '../setup/sandbox.ts';
import { EventRouter } from './event-router.ts';
import { SignalRouter } from './signal-router.ts';
import type { SessionConfig } from './session-config.ts';

/**
 * Opens the store, the listeners of its events, and the sandbox. Without `keepsRecords` the session leaves nothing
 * on disk. Throws UsageError for a data directory that cannot be used.
 */
export function openSessionStorage(
  { state, roots, directory, loaded: { config }, redact, onNotice }: SessionConfig,
  { keepsRecords }: { readonly keepsRecords: boolean },
) {
  const { durability } = config.store;
  const store = keepsRecords
    ? openDataDirectory({ dataDir: directory, durability, redact, onProblem: onNotice })
    : openMemoryStore({ redact });
  const onFault = (thrown: unknown) => onNotice(`a listener broke: ${errorMessage(thrown)}`);
  const { kind, caches } = config.sandbox;
  const { environment, home } = state;
  const sandbox = openConfiguredSandbox({
    environment,
    home,
    kind,
    caches,
    roots,
    dataDir: directory,
    keepsRecords,
    onNotice,
  });
  return { store, router: new EventRouter(onFault), signals: new SignalRouter(onFault), sandbox };
}
