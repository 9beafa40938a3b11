import type { ApprovalProposal } from '../../../../trust/approvals.ts';
import type { ListedFile } from '../../../../trust/list-files.ts';
import { escapeLine } from '../../../../config/message-text.ts';
import { UsageError } from '../../../../base/errors.ts';
import { plural } from '../../../../base/text.ts';
import { refuseAgents, defineCommand, type CommandContext } from '../../command.ts';
import { outputOptions } from '../../run-options.ts';
import { FILES } from '../../completion-values.ts';
import { openApprovals, projectPath, plainJson } from './approvals.ts';

/** `muster trust add`: the exit code is 1 if a proposed or named file is not trusted in the end. */
export const trustAddCommand = defineCommand({
  words: 'trust add',
  summary: 'show what files of this project would do, and trust exactly this content',
  operands: [{ name: '[PATH…]', completes: FILES }],
  flags: ['yes', 'json', 'cwd', 'data-dir'],
  examples: ['muster trust add', 'muster trust add .claude/agents --yes'],
  parse: ({ operands, flags }) => ({
    ...outputOptions(flags),
    cwd: flags.text('cwd'),
    paths: operands,
    yes: flags.has('yes'),
  }),
  run: async (options, context) => {
    const { json, paths, yes } = options;
    const approvals = await openApprovals(options, context);
    refuseAgents(context.environment, 'trust a project');
    if (json && !yes) throw new UsageError('--json asks nothing; look at it first, then add --yes');
    const proposals = await approvals.propose(paths);
    const unusable = await approvals.listUnusable(paths);
    const usable = proposals.filter(({ grants }) => grants.problems.length === 0);
    if (!json) {
      context.out(proposals.map(shown).join(''));
      context.out(unusable.map((file) => describeUnusable(approvals.project, file)).join(''));
    }
    const isAgreed = usable.length > 0 && (yes || (await ask(usable.length, context)));
    if (isAgreed) approvals.approve(usable);
    const trusted = isAgreed ? usable : [];
    const refused = proposals.filter((each) => !trusted.includes(each));
    context.out(
      json
        ? plainJson({
            trusted: trusted.map(asJson),
            refused: [...refused.map(asJson), ...unusable.map(unusableAsJson)],
          })
        : outcome({ found: proposals.length + unusable.length, trusted: trusted.length }),
    );
    const isUnusableNamed = paths.length > 0 && unusable.length > 0;
    return refused.length === 0 && !isUnusableNamed ? 0 : 1;
  },
});

function ask(count: number, { confirm }: CommandContext): Promise<boolean> {
  if (confirm === null) {
    throw new UsageError('there is no terminal to ask on; to trust what is shown, add --yes');
  }
  const what = count === 1 ? 'this file' : `these ${count} files`;
  return confirm(`Trust ${what}, with exactly this content? [y/N] `);
}

function asJson({ entry, state, grants }: ApprovalProposal) {
  const { kind, path, sha256 } = entry;
  return { kind, path, sha256, was: state, grants: grants.lines, problems: grants.problems };
}

function unusableAsJson({ kind, path, sha256, reason }: ListedFile) {
  const problems = reason === null ? [] : [reason];
  return { kind, path, sha256, was: 'unusable', grants: [], problems };
}

function describeUnusable(project: string, { kind, path, reason }: ListedFile): string {
  return `${projectPath(project, path)} (${kind}) cannot be trusted: ${escapeLine(reason ?? '')}\n\n`;
}

function shown(proposal: ApprovalProposal): string {
  return describeProposal(proposal)
    .map((line) => `${line}\n`)
    .join('');
}

/** Describes what a file would do if it were trusted, in lines of which the last is empty. */
export function describeProposal({ entry, state, grants }: ApprovalProposal): readonly string[] {
  const what = state === 'new' ? 'new' : 'changed since you trusted it';
  const head = `${projectPath(entry.project, entry.path)} (${entry.kind}, ${what}, sha256 ${entry.sha256.slice(0, 12)})`;
  const lines = [
    ...grants.lines.map((line) => `  ${escapeLine(line)}`),
    ...grants.problems.map((problem) => `  cannot be trusted in this form: ${escapeLine(problem)}`),
  ];
  return [head, ...lines, ''];
}

function outcome({ found, trusted }: { readonly found: number; readonly trusted: number }) {
  if (found === 0) return 'Nothing to trust that is not trusted already.\n';
  return trusted === 0 ? 'Nothing was trusted.\n' : `Trusted ${plural(trusted, 'file')}.\n`;
}
