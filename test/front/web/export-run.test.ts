import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
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
<link rel="stylesheet" href="./page-1.css">
<script defer src="./page-1.js"></script>
</head><body></body></html>`;

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
  writePage(world.directory);
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
    'index.html',
    'page-1.css',
    'page-1.js',
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

/** Writes the files of a page into a new directory. */
function writePage(directory: string): void {
  mkdirSync(join(directory, 'page'));
  const files = { 'index.html': PAGE, 'page-1.js': '1', 'page-1.css': '' };
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(directory, 'page', name), text);
  }
}

/** Runs one task. Returns the options of its export to the directory `out`. */
async function runOnce() {
  const world = await openPageWorld({ script: () => ({ text: 'done' }) });
  const session = await world.openSession();
  const run = session.start({ prompt: 'go' });
  await run.result;
  writePage(world.directory);
  return {
    tasks: world.openTasks(),
    id: run.id,
    directory: join(world.directory, 'out'),
    pageDirectory: pathToFileURL(`${world.directory}/page/`),
    redact: (text: string) => text,
  };
}

it('an export that fails leaves nothing that it has written', async () => {
  const options = await runOnce();
  const { directory } = options;
  // The second file of this name cannot be created.
  writeFileSync(new URL('run.js', options.pageDirectory), '');
  await expect(exportRun(options)).rejects.toThrow('EEXIST: file already exists');
  expect(existsSync(directory)).toBe(false);
  mkdirSync(directory);
  await expect(exportRun(options)).rejects.toThrow('EEXIST: file already exists');
  expect(readdirSync(directory)).toEqual([]);
});

it('an export to a link that leads nowhere is refused', async () => {
  const options = await runOnce();
  symlinkSync(`${options.directory}-gone`, options.directory);
  await expect(exportRun(options)).rejects.toThrow(
    `--export ${options.directory}: the link leads to a directory that does not exist; name a new one`,
  );
  expect(existsSync(`${options.directory}-gone`)).toBe(false);
});

it('a run with too much data is not exported', async () => {
  const options = await runOnce();
  await expect(exportRun({ ...options, maxLength: 1000 })).rejects.toMatchObject({
    code: 'LIMIT_EXCEEDED',
    message:
      'the run has more than 1,000 characters of data, which is the limit of a page. Export one of the tasks below it: muster web --export DIR ID',
  });
  expect(existsSync(options.directory)).toBe(false);
});

it('an exported page has its own policy and its data', () => {
  expect(toExportedPage(PAGE)).toBe(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'self' file:; style-src 'self' file:; img-src 'self' file: data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"><script src="run.js"></script>
<link rel="stylesheet" href="./page-1.css">
<script defer src="./page-1.js"></script>
</head><body></body></html>`);
});
