import type { Approvals } from '../../../../trust/approvals.ts';
import { modeName } from '../../../../trust/saved-modes.ts';
import { oneLine } from '../../../../config/quote.ts';
import type { CommandContext } from '../context.ts';
import { pathIn, plainJson } from './shown.ts';

/** `muster trust revoke`: asks nothing, says what went. */
export async function revokeTrust(
  approvals: Approvals,
  { names, json }: { readonly names: readonly string[] | null; readonly json: boolean },
  context: CommandContext,
): Promise<number> {
  const { files, answers, modes } =
    names === null ? await approvals.revokeAll() : approvals.revoke(names);
  if (json) {
    context.out(plainJson({ revoked: { files: files.map(({ path }) => path), answers, modes } }));
    return 0;
  }
  const lines = [
    ...files.map(({ project, path }) => `not trusted any more: ${pathIn(project, path)}`),
    ...answers.map(({ rule }) => `not always allowed any more: ${oneLine(rule)}`),
    ...modes.map((mode) => `mode not granted any more: ${oneLine(modeName(mode))}`),
  ];
  context.out(
    lines.length === 0
      ? 'Nothing of this project was trusted.\n'
      : lines.map((line) => `${line}\n`).join(''),
  );
  return 0;
}
