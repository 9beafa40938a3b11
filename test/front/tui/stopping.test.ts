import { describe, expect, it } from 'vitest';
import { KEYS } from './emulator.ts';
import { Stage } from './stage.ts';
import { useVirtualTime } from './virtual-time.ts';

useVirtualTime();

/** A conversation at work, with one child. */
async function atWork(): Promise<Stage> {
  const stage = new Stage();
  await stage.say('Look at it');
  stage.call('mainmain', 'c1', 'Task', { description: 'look', subagent_type: 'Explore' });
  stage.begin('child1xx', { parent: 'mainmain', description: 'look' });
  return stage;
}

describe('messages that wait for the next turn', () => {
  it.each([
    ['esc', KEYS.escape],
    ['↑', KEYS.up],
  ])('are taken back with %s', async (_, key) => {
    await using stage = await atWork();
    await stage.say('and lint');
    await stage.say('and test');
    expect(await stage.screen()).toContain('waits for the next turn');
    await stage.emulator.press(key);
    const screen = await stage.screen();
    expect(screen).toContain('2 messages taken back');
    expect(screen).not.toContain('waits for the next turn');
    expect(screen).toMatch(/and lint *\n *\nand test/);
    expect(stage.asked).toMatchObject({ interrupted: [], stopped: [] });
    // The next press stops the turn.
    await stage.emulator.press(KEYS.escape);
    expect(stage.asked.interrupted).toEqual(['mainmain']);
  });

  it('stay before a text that is typed already', async () => {
    await using stage = await atWork();
    await stage.say('and lint');
    await stage.emulator.type('also this');
    await stage.emulator.press(KEYS.escape);
    expect(await stage.screen()).toMatch(/and lint *\n *\nalso this/);
  });

  it('are not taken back from a request', async () => {
    await using stage = await atWork();
    await stage.say('and lint');
    stage.write('mainmain', {
      type: 'turn.started',
      turn: 2,
      inputs: ['said-and lint'],
      model: 'm',
      toolChoice: 'auto',
    });
    await stage.emulator.press(KEYS.escape);
    expect(stage.asked.interrupted).toEqual(['mainmain']);
    await stage.say('/take-back');
    expect(await stage.screen()).toContain('too late: the model has been sent the message');
  });

  it('of an open child are taken back from it', async () => {
    await using stage = await atWork();
    await stage.emulator.press(KEYS.ctrlT, KEYS.down, KEYS.enter);
    await stage.say('look closer');
    expect(await stage.screen()).toContain('waits for the next turn');
    await stage.emulator.press(KEYS.up);
    expect(await stage.screen()).toContain('1 message taken back');
  });
});

describe('ctrl+x', () => {
  it('stops the open task', async () => {
    await using stage = await atWork();
    await stage.emulator.press(KEYS.ctrlT, KEYS.down, KEYS.enter, KEYS.ctrlX);
    expect(stage.asked.stopped).toEqual(['child1xx']);
    expect(await stage.screen()).toContain('stopping the task');
  });

  it('stops the chosen task of the tree', async () => {
    await using stage = await atWork();
    await stage.emulator.press(KEYS.ctrlT, KEYS.down, KEYS.ctrlX);
    expect(stage.asked.stopped).toEqual(['child1xx']);
  });

  it('says how to choose a task if none has the focus', async () => {
    await using stage = await atWork();
    await stage.emulator.press(KEYS.ctrlX);
    expect(await stage.screen()).toContain('open a task or choose one (ctrl+t) to stop it');
    expect(stage.asked.stopped).toEqual([]);
  });

  it('asks once more if the task has done much', async () => {
    await using stage = await atWork();
    for (let turn = 0; turn < 6; turn += 1) stage.answer('child1xx', 'looking');
    await stage.emulator.press(KEYS.ctrlT, KEYS.down, KEYS.ctrlX);
    expect(await stage.screen()).toContain('Explore has taken 6 turns: press it again to stop it');
    expect(stage.asked.stopped).toEqual([]);
    await stage.emulator.press(KEYS.ctrlX);
    expect(stage.asked.stopped).toEqual(['child1xx']);
  });

  it('asks once more if the task has children at work, and forgets that after another key', async () => {
    await using stage = await atWork();
    stage.begin('child2xx', { parent: 'child1xx', description: 'deeper' });
    await stage.emulator.press(KEYS.ctrlT, KEYS.ctrlX);
    expect(await stage.screen()).toContain('Explore has 1 task at work');
    await stage.emulator.press(KEYS.down, KEYS.up, KEYS.ctrlX);
    expect(stage.asked.stopped).toEqual([]);
  });
});

describe('the tree gives the keys back', () => {
  it('once the last child has ended, and the message about its stop goes', async () => {
    await using stage = await atWork();
    stage.begin('child2xx', { parent: 'mainmain', description: 'look again' });
    await stage.emulator.press(KEYS.ctrlT, 's');
    stage.end('child1xx', 'stopped', 'the user stopped it');
    const one = await stage.screen();
    expect(one).toContain('▶  ■ Explore child1');
    expect(one).not.toContain('stopping the task');
    expect(one).toMatch(/project · .*one · .* · \[default\] +enter open · esc back · r resume/);
    await stage.emulator.press(KEYS.down, 's');
    stage.end('child2xx', 'stopped', 'the user stopped it');
    expect(await stage.screen()).not.toContain('▶');
    await stage.emulator.type('go on');
    expect(await stage.screen()).toMatch(/─\ngo on/);
  });

  it.each([
    [40, '$0.0100 · [default]  enter open · s stop'],
    [60, 'one · 1 % · $0.0100 · [default]          enter open · s stop'],
    [80, 'project · one · 1 % · $0.0100 · [default]         enter open · s stop · esc back'],
  ])('and names its keys before it does, in %d columns', async (columns, line) => {
    await using stage = new Stage({ columns });
    stage.contextWindow = 200_000;
    await stage.say('Look at it');
    stage.call('mainmain', 'c1', 'Task', { description: 'look', subagent_type: 'Explore' });
    stage.begin('child1xx', { parent: 'mainmain', description: 'look' });
    await stage.emulator.press(KEYS.ctrlT);
    expect((await stage.screen()).trimEnd().split('\n').at(-1)).toBe(line);
  });

  it('but keeps them if the user looks at tasks that had ended before', async () => {
    await using stage = await atWork();
    stage.end('child1xx');
    await stage.emulator.press(KEYS.ctrlT, KEYS.down);
    stage.answer('mainmain', 'It is done.');
    stage.end('mainmain');
    expect(await stage.screen()).toContain('▶  ✓ Explore child1');
  });
});

describe('esc twice', () => {
  it('opens /undo if nothing is at work and the editor is empty', async () => {
    await using stage = await atWork();
    stage.end('child1xx');
    stage.end('mainmain');
    stage.finish();
    await stage.screen();
    await stage.emulator.press(KEYS.escape);
    expect(await stage.screen()).toContain('esc again: undo (/undo)');
    await stage.emulator.press(KEYS.escape);
    expect(await stage.screen()).toContain('Go back to before a message');
  });

  it('does nothing while a text is typed', async () => {
    await using stage = await atWork();
    stage.end('child1xx');
    stage.end('mainmain');
    stage.finish();
    await stage.screen();
    await stage.emulator.type('half a thought');
    await stage.emulator.press(KEYS.escape, KEYS.escape);
    const screen = await stage.screen();
    expect(screen).toContain('half a thought');
    expect(screen).not.toContain('undo (/undo)');
  });
});
