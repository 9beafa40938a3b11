import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Answer, RecordedRequest } from '../../src/testing/index.ts';
import { clean, delegate, family, tasks } from './tasks.ts';
import { openWorld, type World } from './world.ts';

const PARTS = 24;
const SMALL_WINDOW =
  '[models]\ndefault = "anthropic/fake-model"\n[models.catalogue."anthropic/fake-model"]\ncontext_window = 20000\noutput_limit = 2000\n';

function lastOf({ messages }: RecordedRequest) {
  const last = messages.at(-1);
  return { text: last?.text ?? '', results: last?.toolResults ?? [] };
}

/** Returns the reference to the first result that was cleared. */
function findClearedResult({ rawBody }: RecordedRequest): string {
  return /TaskOutput\(task_id: \\"(\w+#\d+)\\"\)/.exec(rawBody)?.[1] ?? '';
}

/** Reads all parts, then creates a fork. A task that continues the conversation reads the cleared result again. */
function readsAll(): (request: RecordedRequest) => Answer {
  let part = 0;
  return (request) => {
    const { text, results } = lastOf(request);
    if (text.endsWith('read again'))
      return {
        toolCalls: [{ name: 'TaskOutput', input: { task_id: findClearedResult(request) } }],
      };
    if (results.some((result) => result.text.includes('as it was then'))) return { text: 'read' };
    if (part > PARTS) return { text: 'done' };
    part += 1;
    return part <= PARTS
      ? { toolCalls: [{ name: 'Read', input: { file_path: `${part}.txt` } }] }
      : { toolCalls: [delegate('read again', { subagent_type: 'general-purpose', fork: true })] };
  };
}

function readAgain({ model }: World): readonly string[] {
  const results = model.requests.flatMap((request) => lastOf(request).results);
  return results.filter(({ text }) => /^Result of|^TaskOutput/.test(text)).map(({ text }) => text);
}

it('a fork and a branch of a conversation can read the results that were cleared from it', async () => {
  const lines = (part: number) => `This is line ${part}.\n`.repeat(80);
  await using world = await openWorld({
    files: Object.fromEntries(
      Array.from({ length: PARTS }, (_, n) => [`${n + 1}.txt`, lines(n + 1)]),
    ),
    script: readsAll(),
  });
  const config = join(world.sandbox.home, '.config/muster');
  mkdirSync(config, { recursive: true });
  writeFileSync(join(config, 'config.toml'), SMALL_WINDOW);
  expect((await world.run(['-p', 'go'])).code).toBe(0);
  const text = 'Result of Read, as it was then:\n1\tThis is line 1.\n';
  expect(readAgain(world)).toEqual([expect.stringContaining(text)]);

  const { root, children } = await family(world);
  expect(children).toHaveLength(1);
  expect(clean(await tasks(world, 'rerun', root))).toContain('identical');
  const log = clean(await tasks(world, 'log', root));
  const [, forked = ''] = /^ *(\d+) \S+ child\.created /m.exec(log) ?? [];
  const branch = await world.run([
    'tasks',
    'branch',
    root,
    '--at',
    String(Number(forked) - 3),
    '--prompt',
    'read again',
  ]);
  expect(branch.code).toBe(0);
  expect(readAgain(world)).toEqual([expect.stringContaining(text), expect.stringContaining(text)]);
});
