import { Approvals } from '../../../../trust/approvals.ts';
import type { TrustCommand } from '../../command.ts';
import { statePlace, type TrustContext } from '../context.ts';
import { addTrust } from './add.ts';
import { listTrust } from './list.ts';
import { revokeTrust } from './revoke.ts';

/** `muster trust …`. Throws UsageError. */
export async function trustCommand(command: TrustCommand, context: TrustContext): Promise<number> {
  const approvals = new Approvals(statePlace(command, context));
  switch (command.kind) {
    case 'trust-list':
      return listTrust(approvals, command, context);
    case 'trust-add':
      return addTrust(approvals, command, context);
    case 'trust-revoke':
      return revokeTrust(approvals, command, context);
  }
}
