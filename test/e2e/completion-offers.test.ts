import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eventsOf, type RunOptions } from './muster.ts';
import { clean, complaint } from './tasks.ts';
import { bash, callsInTurn, openWorld, type World } from './world.ts';

/** The first line and the candidates that fish would get, behind a tab what each is. */
async function offered(world: World, words: readonly string[], options: RunOptions = {}) {
  const run = await world.run(['completion', 'fish', '--', ...words], options);
  const [paths, ...lines] = clean(run).trimEnd().split('\n');
  return { paths, texts: lines.map((line) => line.split('\t')[0]), lines };
}

/** A task that has ended, and one that waits for an answer: newest first. */
async function twoTasks(world: World): Promise<readonly [string, string]> {
  const ended = await world.run(['-p', 'end', '--output-format', 'stream-json']);
  const asks = ['-p', 'ask', '--on-ask', 'park', '--permission-mode', 'default'];
  const parked = await world.run([...asks, '--output-format', 'stream-json']);
  const idOf = (run: { readonly stdout: string }) => eventsOf(run)[0]?.task ?? '';
  return [idOf(parked), idOf(ended)];
}

const asking = callsInTurn([bash('touch made')]);

function everythingIn(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .toSorted()
    .map((name) => {
      const { size, mtimeMs } = statSync(join(directory, name));
      return `${name} ${size} ${mtimeMs}`;
    });
}

describe('the offered tasks', () => {
  it('are those that the command accepts, newest first, with a description', async () => {
    await using world = await openWorld({
      script: (request) =>
        JSON.stringify(request.messages).includes('ask') ? asking(request) : { text: 'Done.' },
    });
    const [parked, ended] = await twoTasks(world);
    const show = await offered(world, ['tasks', 'show', '']);
    expect(show.texts).toEqual([parked, ended]);
    expect(show.lines[1]).toMatch(/\tcompleted main: end$/);
    expect((await offered(world, ['tasks', 'stop', ''])).texts).toEqual([parked]);
    expect((await offered(world, ['tasks', 'delete', ''])).texts).toEqual([ended]);
    expect((await offered(world, ['run', '--continue', ''])).texts).toEqual([]);
    const { texts: questions } = await offered(world, ['tasks', 'answer', '']);
    expect(questions).toEqual([expect.stringMatching(`^${parked}q`)]);
    expect((await offered(world, ['--resume', ''])).texts).toEqual(['last', parked, ended]);
  });

  it('are those of the data directory on the line, also below ~', async () => {
    await using world = await openWorld({ script: () => ({ text: 'Done.' }) });
    const data = join(world.sandbox.home, 'other data');
    clean(await world.run(['-p', 'end', '--data-dir', data]));
    const words = ['--data-dir', '~/other data', 'tasks', 'show', ''];
    expect((await offered(world, words)).texts).toHaveLength(1);
    expect((await offered(world, ['--data-dir=', 'tasks', 'show', ''])).texts).toEqual([]);
    const absent = ['completion', 'zsh', '--', '--data-dir', '/nonexistent', 'tasks', 'show', ''];
    expect(complaint(await world.run(absent), 2)).toContain('no data directory /nonexistent');
  });
});

it('are found without writing anything, whether or not there have ever been tasks', async () => {
  await using world = await openWorld({ script: () => ({ text: 'Done.' }) });
  const { sandbox } = world;
  clean(await world.run(['-p', 'end']));
  const empty = join(sandbox.root, 'empty');
  mkdirSync(empty);
  // What is compiled is kept in the home directory.
  const all = () => [sandbox.data, sandbox.workspace, empty].map(everythingIn);
  const before = all();
  for (const words of [['show'], ['answer'], ['stop']]) {
    await offered(world, ['tasks', ...words, '']);
    await offered(world, ['--data-dir', empty, 'tasks', ...words, '']);
  }
  await offered(world, ['agents', 'show', '']);
  await offered(world, ['run', '']);
  await offered(world, ['--model', '']);
  clean(await world.run(['tasks', 'list', '--data-dir', empty]));
  expect(all()).toEqual(before);
});

const HOSTILE = '---\nname: "wrong$(touch pwned)"\ndescription: Reviews.\n---\nReview.';
const PAINTED = '---\nname: painter\ndescription: "Paints\\e]0;owned\\a\\nand more."\n---\nPaint.';

describe('the offered agents', () => {
  it('are the trusted ones, once each, and cannot control a terminal', async () => {
    await using world = await openWorld({
      files: { '.claude/agents/hostile.md': HOSTILE, '.claude/agents/painter.md': PAINTED },
    });
    const own = await offered(world, ['agents', 'show', '']);
    expect(own.texts).toEqual(expect.arrayContaining(['Explore', 'Plan']));
    expect(own.texts).not.toContain('painter');
    const trusting = await offered(world, ['--trust-project', 'agents', 'show', '']);
    expect(trusting.texts).toContain('painter');
    expect(new Set(trusting.texts).size).toBe(trusting.texts.length);
    for (const text of trusting.texts) expect(text).toMatch(/^[\w:-]+$/);
    for (const line of trusting.lines) expect(line).not.toMatch(/(?!\t)\p{Cc}/u);
    const there = ['--cwd', world.sandbox.workspace, '--trust-project', 'agents', 'show', ''];
    const elsewhere = await offered(world, there, { cwd: world.sandbox.root });
    expect(elsewhere.texts).toEqual(trusting.texts);
  });

  it('are at most as many as a person reads; if there are more, only those with the typed beginning', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 250 }, (_, index) => [
        `.claude/agents/many-${index}.md`,
        `---\nname: many-${index}\ndescription: One.\n---\nWork.`,
      ]),
    );
    await using world = await openWorld({ files });
    const all = await offered(world, ['--trust-project', 'agents', 'show', '']);
    expect(all.texts).toHaveLength(200);
    const some = await offered(world, ['--trust-project', 'agents', 'show', 'MANY-24']);
    expect(some.texts.toSorted()).toEqual(
      ['many-24', ...Array.from({ length: 10 }, (_, index) => `many-24${index}`)].toSorted(),
    );
  });
});

it('the models of the configuration are offered with the tiers, except names that a shell could act on', async () => {
  await using world = await openWorld();
  world.sandbox.write(
    '../home/.config/muster/config.toml',
    '[models]\nfast = "local/quick"\n[models.catalogue."local/slow"]\noutput_limit = 1000\n[models.catalogue."local/$(x)"]\noutput_limit = 1000\n',
  );
  const { texts } = await offered(world, ['--model', '']);
  const tiers = ['fast', 'balanced', 'powerful', 'auto', 'offline'];
  expect(texts).toEqual([...tiers, 'local/quick', 'local/slow']);
});

it('the offered providers are those that are known, and the accounts those that are stored', async () => {
  await using world = await openWorld();
  const { sandbox } = world;
  const config = '[models.providers.mine]\nbase_url = "https://mine.example/v1"\n';
  sandbox.write('../home/.config/muster/config.toml', config);
  const words = (...line: readonly string[]) => offered(world, [...line, '']);
  const { texts, lines } = await words('login');
  expect(texts).toEqual(expect.arrayContaining(['anthropic', 'openrouter', 'ollama', 'mine']));
  expect(lines).toContain('openrouter\tOpenRouter');
  expect((await words('logout')).texts).toEqual([]);
  for (const name of ['default', 'work']) {
    const args = ['login', 'mine', '--no-check', '--account', name];
    expect((await world.run(args, { stdin: 'sk-key-of-test' })).code).toBe(0);
  }
  expect((await words('logout')).texts).toEqual(['mine']);
  expect((await words('logout', 'mine', '--account')).texts).toEqual(['default', 'work']);
  expect((await words('login', 'mine', '--store')).texts).toEqual(['auto', 'keychain', 'file']);
});
