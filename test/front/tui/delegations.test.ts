import { describe, expect, it } from 'vitest';
import { KEYS } from './emulator.ts';
import { Stage, type StageOptions } from './stage.ts';
import { useVirtualTime } from './virtual-time.ts';

useVirtualTime();

/** A conversation whose main agent calls Task in one message, once for each name. */
async function fanOut(
  names: readonly string[],
  { background = false, ...options }: StageOptions & { readonly background?: boolean } = {},
): Promise<Stage> {
  const stage = new Stage({ rows: 30, ...options });
  await stage.say('Look at all of them');
  const inputs = names.map((name, index) => ({
    type: 'tool_call' as const,
    id: `t${index}`,
    name: 'Task',
    input: { description: `look at ${name}`, prompt: 'look', subagent_type: 'Explore' },
  }));
  stage.calls('mainmain', inputs);
  for (const [index, name] of names.entries()) {
    const description = `look at ${name}`;
    const callId = `t${index}`;
    stage.begin(`child${index}xx`, { parent: 'mainmain', description, callId, background });
  }
  return stage;
}

const TWELVE = Array.from({ length: 12 }, (_, index) => `part ${index}`);

describe('equal calls of one message', () => {
  it('are one block that counts states', async () => {
    await using stage = await fanOut(TWELVE);
    expect(await stage.screen()).toMatch(/● 12 × Explore: 12 at work · look at part 0, look at/);
    for (let index = 0; index < 8; index += 1) {
      stage.end(`child${index}xx`, index === 7 ? 'failed' : 'completed');
      stage.result('mainmain', `t${index}`, 'Task', 'found', index === 7 ? 'NOT_FOUND' : null);
    }
    const screen = await stage.screen();
    expect(screen).toContain('● 12 × Explore: 7 done, 1 failed, 4 at work');
    expect(screen).not.toMatch(/Task Explore/);
  });

  it('unfold to one line each, and one of them further', async () => {
    await using stage = await fanOut(TWELVE.slice(0, 3), { rows: 40 });
    stage.end('child0xx');
    stage.result('mainmain', 't0', 'Task', 'the answer of the first');
    stage.end('child1xx');
    stage.result('mainmain', 't1', 'Task', 'the answer of the second');
    await stage.emulator.press('\u0013', KEYS.enter);
    const lines = (await stage.screen()).split('\n').map((line) => line.trimEnd());
    const at = lines.findIndex((line) => line.includes('3 × Explore'));
    expect(lines[at]).toContain('▶ ● 3 × Explore: 2 done, 1 at work');
    expect(lines[at + 1]).toMatch(/^ {4}✓ child0 look at part 0 +done$/);
    expect(lines[at + 2]).toMatch(/^ {2}✓ child1 look at part 1 +done$/);
    expect(lines[at + 3]).toMatch(/^ {2}● child2 look at part 2 +at work$/);
    await stage.emulator.press(KEYS.down, KEYS.enter);
    expect(await stage.screen()).toContain('the answer of the second');
    expect(await stage.screen()).not.toContain('the answer of the first');
  });

  it('can be found by a search while they are folded', async () => {
    await using stage = await fanOut(TWELVE.slice(0, 3));
    stage.end('child1xx');
    stage.result('mainmain', 't1', 'Task', 'a needle in it');
    await stage.emulator.press('\u0006');
    await stage.emulator.type('needle');
    await stage.emulator.press(KEYS.enter);
    expect(await stage.screen()).toMatch(/▶ +a needle in it/);
  });

  it.each([40, 60, 200])('fit on %i columns', async (columns) => {
    await using stage = await fanOut(TWELVE, { columns });
    const screen = await stage.screen();
    expect(screen).toContain('12 × Explore: 12 at work');
  });

  it('are not joined over two messages', async () => {
    await using stage = await fanOut(TWELVE.slice(0, 2));
    stage.calls('mainmain', [
      {
        type: 'tool_call',
        id: 'later',
        name: 'Task',
        input: { description: 'look again', prompt: 'look', subagent_type: 'Explore' },
      },
    ]);
    const screen = await stage.screen();
    expect(screen).toContain('2 × Explore: 2 at work');
    expect(screen).toContain('Task Explore: look again');
  });
});

describe('a task in the background', () => {
  it('looks like a start, and its end has a line of its own', async () => {
    await using stage = await fanOut(['one'], { background: true });
    stage.result('mainmain', 't0', 'Task', 'Task child0xx runs in the background.');
    expect(await stage.screen()).toMatch(
      /● Task Explore: look at one +in the background, child0: ctrl\+t, \/tasks/,
    );
    stage.end('child0xx');
    const screen = await stage.screen();
    expect(screen).toMatch(/✓ Task Explore: look at one +was in the background, child0/);
    expect(screen).toMatch(/✓ Explore: look at one completed in the background +child0/);
  });

  it('shows that it failed', async () => {
    await using stage = await fanOut(['one'], { background: true });
    stage.result('mainmain', 't0', 'Task', 'Task child0xx runs in the background.');
    stage.end('child0xx', 'failed', 'the model is gone');
    expect(await stage.screen()).toContain('✗ Explore: look at one failed in the background');
  });

  it('has a line for each further reply', async () => {
    await using stage = await fanOut(['one']);
    stage.end('child0xx');
    stage.result('mainmain', 't0', 'Task', 'found');
    stage.write('mainmain', {
      type: 'child.resumed',
      child: 'child0xx',
      callId: 'by-the-user',
      background: true,
    });
    stage.endChild('child0xx');
    expect(await stage.screen()).toContain(
      '✓ Explore: look at one completed again, in the background',
    );
  });
});

it('waiting for the first token is not shown as connecting', async () => {
  await using stage = new Stage();
  await stage.say('Look');
  stage.ask('mainmain');
  expect(await stage.screen()).toMatch(/● main connecting/);
  stage.signal({ type: 'request_sent', task: 'mainmain' });
  expect(await stage.screen()).toMatch(/● main waiting for the first token for \d+ s/);
  stage.write('mainmain', { type: 'turn.accepted', turn: 1 });
  expect(await stage.screen()).toMatch(/● main streaming/);
  // A late signal changes nothing.
  stage.signal({ type: 'request_sent', task: 'mainmain' });
  expect(await stage.screen()).toMatch(/● main streaming/);
});

describe('an estimate before a fan-out', () => {
  it('is a note from the costs of earlier tasks', async () => {
    await using stage = new Stage({ rows: 30 });
    for (let index = 0; index < 5; index += 1) stage.endEarlier(`earlier${index}`, 'Explore', 0.05);
    await stage.say('Look at all of them');
    const inputs = TWELVE.map((name, index) => ({
      type: 'tool_call' as const,
      id: `t${index}`,
      name: 'Task',
      input: { description: name, prompt: 'look', subagent_type: 'Explore' },
    }));
    stage.calls('mainmain', inputs);
    await stage.screen();
    expect(await stage.screen()).toContain(
      '12 × Explore, about $0.60 (your last 5 with scripted/one)',
    );
  });

  it('is not given without earlier tasks', async () => {
    await using stage = await fanOut(TWELVE);
    await stage.screen();
    expect(await stage.screen()).not.toContain('about $');
  });
});
