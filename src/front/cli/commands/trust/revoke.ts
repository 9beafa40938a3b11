import { escapeLine } from '../../../../config/message-text.ts';
import { UsageError } from '../../../../base/errors.ts';
import { defineCommand } from '../../command.ts';
import { outputOptions } from '../../run-options.ts';
import { FILES } from '../../completion-values.ts';
import { openApprovals, projectPath, plainJson } from './approvals.ts';

/** `muster trust revoke`: does not ask, and lists what was revoked. */
export const trustRevokeCommand = defineCommand({
  words: 'trust revoke',
  summary:
    'stop trusting files, or take an answer "always" back; --all: everything of this project',
  operands: [{ name: '[NAME…]', completes: FILES }],
  flags: ['all', 'json', 'cwd', 'data-dir'],
  flagDetails: { all: { help: 'everything of this project' } },
  examples: [
    'muster trust revoke .claude/settings.json',
    'muster trust revoke "Bash(npm test)"',
    'muster trust revoke --all',
  ],
  parse: ({ operands, flags }) => {
    const all = flags.has('all');
    if (all !== (operands.length === 0)) {
      throw new UsageError('name what is to be revoked, or give --all: muster trust revoke PATH…');
    }
    // Paths and rules; null: everything of the project.
    const names = all ? null : operands;
    return { ...outputOptions(flags), cwd: flags.text('cwd'), names };
  },
  run: async (options, context) => {
    const { json, names } = options;
    const approvals = await openApprovals(options, context);
    const { savedModeName } = await import('../../../../trust/saved-modes.ts');
    const { files, answers, modes } =
      names === null ? await approvals.revokeAll() : approvals.revoke(names);
    if (json) {
      context.out(plainJson({ revoked: { files: files.map(({ path }) => path), answers, modes } }));
      return 0;
    }
    const lines = [
      ...files.map(({ project, path }) => `not trusted any more: ${projectPath(project, path)}`),
      ...answers.map(({ rule }) => `not always allowed any more: ${escapeLine(rule)}`),
      ...modes.map((mode) => `mode not granted any more: ${escapeLine(savedModeName(mode))}`),
    ];
    context.out(
      lines.length === 0
        ? 'Nothing of this project was trusted.\n'
        : lines.map((line) => `${line}\n`).join(''),
    );
    return 0;
  },
});
