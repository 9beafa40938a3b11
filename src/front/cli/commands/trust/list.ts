import type { Approvals } from '../../../../trust/approvals.ts';
import type { ListedFile } from '../../../../trust/listing.ts';
import { oneLine } from '../../../../config/quote.ts';
import { modeName, type SavedMode } from '../../../../trust/saved-modes.ts';
import type { SavedAnswer } from '../../../../trust/saved-answers.ts';
import { columns } from '../columns.ts';
import type { CommandContext } from '../context.ts';
import { dayOf, pathIn, plainJson } from './shown.ts';

/** `muster trust list`. */
export async function listTrust(
  approvals: Approvals,
  { json }: { readonly json: boolean },
  context: CommandContext,
): Promise<number> {
  const { project, files, answers, modes } = await approvals.list();
  if (json) {
    context.out(plainJson({ project, files, answers, modes }));
    return 0;
  }
  context.out(`Project ${oneLine(project)}\n`);
  if (files.length === 0 && answers.length === 0 && modes.length === 0) {
    context.out('Nothing in it could act on Muster, and no answer was saved.\n');
  }
  context.out(columns(files.map((file) => fileRow(project, file))));
  context.out(columns(answers.map(answerRow)));
  context.out(columns(modes.map(modeRow)));
  return 0;
}

function fileRow(project: string, file: ListedFile): readonly string[] {
  const size = file.size === null ? '' : `${file.size} bytes`;
  const hash = file.sha256 === null ? '' : `sha256 ${file.sha256.slice(0, 12)}`;
  return [file.state, file.kind, pathIn(project, file.path), size, hash, remark(file)];
}

function remark({ state, trustedOn, reason }: ListedFile): string {
  if (reason !== null) return oneLine(reason);
  if (trustedOn === null) return '';
  const on = dayOf(trustedOn);
  if (state === 'changed') return `changed since you trusted it on ${on}`;
  return `trusted on ${on}`;
}

function answerRow({ rule, project, answeredOn }: SavedAnswer): readonly string[] {
  const scope = project === null ? 'in every project' : 'in this project';
  return ['always', scope, oneLine(rule), `answered on ${dayOf(answeredOn)}`];
}

function modeRow(saved: SavedMode): readonly string[] {
  const { path, answeredOn } = saved;
  return [
    'mode',
    'in every project',
    oneLine(modeName(saved)),
    oneLine(path),
    `answered on ${dayOf(answeredOn)}`,
  ];
}
