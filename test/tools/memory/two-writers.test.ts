import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { tempDirectory } from '../../sys/temp.ts';
import { notesIn, noteTask } from './support.ts';

const run = promisify(execFile);
const LINES = 200;
const APPENDER = fileURLToPath(new URL('child-appender.ts', import.meta.url));

it('two processes that append 200 lines each to one note at the same time lose nothing, and the index is correct', async () => {
  const project = tempDirectory();
  const user = join(project, 'config');
  const names = ['one', 'two'];
  await Promise.all(
    names.map((name) => run(process.execPath, [APPENDER, project, user, name, String(LINES)])),
  );
  const directory = join(project, '.muster/memory');
  const { 'log.md': log = '', 'MEMORY.md': index = '', ...others } = notesIn(directory);
  const lines = log.trimEnd().split('\n');
  for (const name of names) {
    const wanted = Array.from({ length: LINES }, (_, at) => `${name} ${at}`);
    expect(lines.filter((line) => line.startsWith(name))).toEqual(wanted);
  }
  expect(lines.length).toBe(2 * LINES);
  expect(listed(index)).toEqual(['log.md', ...Object.keys(others)].toSorted());
  expect(Object.keys(others).length).toBe(8);
  expect(readdirSync(join(directory, '.locks'))).toEqual([]);
});

it('a lock of a dead process, or one that came with the project, delays nobody', async () => {
  const project = tempDirectory();
  const locks = join(project, '.muster/memory/.locks');
  mkdirSync(locks, { recursive: true });
  writeFileSync(
    join(locks, 'write'),
    '{"pid":1,"startTime":1,"bootId":"x","host":"h","token":"t"}',
  );
  const task = noteTask({ project, user: join(project, 'config') });
  const { text } = await task.call('MemoryAppend', { file: 'a', text: 'x' });
  expect(text).toBe('Added to a.md in project memory.');
});

const FILES = ['a.md', 'b.md', 'c.md'];
const step = fc.record({
  writer: fc.integer({ min: 0, max: 1 }),
  file: fc.constantFrom(...FILES),
  does: fc.constantFrom('Append', 'Read', 'Write', 'Delete', 'by hand', 'gone by hand'),
});

/** The expected content, and what each of two tasks knows of it. */
class Model {
  readonly files = new Map<string, string>();
  private readonly known = [new Map<string, string>(), new Map<string, string>()];

  /** Whether a call succeeds. */
  does(
    tool: string,
    file: string,
    { writer, text }: { readonly writer: number; readonly text: string },
  ): boolean {
    const known = this.known[writer] ?? new Map<string, string>();
    const now = this.files.get(file);
    const isKnown = now === undefined || known.get(file) === now;
    if ((tool === 'Read' || tool === 'Delete') && now === undefined) return false;
    if ((tool === 'Write' || tool === 'Delete') && !isKnown) return false;
    if (tool === 'Delete') return this.files.delete(file);
    const next = tool === 'Append' ? `${now ?? ''}${text}` : tool === 'Write' ? text : (now ?? '');
    this.files.set(file, next);
    if (isKnown || tool === 'Read') known.set(file, next);
    return true;
  }
}

it('whatever two tasks and a person do, no task replaces content that it has not read, and the index is correct', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 16 }), async (steps) => {
      const project = tempDirectory();
      const directory = join(project, '.muster/memory');
      mkdirSync(directory, { recursive: true });
      const writers = [0, 1].map(() => noteTask({ project, user: join(project, 'config') }));
      const model = new Model();
      for (const [at, { writer, file, does }] of steps.entries()) {
        const text = `${at}\n`;
        if (does === 'by hand') writeFileSync(join(directory, file), text);
        if (does === 'by hand') model.files.set(file, text);
        if (does === 'gone by hand') rmSync(join(directory, file), { force: true });
        if (does === 'gone by hand') model.files.delete(file);
        if (does.endsWith('by hand')) continue;
        const said = await writers[writer]?.call(`Memory${does}`, {
          file,
          ...(does === 'Append' || does === 'Write' ? { text } : {}),
        });
        const isDone = model.does(does, file, { writer, text });
        expect([at, does, said?.error === undefined]).toEqual([at, does, isDone]);
      }
      // The next change updates the index for what a person has done meanwhile.
      await writers[0]?.call('MemoryAppend', { file: 'end', text: 'end' });
      const { 'MEMORY.md': index = '', 'end.md': _, ...notes } = notesIn(directory);
      expect(notes).toEqual(Object.fromEntries(model.files));
      expect(listed(index)).toEqual([...Object.keys(notes), 'end.md'].toSorted());
    }),
    { numRuns: 60 },
  );
});

it('changes of tasks in one process are made one after the other', async () => {
  const project = tempDirectory();
  const tasks = Array.from({ length: 8 }, () =>
    noteTask({ project, user: join(project, 'config') }),
  );
  const calls = tasks.flatMap((task, at) => [
    task.call('MemoryAppend', { file: 'log', text: `${at}` }),
    task.call('MemoryWrite', { file: `own-${at}`, text: 'x' }),
  ]);
  const said = await Promise.all(calls);
  expect(said.filter(({ error }) => error !== undefined)).toEqual([]);
  const { 'MEMORY.md': index = '', ...notes } = notesIn(join(project, '.muster/memory'));
  expect(notes['log.md']?.trim().split('\n').toSorted()).toEqual(tasks.map((_, at) => `${at}`));
  expect(listed(index)).toEqual(Object.keys(notes).toSorted());
});

function listed(index: string): readonly string[] {
  return [...index.matchAll(/^- \[[^\]]*\]\(([^)]*)\)/gm)].map(([, name = '']) => name).toSorted();
}
