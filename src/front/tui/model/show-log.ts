import type { Muster } from '../../../api/index.ts';
import type { PermissionMode } from '../../../protocol/permission.ts';
import { liveEventsOf } from './live-events.ts';
import { applyToTranscript } from './transcript.ts';
import { beginTree, type UiState } from './task-tree.ts';

/** Shows a conversation as its log tells it by now. Returns the mode that it has there. */
export function showLog(
  ui: UiState,
  store: Pick<Muster['store'], 'scan'>,
  id: string,
): PermissionMode | undefined {
  beginTree(ui, id);
  const isLive = liveEventsOf(store, id);
  let mode: PermissionMode | undefined;
  store.scan(id, (event) => {
    if (!isLive(event.seq)) return;
    applyToTranscript(ui.main, event);
    if (event.type === 'task.created') ({ mode } = event.spec.rights);
    else if (event.type === 'terms.changed') ({ mode } = event.rights);
  });
  return mode;
}
