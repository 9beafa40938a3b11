import { describe, expect, it } from 'vitest';
import { KEYS } from './emulator.ts';
import { Stage, type StageOptions } from './stage.ts';

/** A conversation of earlier with two children, one of which had a child of its own. */
function earlier(options: StageOptions = {}): Stage {
  const stage = new Stage(options);
  stage.begin('mainmain', { agent: 'main', description: 'Look at it', prompt: 'Look at it' });
  stage.begin('child1xx', { agent: 'Explore', description: 'first part', parent: 'mainmain' });
  stage.begin('grand1xx', { agent: 'Bash', description: 'below', parent: 'child1xx' });
  stage.answer('grand1xx', 'It is green.');
  stage.end('grand1xx');
  stage.answer('child1xx', 'Found in retry.ts.');
  stage.end('child1xx');
  stage.begin('child2xx', { agent: 'Plan', description: 'second part', parent: 'mainmain' });
  stage.end('child2xx', 'stopped', 'the user stopped it');
  stage.answer('mainmain', 'All looked at.');
  stage.end('mainmain');
  return stage;
}

/** What was done before is in the tree. */
async function loaded(stage: Stage): Promise<void> {
  await stage.emulator.press(KEYS.ctrlT);
  while (!(await stage.screen()).includes('Plan child2')) {
    // It is read after the first picture.
  }
}

describe('a conversation of earlier', () => {
  it('shows what was said, and its children in the tree, each with how it ended', async () => {
    await using stage = earlier();
    stage.app.open('mainmain');
    await loaded(stage);
    const screen = await stage.screen();
    expect(screen).toContain('> Look at it');
    expect(screen).toContain('All looked at.');
    expect(screen).toMatch(/^ {2,3}✓ Explore child1 first part · completed/m);
    expect(screen).toMatch(/^ {4,5}✓ Bash grand1 below · completed/m);
    expect(screen).toMatch(/^ {2,3}■ Plan child2 second part · stopped/m);
  });

  it('opens what a child of it said', async () => {
    await using stage = earlier();
    stage.app.open('mainmain');
    await loaded(stage);
    await stage.emulator.press(KEYS.down, KEYS.enter);
    const screen = await stage.screen();
    expect(screen).toMatch(/^← Explore child1: first part/);
    expect(screen).toContain('Found in retry.ts.');
  });
});

describe('one that was cut off', () => {
  /** In the middle of a turn: its process was killed. */
  function cutOff(options: StageOptions = {}): Stage {
    const stage = new Stage({ columns: 120, ...options });
    stage.begin('mainmain', { agent: 'main', prompt: 'Look at it' });
    stage.call('mainmain', 'c', 'Bash', { command: 'npm test' });
    return stage;
  }

  /** What was done before is known. */
  async function shown(stage: Stage, hint: string): Promise<void> {
    stage.release('mainmain');
    stage.app.open('mainmain');
    while (!(await stage.screen()).includes(hint)) {
      // It is read after the first picture.
    }
  }

  it('goes on where it was by enter alone', async () => {
    await using stage = cutOff();
    await shown(stage, 'enter goes on where it was cut off');
    expect(await stage.screen()).toMatch(/^○ Bash npm test$/m);
    await stage.emulator.press(KEYS.enter);
    expect(stage.asked.resumed).toEqual([['mainmain', null]]);
  });

  it('says that it asks something', async () => {
    await using stage = cutOff();
    stage.question('mainmain', 'c');
    stage.write('mainmain', { type: 'task.parked', questions: ['mainmainq1'] });
    await shown(stage, 'enter goes on: it asks something');
  });

  it('goes on with what is typed', async () => {
    await using stage = cutOff();
    await shown(stage, 'enter goes on where it was cut off');
    await stage.say('only the parser');
    expect(stage.asked.resumed).toEqual([['mainmain', 'only the parser']]);
  });

  it('one that came to rest does not go on by enter alone', async () => {
    await using stage = earlier();
    stage.app.open('mainmain');
    await loaded(stage);
    await stage.emulator.press(KEYS.escape, KEYS.enter);
    expect(stage.asked.resumed).toEqual([]);
  });
});

describe('an ended task', () => {
  it('goes on with what is typed while it is open; an idle conversation waits for it', async () => {
    await using stage = earlier();
    stage.app.open('mainmain');
    await loaded(stage);
    await stage.emulator.press(KEYS.down, KEYS.enter);
    await stage.say('and the tests?');
    expect(stage.asked).toMatchObject({
      sent: [],
      woken: [['child1xx', 'and the tests?', 'idle']],
    });
  });

  it('goes on by r in the tree', async () => {
    await using stage = earlier();
    stage.app.open('mainmain');
    await loaded(stage);
    await stage.emulator.press(KEYS.down, 'r');
    expect(stage.asked.woken).toEqual([['child1xx', null, 'idle']]);
    expect(await stage.screen()).toContain('Explore child1 goes on in the background');
  });

  it('goes on below a conversation at work', async () => {
    await using stage = new Stage();
    await stage.say('Look at it');
    stage.begin('child1xx', { parent: 'mainmain' });
    stage.end('child1xx');
    await stage.emulator.press(KEYS.ctrlT, KEYS.down, 'r');
    expect(stage.asked.woken).toEqual([['child1xx', null, 'at work']]);
  });

  it.each([
    ['the conversation itself', [], 'type a message: the conversation goes on with it'],
    ['one at work', [KEYS.down], 'it has not ended'],
  ])('is not %s', async (_, keys, hint) => {
    await using stage = new Stage({ columns: 120 });
    await stage.say('Look at it');
    stage.begin('child1xx', { parent: 'mainmain' });
    if (keys.length === 0) stage.end('mainmain');
    await stage.emulator.press(KEYS.ctrlT, ...keys, 'r');
    expect(await stage.screen()).toContain(hint);
    expect(stage.asked.woken).toEqual([]);
  });
});

describe('/resume', () => {
  async function command(stage: Stage, text: string): Promise<string> {
    await stage.emulator.type(text);
    await stage.emulator.press(KEYS.escape, KEYS.enter);
    return stage.screen();
  }

  it('lists the conversations of this directory', async () => {
    await using stage = earlier({ cwd: '/work' });
    const screen = await command(stage, '/resume');
    expect(screen).toContain('Conversations here: 1');
    expect(screen).toMatch(/✓ mainmain +\S+.* ago +completed +Look at it/);
    expect(screen).toContain('/resume ID goes on with one');
  });

  it('takes the place of what was there, and says how to go back', async () => {
    await using stage = earlier();
    stage.begin('otherone', { agent: 'main', prompt: 'Something else', description: 'other' });
    stage.release('otherone', 'mainmain');
    stage.app.open('otherone');
    const screen = await command(stage, '/resume main');
    expect(screen).toContain('All looked at.');
    expect(screen).toContain('/resume otherone goes back to the one before');
    expect(screen).not.toContain('Something else');
  });

  it('is refused while it is at work, and for what is no conversation', async () => {
    await using stage = earlier({ columns: 120 });
    expect(await command(stage, '/resume nothere')).toContain('nothere');
    expect(await command(stage, '/resume child1')).toContain('is a task of conversation mainmain');
    expect(await command(stage, '/resume mainmain')).toContain('works on it: muster tasks watch');
  });
});

describe('what is watched', () => {
  const watched = {
    id: 'mainmain',
    isAtWork: false,
    isWatched: true,
    select: () => {},
    send: () => {},
    continueWork: () => {},
    resumeTask: () => {},
  };

  it('says so, and that it goes on when it is left', async () => {
    await using stage = earlier({ columns: 100, watched });
    stage.app.open('mainmain');
    expect(await stage.screen()).toContain('watching');
    await stage.emulator.press(KEYS.ctrlC);
    expect(await stage.screen()).toContain('press it again to leave; what is watched goes on');
    await stage.emulator.press(KEYS.ctrlC);
    expect(stage.hasLeft).toBe(true);
    expect(stage.asked).toMatchObject({ stopped: [], interrupted: [] });
  });

  it('is stopped by esc pressed twice alone', async () => {
    await using stage = new Stage({ columns: 100, watched });
    stage.begin('mainmain', { agent: 'main', prompt: 'Look at it' });
    stage.app.open('mainmain');
    stage.place('mainmain');
    await stage.emulator.press(KEYS.escape);
    expect(await stage.screen()).toContain('esc again stops it with all below it');
    expect(stage.asked.stopped).toEqual([]);
    await stage.emulator.press(KEYS.escape);
    expect(stage.asked).toMatchObject({ stopped: ['mainmain'], interrupted: [] });
  });

  it.each(['/new', '/compact', '/resume'])('has no %s', async (name) => {
    await using stage = earlier({ columns: 100, watched });
    stage.app.open('mainmain');
    await stage.emulator.type(name);
    await stage.emulator.press(KEYS.escape, KEYS.enter);
    expect(await stage.screen()).toContain(`${name} is not for what is watched`);
  });
});
