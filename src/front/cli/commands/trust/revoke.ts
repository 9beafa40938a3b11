import type { Approvals } from '../../../../api/trust/approvals.ts';
import { oneLine } from '../../../../api/config/quote.ts';
import type { CommandContext } from '../context.ts';
import { pathIn, plainJson } from './shown.ts';

/** `muster trust revoke`: asks nothing, says what went. */
export async function revokeTrust(
  approvals: Approvals,
  { names, json }: { readonly names: readonly string[] | null; readonly json: boolean },
  context: CommandContext,
): Promise<number> {
  const { files, answers } = names === null ? await approvals.revokeAll() : approvals.revoke(names);
  if (json) {
    context.out(plainJson({ revoked: { files: files.map(({ path }) => path), answers } }));
    return 0;
  }
  const lines = [
    ...files.map(({ project, path }) => `not trusted any more: ${pathIn(project, path)}`),
    ...answers.map(({ rule }) => `not always allowed any more: ${oneLine(rule)}`),
  ];
  context.out(
    lines.length === 0
      ? 'Nothing of this project was trusted.\n'
      : lines.map((line) => `${line}\n`).join(''),
  );
  return 0;
}
