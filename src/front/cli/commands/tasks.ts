import { resolve } from 'node:path';
import { openTasks, type ShellRun, type TaskReader } from '../../../api/index.ts';
import { printable } from '../../../base/printable.ts';
import { formatDuration, truncate } from '../../../base/text.ts';
import type { Command } from '../command.ts';
import { stderrNotice } from '../stderr.ts';

/** Code points of a command that stand in one line. */
const SHOWN_COMMAND = 80;

type TasksCommand = Extract<Command, { kind: 'tasks-list' | 'tasks-show' | 'tasks-log' }>;

/** `muster tasks list|show|log`: what the logs of a data directory say. */
export async function tasksCommand(command: TasksCommand): Promise<number> {
  const tasks = openTasks(command.dataDir === null ? {} : { dataDir: resolve(command.dataDir) });
  try {
    switch (command.kind) {
      case 'tasks-list':
        return list(tasks, command);
      case 'tasks-show':
        tellProblems(tasks, command.id);
        return show(tasks, command);
      case 'tasks-log':
        tellProblems(tasks, command.id);
        return await log(tasks, command);
      default:
        return command satisfies never;
    }
  } finally {
    await tasks.close();
  }
}

function tellProblems(tasks: TaskReader, id: string): void {
  for (const problem of tasks.problems(id)) stderrNotice(problem);
}

function list(tasks: TaskReader, { json }: { readonly json: boolean }): number {
  const all = tasks.list();
  if (json) {
    write(`${JSON.stringify(all, null, 2)}\n`);
    return 0;
  }
  if (all.length === 0) write('No tasks yet.\n');
  for (const task of all) {
    const when = new Date(task.created).toISOString().slice(0, 16).replace('T', ' ');
    const indent = '  '.repeat(task.depth);
    write(
      `${task.id}  ${when}  ${task.status.padEnd(11)}  ${indent}${printable(`${task.agent}: ${task.description}`)}\n`,
    );
  }
  return 0;
}

function show(tasks: TaskReader, command: { readonly id: string; readonly json: boolean }): number {
  const envelope = tasks.show(command.id);
  if (command.json) {
    write(`${JSON.stringify(envelope, null, 2)}\n`);
    return 0;
  }
  const { data, stats, error } = envelope;
  const facts: readonly (readonly [string, string])[] = [
    ['task', data.task_id],
    ['agent', data.subagent_type],
    ['status', `${data.status}: ${data.receipt.endedBecause}`],
    ['model', data.model_used],
    ['turns', String(data.turns)],
    [
      'tools',
      data.tool_summary.map(({ tool, count }) => `${tool} × ${count}`).join(', ') || 'none',
    ],
    ['tokens', `${data.usage.input} in, ${data.usage.output} out, ${data.usage.cache_read} cached`],
    ['cost', data.cost_usd === null ? 'unknown' : `$${data.cost_usd.toFixed(4)}`],
    ['time', formatDuration(stats.time_ms)],
    ['changed', data.files_modified.join(', ') || 'nothing'],
    ['children', data.receipt.children.join(', ') || 'none'],
    ['shells', data.receipt.shells.map(shellLine).join('; ') || 'none'],
    ['refused', data.receipt.refusals.join('; ') || 'nothing'],
    ['log', data.transcript ?? 'not kept'],
    ...(error === null ? [] : [['error', `${error.code}: ${error.message}`] as const]),
  ];
  for (const [name, value] of facts) write(`${name.padEnd(9)}${printable(value)}\n`);
  write(`\n${printable(data.result)}\n`);
  return 0;
}

function shellLine({ id, command, end, exitCode }: ShellRun): string {
  const code = exitCode === null ? '' : `, exit code ${exitCode}`;
  const line = truncate(command.replace(/\s+/g, ' '), SHOWN_COMMAND);
  return `${id} (${line}): ${end ?? 'running'}${code}`;
}

async function log(
  tasks: TaskReader,
  command: { readonly id: string; readonly json: boolean },
): Promise<number> {
  for await (const event of tasks.events(command.id)) {
    if (command.json) {
      write(`${JSON.stringify(event)}\n`);
      continue;
    }
    const { v: _, task: _task, epoch: _epoch, seq, ts, type, ...rest } = event;
    const time = new Date(ts).toISOString().slice(11, 23);
    const detail = JSON.stringify(rest);
    const shown = detail.length > 200 ? `${detail.slice(0, 200)}…` : detail;
    write(printable(`${String(seq).padStart(4)} ${time} ${type.padEnd(14)} ${shown}\n`));
  }
  return 0;
}

function write(text: string): void {
  process.stdout.write(text);
}
