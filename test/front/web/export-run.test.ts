import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { createEnvironmentRedactor } from '../../../src/api/setup/secrets.ts';
import { exportRun, toExportedPage } from '../../../src/front/web/export-run.ts';
import type { ExportedRun } from '../../../src/front/web/wire.ts';
import { firstUserText, toolResultRounds } from '../../../src/testing/index.ts';
import { openPageWorld } from './support.ts';

/** A secret that is known only when the page is exported, so that the logs contain it. */
const CANARY = 'canary-9fK2"\\vQ7xLmZ';

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<script type="module" crossorigin src="/assets/app-1.js"></script>
<link rel="stylesheet" crossorigin href="/assets/app-1.css">
</head><body><a href="//x">type="module"</a></body></html>`;

it('an export is the page with a tree, its events, reports and changes, and without secrets', async () => {
  const world = await openPageWorld({
    script: (request) => {
      const isChild = firstUserText(request).startsWith('part');
      if (firstUserText(request).startsWith('another')) return { text: 'done' };
      if (toolResultRounds(request) > 0) return { text: `the key is ${CANARY}` };
      const path = join(world.directory, isChild ? `part-${CANARY.slice(0, 6)}.txt` : 'made.txt');
      const write = { name: 'Write', input: { file_path: path, content: `key = ${CANARY}\n` } };
      const input = { prompt: `part ${CANARY}`, description: `part ${'x'.repeat(45)} ${CANARY}` };
      return { toolCalls: isChild ? [write] : [write, { name: 'Task', input }] };
    },
  });
  const session = await world.openSession();
  const run = session.start({
    prompt: `go with ${CANARY} ${'y'.repeat(40)} ${CANARY}`,
    mode: 'acceptEdits',
  });
  expect((await run.result).data.status).toBe('completed');
  const other = session.start({ prompt: 'another conversation' });
  await other.result;
  mkdirSync(join(world.directory, 'page/assets'), { recursive: true });
  writeFileSync(join(world.directory, 'page/index.html'), PAGE);
  writeFileSync(join(world.directory, 'page/assets/app-1.js'), '1');
  const directory = join(world.directory, 'out');
  const tasks = world.openTasks();
  const options = {
    tasks,
    id: run.id,
    directory,
    pageDirectory: pathToFileURL(`${world.directory}/page/`),
    redact: createEnvironmentRedactor({ DEPLOY_TOKEN: CANARY }),
  };
  const page = await exportRun(options);
  expect(page).toBe(join(directory, 'index.html'));
  expect(readdirSync(directory, { recursive: true }).toSorted()).toEqual([
    'assets',
    'assets/app-1.js',
    'index.html',
    'run.js',
  ]);
  expect(statSync(join(directory, 'run.js')).mode & 0o777).toBe(0o600);
  const script = readFileSync(join(directory, 'run.js'), 'utf8');
  const global: { musterRun?: ExportedRun } = {};
  runInNewContext(script, global);
  const exported = global.musterRun;
  const ids = tasks.list().flatMap(({ id }) => (id === other.id ? [] : [id]));
  expect(Object.keys(exported?.events ?? {}).toSorted()).toEqual(ids.toSorted());
  expect(exported?.overview.tasks.map(({ id }) => id)).toEqual(ids);
  expect(exported?.timeline.rows.map(({ title }) => title)).toEqual([
    `go with [redacted by Muster]…`,
    `part ${'x'.repeat(45)} [redacted by Muster]`,
  ]);
  expect(exported?.reports[run.id]?.report.result).toBe('the key is [redacted by Muster]');
  expect(exported?.diffs[run.id]?.files[0]).toMatchObject({
    path: 'made.txt',
    hunks: [{ lines: ['+key = [redacted by Muster]'] }],
  });
  expect(JSON.stringify(exported)).not.toContain('9fK2');
  expect(script).not.toContain('9fK2');
  // What was there stays there.
  await expect(exportRun(options)).rejects.toThrow('the directory is not empty; name a new one');
});

it('an exported page has its own policy and its data, and only relative paths and plain scripts', () => {
  expect(toExportedPage(PAGE)).toBe(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'self' file:; style-src 'self' file:; img-src 'self' file: data:; font-src 'self' file:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"><script src="run.js"></script>
<script defer src="./assets/app-1.js"></script>
<link rel="stylesheet" href="./assets/app-1.css">
</head><body><a href="//x">type="module"</a></body></html>`);
});
