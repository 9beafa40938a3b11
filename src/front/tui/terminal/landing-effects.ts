import { plural } from '../../../base/text.ts';
import type { LandingOutcome } from '../../../api/index.ts';
import { MAX_PAGER_TEXT, textSection } from '../model/pager.ts';
import type { LandingRequest } from '../model/landing-request.ts';
import type { EffectOptions } from './effect-options.ts';

/** The maximum number of lines of a diff that a page in plain lines shows. */
const MAX_PAGE_LINES = 200;

type LandingEffectOptions = Pick<EffectOptions, 'library' | 'state' | 'dispatch'>;

/** The effects on what tasks have left in their workspaces. They reject with MusterError. */
export class LandingEffects {
  private readonly options: LandingEffectOptions;

  constructor(options: LandingEffectOptions) {
    this.options = options;
  }

  /** Shows the changes of a task: on the full screen, or as a page in plain lines. */
  async showDiff(task: string): Promise<void> {
    const { state, dispatch } = this.options;
    const workspaces = await this.open();
    const left = await workspaces.leftDiff(task, MAX_PAGER_TEXT);
    const text = left === null || left.text === '' ? 'No changes.' : left.text;
    const title = `Task ${task}: ${left?.hasLanded === true ? 'what has landed' : 'its changes'}`;
    if (state().surface === 'screen') {
      dispatch({ type: 'pager-opened', document: { title, sections: [textSection(text)] } });
      return;
    }
    const lines = text.replace(/\n$/, '').split('\n');
    const more = lines.length - MAX_PAGE_LINES;
    const rest = more > 0 ? [`… ${plural(more, 'more line')}: muster tasks diff ${task}`] : [];
    dispatch({ type: 'page', title, lines: [...lines.slice(0, MAX_PAGE_LINES), ...rest] });
  }

  /** Merges the changes of a task with the present files, and writes nothing. */
  async plan(request: LandingRequest): Promise<void> {
    const workspaces = await this.open();
    const preview = await workspaces.preview(request.task);
    this.options.dispatch({ type: 'landing-planned', request, preview });
  }

  /** Lands or discards the changes of a task, and says what was done. */
  async land(request: LandingRequest): Promise<void> {
    const { dispatch } = this.options;
    const { task } = request;
    const workspaces = await this.open();
    if (request.action === 'discard') {
      const { files } = await workspaces.discard(task);
      const text = `the changes of ${plural(files.length, 'file')} of task ${task} are deleted`;
      dispatch({ type: 'note', level: 'info', text });
    } else {
      const outcome = await workspaces.apply(task, request.form);
      const level = outcome.kind === 'conflicts' ? 'warning' : 'info';
      dispatch({ type: 'note', level, text: describeOutcome(outcome) });
    }
    await this.readStates([task]);
  }

  /** Reads what has become of the changes of tasks. */
  async readStates(tasks: readonly string[]): Promise<void> {
    const workspaces = await this.open();
    const states = new Map(tasks.map((id) => [id, workspaces.landingState(id)]));
    this.options.dispatch({ type: 'landings-read', states });
  }

  private open() {
    // A landing is never left half done, so nothing aborts it.
    return this.options.library.workspaces(new AbortController().signal);
  }
}

function describeOutcome(outcome: LandingOutcome): string {
  const { kind, id } = outcome;
  if (kind === 'conflicts') {
    const paths = outcome.conflicts.map(({ path }) => path).join(', ');
    return `nothing was changed, because your files have changed: ${paths} cannot be merged any more`;
  }
  if (kind === 'aborted') return `the files are as they were before the landing of task ${id}`;
  const { paths, commit, kept, checkInputs } = outcome;
  const as = commit === null ? '' : ` as commit ${commit.slice(0, 10)}`;
  const stays = kept === null ? '' : `; its workspace stays: ${kept}`;
  const used =
    checkInputs.length === 0
      ? ''
      : `; the check used these files as the task left them: ${checkInputs.join(', ')}`;
  return `merged ${plural(paths.length, 'file')} of task ${id}${as}; muster tasks apply ${id} --undo takes that back${stays}${used}`;
}
