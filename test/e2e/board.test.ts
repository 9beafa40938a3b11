import { expect, it } from 'vitest';
import {
  finder,
  GO,
  lastOf,
  listAll,
  openBoardWorld,
  post,
  readNewest,
  resultsIn,
} from './board-world.ts';
import { envelopeOf, eventsOf } from './muster.ts';
import { clean, complaint, family, tasks } from './tasks.ts';

const KEY = `glpat-${'aB3'.repeat(8)}`;

it('lets a task read what parallel tasks have posted, and shows it to people and programs', async () => {
  await using world = await openBoardWorld({
    go: [() => [finder('one'), finder('two')], () => [finder('three')]],
    one: [() => [post('The cache', `It is keyed by path. ${KEY}`)]],
    two: [() => [post('The tests', 'They need port 8080.'), post('More', 'Nothing.')]],
    three: [listAll, readNewest],
  });
  const run = await world.run([...GO, '--output-format', 'stream-json']);
  const [listed = '', read = ''] = resultsIn(lastOf(world, 'three'));
  const events = eventsOf(run).filter((event) => event.type === 'finding.posted');
  const titles = events.map(({ title }) => title);
  expect(titles.toSorted()).toEqual(['More', 'The cache', 'The tests']);
  expect(listed.split('\n').map((line) => line.replaceAll(/\b[a-z0-9]{12}\b/g, 'ID'))).toEqual([
    '[Findings 1 to 3 of 3, the oldest first. Later ones: Board(action: "list", id: "ID")]',
    ...titles.map((title) => `ID (finder, task ID, just now): ${title}`),
  ]);
  expect(read).toContain(events.at(-1)?.text);
  expect(JSON.stringify(events)).not.toContain(KEY);
  const parent = resultsIn(lastOf(world, 'go'));
  expect(parent.map((text) => /\d findings? on the board/.exec(text)?.[0])).toEqual([
    '1 finding on the board',
    '2 findings on the board',
    undefined,
  ]);
  const { root, children } = await family(world);
  const json = JSON.parse(clean(await tasks(world, 'board', children[2] ?? '', '--json')));
  expect(json).toEqual(
    events.map(({ finding, title, text, task, ts }) => {
      return { id: finding, title, text, task_id: task, subagent_type: 'finder', posted: ts };
    }),
  );
  const lines = clean(await tasks(world, 'board', root))
    .trimEnd()
    .split('\n');
  expect(lines.map((line) => line.replace(/ \(finder \w{12}, [\d -]+:\d\d\)$/, ''))).toEqual(
    events.map(({ finding, title }) => `${finding}  ${title}`),
  );
  const [, , last] = events;
  const one = clean(await tasks(world, 'board', root, last?.finding.slice(0, 8) ?? ''));
  expect(one).toMatch(new RegExp(`^${last?.title}\nfinder \\w{12}, [^\n]+\n\n${last?.text}\n$`));
  expect(complaint(await tasks(world, 'board', root, 'zzzz'))).toBe(
    'NOT_FOUND: id: no finding on the board begins with zzzz',
  );
  const shown = clean(await tasks(world, 'show', root));
  expect(shown).toMatch(
    /\n +\[1 finding\]\n[^]*\n +\[2 findings\]\n|\n +\[2 findings\]\n[^]*\n +\[1 finding\]\n/,
  );
  const section = /\nBoard\n([^]*?)\n\n/.exec(shown)?.[1]?.split('\n') ?? [];
  expect(section).toEqual([...lines, `the texts: muster tasks board ${root} FINDING`]);
  expect(envelopeOf(run).data.receipt.findings).toBeUndefined();
  const child = JSON.parse(clean(await tasks(world, 'show', children[1] ?? '', '--json')));
  expect(child.data.receipt.findings).toEqual(
    events
      .filter(({ task }) => task === children[1])
      .map(({ finding, title }) => ({ id: finding, title })),
  );
});

it('has the same requests as before for agents that do not ask for it', async () => {
  await using world = await openBoardWorld({});
  await world.run(GO);
  const { rawBody = '' } = lastOf(world, 'go') ?? {};
  expect(rawBody).not.toContain('"Board"');
  expect(clean(await tasks(world, 'board', (await family(world)).root))).toBe(
    'No task of this tree has posted a finding.\n',
  );
});

it('is denied by a rule', async () => {
  await using world = await openBoardWorld({ go: [() => [finder('one')]] });
  await world.run([...GO, '--deny', 'Board']);
  const [result] = resultsIn(lastOf(world, 'go'));
  expect(result).toContain("`finder` can't be started");
});
