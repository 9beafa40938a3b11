import { describe, expect, it } from 'vitest';
import { KEYS } from './emulator.ts';
import { Stage, type StageOptions } from './stage.ts';
import { useVirtualTime } from './virtual-time.ts';

useVirtualTime();

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

describe('an earlier conversation', () => {
  it('shows its messages, and its children in the tree with their outcomes', async () => {
    await using stage = earlier();
    stage.app.session.open('mainmain');
    await loaded(stage);
    const screen = await stage.screen();
    expect(screen).toContain('> Look at it');
    expect(screen).toContain('All looked at.');
    expect(screen).toMatch(/^ {2,3}✓ Explore child1 first part · completed/m);
    expect(screen).toMatch(/^ {4,5}✓ Bash grand1 below · completed/m);
    expect(screen).toMatch(/^ {2,3}■ Plan child2 second part · stopped/m);
  });

  it('opens the transcript of a child', async () => {
    await using stage = earlier();
    stage.app.session.open('mainmain');
    await loaded(stage);
    await stage.emulator.press(KEYS.down, KEYS.enter);
    const screen = await stage.screen();
    expect(screen).toMatch(/^← Explore child1: first part/);
    expect(screen).toContain('Found in retry.ts.');
  });
});

describe('a conversation that was cut off', () => {
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
    stage.app.session.open('mainmain');
    while (!(await stage.screen()).includes(hint)) {
      // It is read after the first picture.
    }
  }

  it('continues where it was when enter is pressed', async () => {
    await using stage = cutOff();
    await shown(stage, 'enter continues where it was cut off');
    expect(await stage.screen()).toMatch(/^○ Bash npm test$/m);
    await stage.emulator.press(KEYS.enter);
    expect(stage.asked.resumed).toEqual([['mainmain', null]]);
  });

  it('says that it has a question', async () => {
    await using stage = cutOff();
    stage.question('mainmain', 'c');
    stage.write('mainmain', { type: 'task.parked', questions: ['mainmainq1'] });
    await shown(stage, 'enter continues: it has a question');
  });

  it('continues with a message', async () => {
    await using stage = cutOff();
    await shown(stage, 'enter continues where it was cut off');
    await stage.say('only the parser');
    expect(stage.asked.resumed).toEqual([['mainmain', 'only the parser']]);
  });

  it('does not continue on Enter if it had ended', async () => {
    await using stage = earlier();
    stage.app.session.open('mainmain');
    await loaded(stage);
    await stage.emulator.press(KEYS.escape, KEYS.enter);
    expect(stage.asked.resumed).toEqual([]);
  });
});

describe('an ended task', () => {
  it('continues with a message while it is open, and an idle conversation waits for it', async () => {
    await using stage = earlier();
    stage.app.session.open('mainmain');
    await loaded(stage);
    await stage.emulator.press(KEYS.down, KEYS.enter);
    await stage.say('and the tests?');
    expect(stage.asked).toMatchObject({
      sent: [],
      woken: [['child1xx', 'and the tests?', 'idle']],
    });
  });

  it('continues on r in the tree', async () => {
    await using stage = earlier();
    stage.app.session.open('mainmain');
    await loaded(stage);
    await stage.emulator.press(KEYS.down, 'r');
    expect(stage.asked.woken).toEqual([['child1xx', null, 'idle']]);
    expect(await stage.screen()).toContain('Explore child1 continues in the background');
  });

  it('continues below a conversation at work', async () => {
    await using stage = new Stage();
    await stage.say('Look at it');
    stage.begin('child1xx', { parent: 'mainmain' });
    stage.end('child1xx');
    await stage.emulator.press(KEYS.ctrlT, KEYS.down, 'r');
    expect(stage.asked.woken).toEqual([['child1xx', null, 'at work']]);
  });

  it.each([
    ['the conversation itself', 'mainmain', 'type a message to continue the conversation'],
    ['one at work', null, 'the task has not ended'],
  ])('is not %s', async (_, ended, hint) => {
    await using stage = new Stage({ columns: 120 });
    await stage.say('Look at it');
    stage.begin('child1xx', { parent: 'mainmain' });
    if (ended !== null) stage.end(ended);
    await stage.emulator.press(KEYS.ctrlT, ...(ended === null ? [] : [KEYS.up]), 'r');
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
    expect(screen).toMatch(/Resume a conversation +1 of 1 · this directory/);
    expect(screen).toMatch(/▶ ✓ Look at it +just now +\$\S+ +1 turn/);
    expect(screen).toContain('enter resumes · esc closes · tab all directories');
  });

  it('replaces the conversation, and says how to return', async () => {
    await using stage = earlier();
    stage.begin('otherone', { agent: 'main', prompt: 'Something else', description: 'other' });
    stage.release('otherone', 'mainmain');
    stage.app.session.open('otherone');
    const screen = await command(stage, '/resume main');
    expect(screen).toContain('All looked at.');
    expect(screen).toContain('/resume otherone returns to the previous conversation');
    expect(screen).not.toContain('Something else');
  });

  it('lists the conversations if the named one does not exist', async () => {
    await using stage = earlier({ cwd: '/work' });
    const screen = await command(stage, '/resume nothere');
    expect(screen).toContain('there is no conversation nothere: choose one');
    expect(screen).toContain('▶ ✓ Look at it');
  });

  it('is refused while the conversation is at work, and for other tasks', async () => {
    await using stage = earlier({ columns: 120 });
    expect(await command(stage, '/resume child1')).toContain('is a task of conversation mainmain');
    expect(await command(stage, '/resume mainmain')).toContain(
      'is working on it: muster tasks watch',
    );
  });
});

describe('a watched conversation', () => {
  const watched = {
    id: 'mainmain',
    isAtWork: false,
    isWatched: true,
    select: () => {},
    send: () => {},
    withdraw: () => [],
    continueWork: () => {},
    resumeTask: () => {},
  };

  it('says that it is watched, and that it continues when the user leaves', async () => {
    await using stage = earlier({ columns: 100, watched });
    stage.app.session.open('mainmain');
    expect(await stage.screen()).toContain('watching');
    await stage.emulator.press(KEYS.ctrlC);
    expect(await stage.screen()).toContain('ctrl+c again leaves; the watched tasks continue');
    await stage.emulator.press(KEYS.ctrlC);
    expect(stage.hasLeft).toBe(true);
    expect(stage.asked).toMatchObject({ stopped: [], interrupted: [] });
  });

  it('is stopped only by pressing esc twice', async () => {
    await using stage = new Stage({ columns: 100, watched });
    stage.begin('mainmain', { agent: 'main', prompt: 'Look at it' });
    stage.app.session.open('mainmain');
    stage.place('mainmain');
    await stage.emulator.press(KEYS.escape);
    expect(await stage.screen()).toContain('press esc again to stop it and all tasks below it');
    expect(stage.asked.stopped).toEqual([]);
    await stage.emulator.press(KEYS.escape);
    expect(stage.asked).toMatchObject({ stopped: ['mainmain'], interrupted: [] });
  });

  it.each(['/new', '/compact', '/resume'])('does not have %s', async (name) => {
    await using stage = earlier({ columns: 100, watched });
    stage.app.session.open('mainmain');
    await stage.emulator.type(name);
    await stage.emulator.press(KEYS.escape, KEYS.enter);
    expect(await stage.screen()).toContain(`${name} does not work while you watch another process`);
  });
});
