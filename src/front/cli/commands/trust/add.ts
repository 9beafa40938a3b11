import type { Approvals, Proposal } from '../../../../trust/approvals.ts';
import { oneLine } from '../../../../config/quote.ts';
import { UsageError } from '../../../../base/errors.ts';
import { plural } from '../../../../base/text.ts';
import { refuseAgents } from '../../refuse-agents.ts';
import { pathIn, plainJson } from './shown.ts';
import type { TrustContext } from '../context.ts';

interface AddRequest {
  readonly paths: readonly string[];
  readonly yes: boolean;
  readonly json: boolean;
}

/** `muster trust add`: exit code 1 when not all of it is trusted in the end. */
export async function addTrust(
  approvals: Approvals,
  { paths, yes, json }: AddRequest,
  context: TrustContext,
): Promise<number> {
  refuseAgents(context.environment, 'trust a project');
  if (json && !yes) throw new UsageError('--json asks nothing; look at it first, then add --yes');
  const proposals = await approvals.propose(paths);
  const usable = proposals.filter(({ grants }) => grants.problems.length === 0);
  if (!json) context.out(proposals.map(shown).join(''));
  const agreed = usable.length > 0 && (yes || (await ask(usable.length, context)));
  if (agreed) approvals.approve(usable);
  const trusted = agreed ? usable : [];
  const refused = proposals.filter((each) => !trusted.includes(each));
  context.out(
    json
      ? plainJson({ trusted: trusted.map(told), refused: refused.map(told) })
      : outcome({ proposed: proposals.length, trusted: trusted.length }),
  );
  return refused.length === 0 ? 0 : 1;
}

function ask(count: number, { confirm }: TrustContext): Promise<boolean> {
  if (confirm === null) {
    throw new UsageError('there is no terminal to ask on; to trust what is shown, add --yes');
  }
  const what = count === 1 ? 'this file' : `these ${count} files`;
  return confirm(`Trust ${what}, with just this content? [y/N] `);
}

function told({ entry, state, grants }: Proposal) {
  const { kind, path, sha256 } = entry;
  return { kind, path, sha256, was: state, grants: grants.lines, problems: grants.problems };
}

function shown({ entry, state, grants }: Proposal): string {
  const what = state === 'new' ? 'new' : 'changed since you trusted it';
  const head = `${pathIn(entry.project, entry.path)} (${entry.kind}, ${what}, sha256 ${entry.sha256.slice(0, 12)})`;
  const lines = [
    ...grants.lines.map((line) => `  ${oneLine(line)}`),
    ...grants.problems.map((problem) => `  cannot be trusted as it stands: ${oneLine(problem)}`),
  ];
  return [head, ...lines, ''].map((line) => `${line}\n`).join('');
}

function outcome({ proposed, trusted }: { readonly proposed: number; readonly trusted: number }) {
  if (proposed === 0) return 'Nothing to trust that is not trusted already.\n';
  return trusted === 0 ? 'Nothing was trusted.\n' : `Trusted ${plural(trusted, 'file')}.\n`;
}
