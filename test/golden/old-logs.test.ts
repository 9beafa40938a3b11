import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openTasks } from '../../src/api/stored-tasks.ts';
import { envelopeOf, runMuster, Sandbox } from '../e2e/muster.ts';
import { openWorld } from '../e2e/world.ts';

/**
 * The data directory of an earlier version, whose logs hold nearly every kind of event. What that version said
 * about it stands in the file beside it, so that later versions read, run again, export and resume the same logs.
 */
const LOGS = join(import.meta.dirname, 'logs-v4');

/** Trees whose rerun depends on the settings and the load of the machine: it may differ at a retry or a change of model. */
const NOT_RERUN = new Set(['zkmly8e43wbe', 'tzxqjhqshnud', 'dc3b7b1o1oap']);

const digest = (text: string): string =>
  createHash('sha256').update(text).digest('hex').slice(0, 16);

async function textOf(pieces: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const piece of pieces) text += piece;
  return text;
}

describe('the logs of an earlier version', () => {
  it('are listed, folded, exported and rerun as before', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'muster-old-logs-'));
    try {
      cpSync(LOGS, dataDir, { recursive: true });
      const tasks = openTasks({ dataDir, environment: {} });
      const lines: string[] = [];
      for (const summary of tasks.list()) {
        const { id, parent } = summary;
        lines.push(`${id} ${digest(JSON.stringify(summary))}`);
        const { data } = tasks.envelope(tasks.state(id));
        const { status, result, turns, files_modified, usage, cost_usd } = data;
        lines.push(`  ${JSON.stringify({ status, turns, files_modified, usage, cost_usd })}`);
        lines.push(`  result ${digest(JSON.stringify(result))}`);
        if (parent !== null) continue;
        lines.push(`  export ${digest(await textOf(tasks.exportTree(id)))}`);
        if (NOT_RERUN.has(id)) continue;
        const { tasks: runs } = await tasks.rerun(id);
        const differing = runs.flatMap(({ difference }) =>
          difference === null ? [] : [`${difference.task}:${difference.seq}`],
        );
        lines.push(
          `  rerun ${differing.length === 0 ? 'identical' : `differs at ${differing.join(' ')}`}`,
        );
      }
      await tasks.close();
      await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('logs-v4.txt');
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  });

  it('are resumed with another message', async () => {
    await using world = await openWorld({ script: () => ({ text: 'Once more.' }) });
    cpSync(LOGS, world.sandbox.data, { recursive: true });
    const resumed = await world.run([
      '-p',
      'And again',
      '--resume',
      '2ccer6fbnuo7',
      '--output-format',
      'json',
    ]);
    expect(envelopeOf(resumed)).toMatchObject({
      status: 'success',
      data: { task_id: '2ccer6fbnuo7', result: 'Once more.' },
    });
  });

  it('are imported into another data directory', async () => {
    using old = new Sandbox();
    using other = new Sandbox();
    cpSync(LOGS, old.data, { recursive: true });
    const exported = await runMuster(old, ['tasks', 'export', 'bgenl9wx6b75']);
    const imported = await runMuster(other, ['tasks', 'import', '-'], { stdin: exported.stdout });
    expect({ code: imported.code, stderr: imported.stderr }).toEqual({ code: 0, stderr: '' });
    const again = await runMuster(other, ['tasks', 'export', 'bgenl9wx6b75']);
    expect(again.stdout).toBe(exported.stdout);
  });
});
