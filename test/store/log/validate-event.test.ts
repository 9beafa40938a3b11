import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openFileStore } from '../../../src/store/file-store.ts';
import { taskSpec, turnEnded, warning } from '../fixture-data.ts';
import { tempDir, tickingClock } from '../fixtures.ts';
import { readLog } from '../read-log.ts';

const ID = 'task00000001';
const RULE = { text: 'Read', tool: 'Read', source: { kind: 'flag', where: '--deny' } } as const;

/** Fields that readers use without a check of their own. */
const TERMS = (
  'rights mode rules allow ask deny text tool source roots disallowedTools network depth maxDepth ' +
  'limits maxTurns maxTokens wallMs resultMaxTokens model provider id chain'
).split(' ');
const FIELDS = {
  'task.created': [...TERMS, 'prompt', 'tools', 'handed', 'prefix', 'cwd', 'root', 'description'],
  'terms.changed': TERMS,
  'turn.ended': 'message content id name usage input output cacheRead cacheWrite reasoning'.split(
    ' ',
  ),
};

/** Writes a log with one event of each of these types, and a last one that must stay readable. */
async function writeLog() {
  const dataDir = tempDir();
  const store = openFileStore({ dataDir, durability: 'fast', clock: tickingClock() });
  const { rights: plain, limits, model, ...rest } = taskSpec(ID);
  const rights = { ...plain, rules: { allow: [], ask: [], deny: [RULE] } };
  const log = store.create({ ...rest, rights, limits, model });
  const call = { type: 'tool_call', id: 'c1', name: 'Read', input: { file_path: 'a' } } as const;
  log.append([
    { type: 'terms.changed', rights, limits, model },
    turnEnded({ message: { role: 'assistant', content: [call] } }),
    warning('last'),
  ]);
  await store.close();
  const path = join(dataDir, 'tasks', `${ID}.jsonl`);
  return { dataDir, path, lines: readFileSync(path, 'utf8').split('\n') };
}

/** Copies a line once for each key of this name outside the agent's definition, with that key misspelled. */
function misspell(line: string, key: string): readonly string[] {
  const agent = JSON.stringify(taskSpec(ID).agent);
  const start = line.indexOf(agent);
  return [...line.matchAll(new RegExp(`"${key}":`, 'g'))]
    .map(({ index }) => index)
    .filter((at) => start === -1 || at < start || at > start + agent.length)
    .map((at) => `${line.slice(0, at)}"~${line.slice(at + 2)}`);
}

it.each(Object.entries(FIELDS))(
  'a wrong letter in a key of %s loses only that event, with one problem',
  async (type, fields) => {
    const { dataDir, path, lines } = await writeLog();
    const at = lines.findIndex((line) => line.includes(`"type":"${type}"`));
    const store = openFileStore({ dataDir, durability: 'fast' });
    for (const field of fields) {
      const texts = misspell(lines[at] ?? '', field);
      expect(texts, field).not.toEqual([]);
      for (const text of texts) {
        writeFileSync(path, lines.with(at, text).join('\n'));
        const { events, problems } = readLog(store, ID);
        expect(
          events.map((event) => event.type),
          text,
        ).not.toContain(type);
        expect(events.at(-1), text).toMatchObject({ type: 'warning', message: 'last' });
        expect(problems, text).toMatchObject([
          { code: 'damaged', line: at + 1, message: expect.stringContaining(type) },
        ]);
      }
    }
    await store.close();
  },
);

it.each([
  ['a cost that is a text', { costUsd: '0.25' }],
  ['an estimate without its numbers', { estimated: { usage: {}, costUsd: null } }],
])('%s is damage', async (_name, change) => {
  const { dataDir, path, lines } = await writeLog();
  const at = lines.findIndex((line) => line.includes('"type":"turn.ended"'));
  writeFileSync(
    path,
    lines.with(at, JSON.stringify({ ...JSON.parse(lines[at] ?? ''), ...change })).join('\n'),
  );
  const store = openFileStore({ dataDir, durability: 'fast' });
  expect(readLog(store, ID).problems).toMatchObject([{ code: 'damaged', line: at + 1 }]);
  await store.close();
});
