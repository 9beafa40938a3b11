import { describeRemoteEnd, describeShellEnd } from '../../../../api/index.ts';
import { collapseWhitespace } from '../../../../base/text.ts';
import type { AppState } from '../../model/app-state.ts';
import { createPicker, selectedItem, type PickerItem } from '../../model/picker.ts';
import type { ShellRow } from '../../model/shell-row.ts';
import type { DisplayedTree } from '../../model/task-tree.ts';
import { shortTime } from '../../view/numbers.ts';
import { openPicker } from '../open-picker.ts';
import { arm, hint, next, type Update, type UpdateContext } from '../step.ts';
import { showPage } from './pages.ts';

/** `/shells`: lists the background shells of all tasks, shows the output of one, or stops one. */
export function shells(state: AppState, argument: string, context: UpdateContext): Update {
  if (argument === '') return listShells(state, context);
  const [, stop, name = ''] = /^(stop\s+)?(\S+)$/.exec(argument) ?? [];
  const found = [...state.tree.shells.values()].filter(({ id }) => id.startsWith(name));
  const [shell] = found;
  if (name === '' || shell === undefined || found.length > 1) {
    return hint(state, 'type /shells, /shells ID or /shells stop ID; /shells lists the ids');
  }
  return stop === undefined ? showOutput(state, shell) : stopShell(state, shell);
}

function listShells(state: AppState, context: UpdateContext): Update {
  const items = shellItems(state.tree, context.now());
  if (state.surface === 'screen') return openPicker(state, createPicker('shells', items));
  return showPage(state, shellsPage(state.tree, context.now()), context);
}

function shellsPage(tree: DisplayedTree, now: number) {
  const rows = newestFirst(tree);
  return {
    title: `Background shells: ${rows.length}`,
    lines: [
      ...rows.map((shell) => {
        const state = stateText(shell, tree);
        return `${shell.id.slice(0, 8)} ${state}, ${runTime(shell, now)}, ${ownerText(shell, tree)}: ${collapseWhitespace(shell.command)}`;
      }),
      rows.length === 0
        ? 'none yet'
        : '/shells ID shows the output of one, /shells stop ID stops one',
    ],
  };
}

/** The rows of the list: the shells of all tasks, the running ones first, and then the newest first. */
export function shellItems(tree: DisplayedTree, now: number): readonly PickerItem[] {
  return newestFirst(tree).map((shell) => ({
    id: shell.id,
    title: collapseWhitespace(shell.command),
    sign: signOf(shell, tree),
    cells: [runTime(shell, now), exitText(shell), ownerText(shell, tree)],
    searched: `${shell.id} ${shell.task} ${stateText(shell, tree)}`,
    preview: [
      { label: '', text: shell.command },
      { label: 'state', text: `${stateText(shell, tree)}, ${runTime(shell, now)}` },
      { label: 'of', text: ownerText(shell, tree) },
      { label: 'output', text: shell.output },
    ],
  }));
}

function newestFirst({ shells: all }: DisplayedTree): readonly ShellRow[] {
  const running = (shell: ShellRow): number => (shell.end === null ? 0 : 1);
  return [...all.values()].toReversed().toSorted((a, b) => running(a) - running(b));
}

/** Whether a shell runs as far as is known: it has not ended, and neither has the process of its task. */
function isRunning({ end, task }: ShellRow, { rows }: Pick<DisplayedTree, 'rows'>): boolean {
  return end === null && (rows.get(task)?.endedAt ?? null) === null;
}

function signOf(shell: ShellRow, tree: DisplayedTree): string {
  const { end } = shell;
  if (end === null) return isRunning(shell, tree) ? '●' : '!';
  if (end.how !== 'exited') return '■';
  return end.exitCode === 0 ? '✓' : '✗';
}

function stateText(shell: ShellRow, tree: DisplayedTree): string {
  const describeEnd = shell.isRemote ? describeRemoteEnd : describeShellEnd;
  if (shell.end !== null) return describeEnd(shell.end);
  return isRunning(shell, tree) ? 'running' : 'its process is gone';
}

function exitText({ end }: ShellRow): string {
  if (end === null) return '';
  return end.how === 'exited' && end.exitCode !== null ? `exit ${end.exitCode}` : end.how;
}

function runTime({ startedAt, end }: ShellRow, now: number): string {
  return shortTime(Math.max(0, (end?.at ?? now) - startedAt));
}

function ownerText({ task }: ShellRow, { root, rows }: DisplayedTree): string {
  if (task === root) return 'main';
  const row = rows.get(task);
  if (row === undefined) return task.slice(0, 8);
  return row.description === '' ? row.agent : `${row.agent}: ${row.description}`;
}

/** Opens the output of the selected shell. */
export function takeShell(state: AppState, item: PickerItem): Update {
  const shell = state.tree.shells.get(item.id);
  return shell === undefined ? next(state) : showOutput(state, shell);
}

function showOutput(state: AppState, { id, task, command, output }: ShellRow): Update {
  return next(state, { type: 'show-shell', shell: id, task, command, path: output });
}

/** Stops the selected shell of the list when the key is pressed for the second time. */
export function stopSelectedShell(state: AppState, armed: AppState['armed']): Update {
  const item = state.picker?.kind === 'shells' ? selectedItem(state.picker) : undefined;
  const shell = item && state.tree.shells.get(item.id);
  if (shell === undefined) return next(state);
  if (!isRunning(shell, state.tree)) return hint(state, 'this shell has ended');
  if (armed !== 'stop-focused' && !state.conversation.isWatched) {
    return arm(state, 'stop-focused', { hint: 'press it again to stop this shell' });
  }
  return stopShell(state, shell);
}

function stopShell(state: AppState, shell: ShellRow): Update {
  if (state.conversation.isWatched) {
    return hint(state, 'a shell can be stopped only where it runs; a task can be stopped here');
  }
  if (!isRunning(shell, state.tree)) return hint(state, 'this shell has ended');
  const { id, task } = shell;
  return next(
    { ...state, hint: 'stopping the shell' },
    { type: 'stop-background-shell', task, shell: id },
  );
}
