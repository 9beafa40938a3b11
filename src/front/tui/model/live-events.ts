import type { Muster } from '../../../api/index.ts';
import { liveBefore } from '../../../protocol/rewound.ts';

/** Which events of a task's log no rewind has taken back, by their numbers. */
export function liveEventsOf(
  store: Pick<Muster['store'], 'scan'>,
  id: string,
): (seq: number) => boolean {
  const rewinds: { readonly seq: number; readonly to: number }[] = [];
  let last = -1;
  store.scan(id, (event) => {
    last = event.seq;
    if (event.type === 'task.rewound') rewinds.push({ seq: event.seq, to: event.to });
  });
  return liveBefore(rewinds, last);
}
