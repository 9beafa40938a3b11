import { UsageError } from '../../base/errors.ts';
import type { TrustCommand } from './command.ts';
import type { FlagReader } from './flag-reader.ts';

/** The arguments of `muster trust …`. Throws UsageError. */
export function parseTrust(
  kind: TrustCommand['kind'],
  operands: readonly string[],
  flags: FlagReader,
): TrustCommand {
  const common = {
    json: flags.given('json'),
    cwd: flags.text('cwd'),
    dataDir: flags.text('data-dir'),
  };
  switch (kind) {
    case 'trust-list':
      return { kind, ...common };
    case 'trust-add':
      return { kind, ...common, paths: operands, yes: flags.given('yes') };
    case 'trust-revoke': {
      const all = flags.given('all');
      if (all !== (operands.length === 0)) {
        throw new UsageError(
          'name what is to be revoked, or give --all: muster trust revoke PATH…',
        );
      }
      return { kind, ...common, names: all ? null : operands };
    }
  }
}
