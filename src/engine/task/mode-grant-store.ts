import { isDeepStrictEqual } from 'node:util';
import type { EventBody } from '../../protocol/events/event.ts';
import type { ModeGrant } from '../../protocol/permission.ts';

/** The modes that the user grants to agents outside of the logs of tasks. */
export interface ModeGrantStore {
  /** The grants of files, variables and flags, and those answered for every conversation. */
  inForce(): readonly ModeGrant[];
  /**
   * Keeps one for every conversation, in force from now on, and returns it as it is kept. Throws MusterError when
   * it can't be kept; then it is not in force.
   */
  add(grant: ModeGrant): ModeGrant;
}

/** Records in the log of a conversation what flags of this start grant in it: they hold when it is resumed, too. */
export function flagGrantEvents(
  store: ModeGrantStore | null,
  recorded: readonly { readonly grant: ModeGrant }[] = [],
): readonly EventBody[] {
  const flags = store?.inForce().filter(({ source }) => source.kind === 'flag') ?? [];
  const fresh = flags.filter(
    (flag) => !recorded.some(({ grant }) => isDeepStrictEqual(grant, flag)),
  );
  return fresh.map((grant) => ({ type: 'mode.granted', grant, scope: 'task', by: 'user' }));
}
