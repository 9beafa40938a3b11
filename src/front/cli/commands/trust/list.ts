import type { ListedFile } from '../../../../trust/list-files.ts';
import { escapeLine } from '../../../../config/message-text.ts';
import type { SavedMode } from '../../../../trust/saved-modes.ts';
import type { SavedAnswer } from '../../../../trust/saved-answers.ts';
import { defineCommand } from '../../command.ts';
import { columns } from '../../layout.ts';
import { outputOptions } from '../../run-options.ts';
import { openApprovals, projectPath, plainJson } from './approvals.ts';

/** `muster trust list` */
export const trustListCommand = defineCommand({
  words: 'trust list',
  summary: 'the files of this project that could act, and which of them you have trusted',
  operands: [],
  flags: ['json', 'cwd', 'data-dir'],
  examples: ['muster trust list', 'muster trust list --json'],
  parse: ({ flags }) => ({ ...outputOptions(flags), cwd: flags.text('cwd') }),
  run: async (options, context) => {
    const approvals = await openApprovals(options, context);
    const { savedModeName } = await import('../../../../trust/saved-modes.ts');
    const { project, files, answers, modes } = await approvals.list();
    if (options.json) {
      context.out(plainJson({ project, files, answers, modes }));
      return 0;
    }
    context.out(`Project ${escapeLine(project)}\n`);
    if (files.length === 0 && answers.length === 0 && modes.length === 0) {
      context.out('Nothing in it could act on Muster, and no answer was saved.\n');
    }
    context.out(columns(files.map((file) => fileRow(project, file))));
    context.out(columns(answers.map(answerRow)));
    context.out(columns(modes.map((mode) => modeRow(mode, savedModeName(mode)))));
    return 0;
  },
});

function fileRow(project: string, file: ListedFile): readonly string[] {
  const size = file.size === null ? '' : `${file.size} bytes`;
  const hash = file.sha256 === null ? '' : `sha256 ${file.sha256.slice(0, 12)}`;
  return [file.state, file.kind, projectPath(project, file.path), size, hash, remark(file)];
}

function remark({ state, trustedOn, reason }: ListedFile): string {
  if (reason !== null) return escapeLine(reason);
  if (trustedOn === null) return '';
  const on = dayOf(trustedOn);
  if (state === 'changed') return `changed since you trusted it on ${on}`;
  return `trusted on ${on}`;
}

function answerRow({ rule, project, answeredOn }: SavedAnswer): readonly string[] {
  const scope = project === null ? 'in every project' : 'in this project';
  return ['always', scope, escapeLine(rule), `answered on ${dayOf(answeredOn)}`];
}

function modeRow({ path, answeredOn }: SavedMode, name: string): readonly string[] {
  return [
    'mode',
    'in every project',
    escapeLine(name),
    escapeLine(path),
    `answered on ${dayOf(answeredOn)}`,
  ];
}

/** Returns the day of a time, as in `2026-11-22`. */
function dayOf(time: string): string {
  return time.slice(0, 10);
}
