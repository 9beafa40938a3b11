import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Tasks } from '../../../../api/index.ts';
import { openTasks } from '../../../../api/tasks/tasks.ts';
import type { DataFlags, TasksQuery } from '../../command.ts';
import { stderrNotice } from '../../stderr.ts';

/** `muster tasks …` but for what makes a task go on. */
export async function tasksCommand(command: DataFlags & TasksQuery): Promise<number> {
  const tasks = openTasks({
    ...(command.dataDir === null ? {} : { dataDir: resolve(command.dataDir) }),
    create: command.kind === 'tasks-import' || waitsForFirst(command),
    onNotice: stderrNotice,
  });
  try {
    switch (command.kind) {
      case 'tasks-list':
        return (await import('./list.ts')).listTasks(tasks, command);
      case 'tasks-show':
        return await (await import('./show.ts')).showTask(tasks, command);
      case 'tasks-log':
        return await (await import('./log.ts')).showLog(tasks, command);
      case 'tasks-context':
        return await (await import('./context.ts')).showContext(tasks, command);
      case 'tasks-watch':
        return await watch(tasks, command);
      case 'tasks-stop':
        return await (await import('./stop.ts')).stopTask(tasks, command);
      case 'tasks-background':
        return await (await import('./stop.ts')).sendToBackground(tasks, command);
      case 'tasks-rerun':
        return await (await import('./rerun.ts')).rerunTask(tasks, command);
      case 'tasks-rewind':
        return await (await import('./rewind.ts')).rewindTask(tasks, command);
      case 'tasks-export':
        return await (await import('./move.ts')).exportTask(tasks, command);
      case 'tasks-import':
        return await (await import('./move.ts')).importTasks(tasks, command);
      case 'tasks-delete':
        return await (await import('./delete.ts')).deleteTasks(tasks, command);
      case 'tasks-prune':
        return await (await import('./delete.ts')).pruneTasks(tasks, command);
      default:
        return command satisfies never;
    }
  } finally {
    await tasks.close();
  }
}

/** All tasks are to be seen, the first of all, too; a directory that is named and not there is mistyped. */
function waitsForFirst(command: DataFlags & TasksQuery): boolean {
  return (
    command.kind === 'tasks-watch' &&
    command.id === null &&
    (command.dataDir === null || existsSync(command.dataDir))
  );
}

type WatchQuery = DataFlags & Extract<TasksQuery, { kind: 'tasks-watch' }>;

async function watch(tasks: Tasks, command: WatchQuery): Promise<number> {
  const { id, json, dataDir } = command;
  if (id !== null && !json) {
    const { hasScreen, watchOnScreen } = await import('./watch-screen.ts');
    if (hasScreen()) return watchOnScreen(tasks, { id, dataDir });
  }
  return (await import('./watch.ts')).watchTasks(tasks, command);
}
