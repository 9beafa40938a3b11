/** The functions about tasks in the data directory that front ends use. */
export { readTree } from './tasks/read-tree.ts';
export { recentRepairs } from './tasks/recent-repairs.ts';
export { findWorkspaceProblems } from './workspaces/workspace-problems.ts';
export { readTaskBoard } from './tasks/task-board.ts';
export { openTasks } from './tasks/tasks.ts';
