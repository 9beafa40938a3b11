import { relative } from 'node:path';
import { isInside } from '../../../../base/path-inside.ts';
import type { CommandContext } from '../../command.ts';
import type { DataOptions } from '../../run-options.ts';
import type { Approvals } from '../../../../trust/approvals.ts';
import { escapeLine } from '../../../../config/message-text.ts';

/** Opens the list of files that the user trusts. Throws UsageError for a `--cwd` that is no directory. */
export async function openApprovals(
  options: { readonly cwd: string | null } & DataOptions,
  context: CommandContext,
): Promise<Approvals> {
  const { Approvals } = await import('../../../../trust/approvals.ts');
  const { stateLocation } = await import('../../configuration.ts');
  return new Approvals(stateLocation(options, context));
}

/** Matches everything except printable ASCII and newlines. */
const NOT_PLAIN = /[^\n\u0020-\u007e]/gu;

/** Writes JSON in ASCII, so that no character in it controls a terminal or looks like another character. */
export function plainJson(value: unknown): string {
  const json = JSON.stringify(value, null, 2);
  const plain = json.replace(NOT_PLAIN, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
  return `${plain}\n`;
}

/** Writes a path relative to its project, on one line. */
export function projectPath(project: string, path: string): string {
  return escapeLine(isInside(project, path) ? relative(project, path) : path);
}
