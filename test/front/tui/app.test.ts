import { describe, expect, it } from 'vitest';
import { KEYS } from './emulator.ts';
import { Stage } from './stage.ts';
import { useVirtualTime } from './virtual-time.ts';

useVirtualTime();

async function asking(): Promise<Stage> {
  const stage = new Stage();
  await stage.say('Run the tests');
  stage.begin('child1xx', { agent: 'general-purpose', description: 'tests', parent: 'mainmain' });
  stage.call('child1xx', 'b', 'Bash', { command: 'npm test' });
  stage.question('child1xx', 'b');
  return stage;
}

describe('a question', () => {
  it('takes no key while a message is being typed', async () => {
    await using stage = await asking();
    await stage.emulator.type('yes, any run');
    await stage.emulator.press(KEYS.tab);
    expect(stage.asked.answers).toEqual([]);
    expect(await stage.screen()).toMatch(/^yes, any run$/m);
  });

  it.each([
    ['y', { text: 'yes' }],
    ['a', { text: 'always' }],
    ['n', { text: 'no' }],
  ])('is answered by tab and %s', async (key, answer) => {
    await using stage = await asking();
    await stage.emulator.press(KEYS.tab, key);
    expect(stage.asked.answers).toEqual([{ question: 'child1xxq1', ...answer }]);
    expect(await stage.screen()).not.toContain('asks to run');
  });

  describe('of an agent that lacks its mode', () => {
    const MODE = {
      agent: 'coder',
      mode: 'acceptEdits',
      isOwn: true,
      definition: { path: '/home/me/coder.md', sha256: null },
    } as const;

    async function lacking(scopes: readonly ('task' | 'user')[]): Promise<Stage> {
      const stage = new Stage();
      await stage.say('Write it');
      stage.begin('child1xx', { agent: 'coder', description: 'write', parent: 'mainmain' });
      stage.call('child1xx', 'b', 'Write', { file_path: 'a' });
      stage.question('child1xx', 'b', { tool: 'Write', modeToGrant: { ...MODE, scopes } });
      await stage.emulator.press(KEYS.tab);
      return stage;
    }

    it.each([
      ['m', { text: 'mode', scope: 'task' }],
      ['u', { text: 'mode', scope: 'user' }],
    ])('offers it, and is answered by %s', async (key, answer) => {
      await using stage = await lacking(['task', 'user']);
      expect(await stage.screen()).toContain(
        'm let coder run in its mode, acceptEdits, in this conversation',
      );
      expect(await stage.screen()).toContain('u the same in every conversation');
      await stage.emulator.press(key);
      expect(stage.asked.answers).toEqual([{ question: 'child1xxq1', ...answer }]);
    });

    it('offers only the scopes that can be saved', async () => {
      await using stage = await lacking(['task']);
      expect(await stage.screen()).not.toContain('in every conversation');
      await stage.emulator.press('u');
      expect(stage.asked.answers).toEqual([]);
    });

    it('is needed for m and u to do something', async () => {
      await using stage = await asking();
      await stage.emulator.press(KEYS.tab, 'm', 'u');
      expect(stage.asked.answers).toEqual([]);
      expect(await stage.screen()).toContain('asks to run');
    });
  });

  it('is denied with a reason, and the draft returns to the editor', async () => {
    await using stage = await asking();
    await stage.emulator.press(KEYS.tab, 'r');
    expect(await stage.screen()).toContain('why not?');
    await stage.emulator.type('use vitest');
    await stage.emulator.press(KEYS.enter);
    expect(stage.asked.answers).toEqual([
      { question: 'child1xxq1', text: 'no', reason: 'use vitest' },
    ]);
    expect(stage.asked.sent).toEqual([]);
  });

  it('loses the focus and stays open after Esc, which stops nothing', async () => {
    await using stage = await asking();
    await stage.emulator.press(KEYS.tab, KEYS.escape, 'y');
    expect(stage.asked).toMatchObject({ answers: [], stopped: [] });
    expect(await stage.screen()).toMatch(/^y$/m);
  });

  it('does not answer the next one if its key is pressed too often', async () => {
    await using stage = await asking();
    stage.begin('child2xx', { parent: 'mainmain' });
    stage.call('child2xx', 'c', 'Bash', { command: 'rm -r build' });
    stage.question('child2xx', 'c', { commands: ['rm -r build'] });
    expect(await stage.screen()).toContain('1 of 2');
    await stage.emulator.press(KEYS.tab, 'y', 'y', 'y');
    expect(stage.asked.answers).toEqual([{ question: 'child1xxq1', text: 'yes' }]);
    const screen = await stage.screen();
    expect(screen).toContain('rm -r build');
    expect(screen).toMatch(/^yy$/m);
  });

  it('loses the focus when somebody else settles it', async () => {
    await using stage = await asking();
    await stage.emulator.press(KEYS.tab);
    await stage.screen();
    stage.write('child1xx', {
      type: 'question.answered',
      question: 'child1xxq1',
      callId: 'b',
      answer: { kind: 'no', reason: null },
      by: 'user',
    });
    expect(await stage.screen()).toContain('this question is settled');
    await stage.emulator.press('y');
    expect(stage.asked.answers).toEqual([]);
  });

  it('shows all of a long command by scrolling', async () => {
    await using stage = await asking();
    const commands = Array.from({ length: 30 }, (_, index) => `echo line ${index}`);
    stage.begin('child2xx', { parent: 'mainmain' });
    stage.call('child2xx', 'c', 'Bash', { command: 'x' });
    stage.question('child2xx', 'c', { commands });
    await stage.emulator.press(KEYS.tab, 'y', KEYS.tab);
    expect(await stage.screen()).toMatch(/… \d+ more below: ↑ ↓ pgup pgdn/);
    await stage.emulator.press(...Array<string>(20).fill(KEYS.down));
    const end = await stage.screen();
    expect(end).toContain('echo line 29');
    expect(end).toMatch(/… \d+ above: /);
    // No key went beyond the end: one leads back at once.
    await stage.emulator.press(...Array<string>(20).fill(KEYS.down));
    await stage.screen();
    await stage.emulator.press(KEYS.up);
    expect(await stage.screen()).toMatch(/… 1 more below, \d+ above: /);
    await stage.emulator.press(KEYS.pageUp, KEYS.pageUp, KEYS.pageUp);
    expect(await stage.screen()).toMatch(/echo line 0$/m);
    await stage.emulator.press(KEYS.pageDown);
    expect(await stage.screen()).not.toMatch(/echo line 0$/m);
  });
});

describe('a question of AskUser', () => {
  async function choosing(): Promise<Stage> {
    const stage = new Stage();
    await stage.say('Set it up');
    stage.call('mainmain', 'u', 'AskUser', { question: 'Which port?' });
    const question = {
      kind: 'input',
      id: 'mainmainq1',
      task: 'mainmain',
      callId: 'u',
      chain: ['main'],
      tool: 'AskUser',
      text: 'Which port?',
      options: ['8080', '3000'],
    } as const;
    stage.write('mainmain', { type: 'question.asked', question, digest: '0', parks: false });
    return stage;
  }

  it('is answered by the number of an option', async () => {
    await using stage = await choosing();
    await stage.emulator.press(KEYS.tab);
    expect(await stage.screen()).toMatchSnapshot();
    await stage.emulator.press('y', '4', '2');
    expect(stage.asked.answers).toEqual([{ question: 'mainmainq1', text: '2' }]);
  });

  it('is answered by a typed text', async () => {
    await using stage = await choosing();
    await stage.emulator.press(KEYS.tab, 't');
    await stage.emulator.type('any free one');
    await stage.emulator.press(KEYS.enter);
    expect(stage.asked.answers).toEqual([{ question: 'mainmainq1', text: 'any free one' }]);
  });
});

describe('a plan', () => {
  async function planning(): Promise<Stage> {
    const stage = new Stage();
    await stage.say('Mend it');
    stage.call('mainmain', 'p', 'ExitPlanMode', { plan: '# Plan' });
    const question = {
      kind: 'plan',
      id: 'mainmainq1',
      task: 'mainmain',
      callId: 'p',
      chain: ['main'],
      tool: 'ExitPlanMode',
      text: '# Plan\n\n1. Read **a.ts**\n2. Mend it',
    } as const;
    stage.write('mainmain', { type: 'question.asked', question, digest: '0', parks: false });
    return stage;
  }

  it('is shown, and approved with a key', async () => {
    await using stage = await planning();
    await stage.emulator.press(KEYS.tab);
    expect(await stage.screen()).toMatchSnapshot();
    await stage.emulator.press('a');
    expect(stage.asked.answers).toEqual([{ question: 'mainmainq1', text: 'always' }]);
  });

  it('is edited and then approved', async () => {
    await using stage = await planning();
    await stage.emulator.press(KEYS.tab, 'e');
    expect(await stage.screen()).toContain('enter approves the plan as edited');
    await stage.emulator.type(', and test it');
    await stage.emulator.press(KEYS.enter);
    expect(stage.asked.answers).toEqual([
      {
        question: 'mainmainq1',
        text: 'yes',
        plan: '# Plan\n\n1. Read **a.ts**\n2. Mend it, and test it',
      },
    ]);
  });

  it('is denied with a reason', async () => {
    await using stage = await planning();
    await stage.emulator.press(KEYS.tab, 'r');
    await stage.emulator.type('too long');
    await stage.emulator.press(KEYS.enter);
    expect(stage.asked.answers).toEqual([
      { question: 'mainmainq1', text: 'no', reason: 'too long' },
    ]);
  });
});

describe('esc', () => {
  it('stops the main task with everything that it waits for', async () => {
    await using stage = await asking();
    await stage.emulator.press(KEYS.escape);
    expect(stage.asked).toMatchObject({ interrupted: ['mainmain'], stopped: [] });
  });

  it('does not stop background tasks, and stops the complete tree when pressed again', async () => {
    await using stage = await asking();
    stage.begin('child2xx', { parent: 'mainmain', background: true });
    await stage.emulator.press(KEYS.escape);
    expect(stage.asked).toMatchObject({ interrupted: ['mainmain'], stopped: [] });
    expect(await stage.screen()).toContain('interrupted; esc again stops 1 background task');
    await stage.emulator.press(KEYS.escape);
    expect(stage.asked).toMatchObject({ interrupted: ['mainmain'], stopped: ['mainmain'] });
  });

  it('leaves the open task, which goes on', async () => {
    await using stage = await asking();
    await stage.emulator.press(KEYS.ctrlT, KEYS.down, KEYS.enter);
    expect(await stage.screen()).toContain('← general-purpose');
    await stage.emulator.press(KEYS.escape);
    expect(await stage.screen()).not.toContain('← general-purpose');
    expect(stage.asked).toMatchObject({ interrupted: [], stopped: [] });
  });
});

describe('the conversation', () => {
  it('is steered by messages while it works', async () => {
    await using stage = await asking();
    await stage.say('and lint');
    expect(stage.asked.sent).toEqual([['mainmain', 'and lint']]);
    expect(await stage.screen()).toContain('waits for the next turn');
    stage.write('mainmain', {
      type: 'turn.started',
      turn: 1,
      inputs: ['said-and lint'],
      model: 'm',
      toolChoice: 'auto',
    });
    expect(await stage.screen()).not.toContain('waits for the next turn');
  });

  it('shows a waiting message below the answer that is being written, and keeps it there once it is read', async () => {
    await using stage = new Stage();
    await stage.say('Count');
    stage.ask('mainmain');
    const lines = Array.from({ length: 60 }, (_, at) => `item ${at}`).join('\n\n');
    const write = (text: string) => stage.signal({ type: 'text_delta', task: 'mainmain', text });
    write(lines);
    await stage.say('and then stop');
    const writing = await stage.screen();
    expect(writing).toMatch(/item 59\n\n> and then stop\n {2}… waits for the next turn/);
    write('\n\nitem 60');
    expect(await stage.screen()).toMatch(/item 60\n\n> and then stop\n/);
    stage.answer('mainmain', `${lines}\n\nitem 61`);
    expect(await stage.screen()).toMatch(/item 61\n\n> and then stop\n {2}… waits for the/);
    stage.write('mainmain', {
      type: 'turn.started',
      turn: 2,
      inputs: ['said-and then stop'],
      model: 'm',
      toolChoice: 'auto',
    });
    stage.answer('mainmain', 'It has stopped.');
    expect(await stage.screen()).toMatch(/item 61\n\n> and then stop\n\nIt has stopped\.\n/);
  });

  it('sends the tasks that it waits for to the background', async () => {
    await using stage = await asking();
    await stage.emulator.press(KEYS.ctrlB);
    expect(stage.asked.background).toEqual(['child1xx']);
  });

  it('sends messages to the open task', async () => {
    await using stage = await asking();
    await stage.emulator.press(KEYS.ctrlT, KEYS.down, KEYS.enter);
    await stage.say('look in src');
    expect(stage.asked.sent).toEqual([['child1xx', 'look in src']]);
    await stage.emulator.press(KEYS.left);
    expect(await stage.screen()).toContain('> Run the tests');
  });

  it('shows its mode, which a key changes before it starts and while it works', async () => {
    await using stage = new Stage();
    expect(await stage.screen()).toContain('[default]');
    await stage.emulator.press(KEYS.shiftTab);
    expect(await stage.screen()).toContain('[acceptEdits]');
    await stage.say('Go');
    expect(await stage.screen()).toContain('[acceptEdits]');
    await stage.emulator.press(KEYS.shiftTab, KEYS.shiftTab);
    expect(await stage.screen()).toContain('[acceptEdits → plan]');
    await stage.emulator.press(KEYS.pageDown);
    expect(await stage.screen()).toContain('[plan]');
    stage.answer('mainmain', 'Gone.');
    stage.end('mainmain');
    stage.finish();
    await stage.emulator.press(KEYS.shiftTab);
    expect(await stage.screen()).toContain('[plan → default next]');
    await stage.say('Go on');
    expect(stage.asked.modes).toEqual(['acceptEdits', 'default']);
  });

  it('can be replaced by a new one, in any mode', async () => {
    await using stage = new Stage({ columns: 120 });
    await stage.say('Go');
    await stage.say('/new ');
    expect(await stage.screen()).toContain('the conversation is at work: stop it first');
    stage.answer('mainmain', 'Gone.');
    stage.end('mainmain');
    stage.finish();
    await stage.screen();
    await stage.say('/new ');
    expect(await stage.screen()).toContain(
      'muster --resume mainmain continues the conversation above',
    );
    await stage.emulator.press(KEYS.shiftTab, KEYS.shiftTab);
    expect(await stage.screen()).toContain('[autonomous]');
  });

  it('hides and shows the work of calls', async () => {
    await using stage = new Stage();
    await stage.say('Look');
    stage.call('mainmain', 'w', 'Write', { file_path: 'a', content: 'one\ntwo\n' });
    stage.result('mainmain', 'w', 'Write', 'Created a: 2 lines.');
    expect(await stage.screen()).toMatch(/^ {2}2 \+ two$/m);
    await stage.emulator.press(KEYS.ctrlO);
    expect(await stage.screen()).not.toMatch(/two$/m);
    await stage.emulator.press(KEYS.ctrlO);
    expect(await stage.screen()).toMatch(/^ {2}2 \+ two$/m);
  });

  it('goes back in the history, and takes several lines', async () => {
    await using stage = new Stage();
    await stage.say('first');
    await stage.emulator.press(KEYS.up);
    expect(await stage.screen()).toMatch(/^first$/m);
    await stage.emulator.press(KEYS.ctrlC);
    await stage.emulator.type('one\ntwo');
    expect(await stage.screen()).toMatch(/^one\ntwo$/m);
  });

  it('shows a long page from its beginning, and follows the end again with the next message', async () => {
    await using stage = new Stage();
    await stage.say('Hello');
    const lines = Array.from({ length: 60 }, (_, index) => `row ${index}`);
    const showPage = () => stage.app.session.dispatch({ type: 'page', title: 'A page', lines });
    showPage();
    const page = await stage.screen();
    expect(page).toMatch(/^A page/m);
    expect(page).toContain('ctrl+end to the end');
    await stage.say('/usage');
    const short = await stage.screen();
    expect(short).toContain('Usage of this conversation');
    expect(short).not.toContain('ctrl+end to the end');
    showPage();
    await stage.say('go on');
    expect(await stage.screen()).toContain('> go on');
  });

  it('scrolls back and follows the end again', async () => {
    await using stage = new Stage();
    await stage.say('Count');
    stage.answer('mainmain', Array.from({ length: 60 }, (_, line) => `- line ${line}`).join('\n'));
    await stage.emulator.press(KEYS.pageUp, KEYS.pageUp);
    expect(await stage.screen()).not.toMatch(/^- line 59$/m);
    stage.answer('mainmain', 'More.');
    expect(await stage.screen()).not.toMatch(/^More\.$/m);
    await stage.emulator.press(...Array<string>(4).fill(KEYS.pageDown));
    expect(await stage.screen()).toMatch(/^More\.$/m);
  });
});

it('the bell rings when a task asks, and when a background task has ended', async () => {
  await using stage = await asking();
  stage.begin('child2xx', { parent: 'mainmain', background: true });
  stage.begin('child3xx', { parent: 'mainmain' });
  await stage.screen();
  expect(stage.emulator.bells).toBe(1);
  stage.end('child3xx');
  await stage.screen();
  expect(stage.emulator.bells).toBe(1);
  stage.end('child2xx');
  await stage.screen();
  expect(stage.emulator.bells).toBe(2);
});

it('ctrl+c clears the editor, and leaves when pressed twice', async () => {
  await using stage = new Stage();
  await stage.emulator.type('half a thought');
  await stage.emulator.press(KEYS.ctrlC);
  expect(await stage.screen()).not.toContain('half a thought');
  await stage.emulator.type('x');
  await stage.emulator.press(KEYS.ctrlC);
  expect(stage.hasLeft).toBe(false);
  await stage.emulator.press(KEYS.ctrlC);
  expect(stage.hasLeft).toBe(true);
});

it.each(['help', 'tasks', 'task-status child', 'agents', 'model', 'usage', 'permissions', 'hlep'])(
  '/%s',
  async (command) => {
    await using stage = new Stage({ rows: 50 });
    await stage.say('Look');
    stage.begin('child1xx', { description: 'look around', parent: 'mainmain' });
    stage.answer('child1xx', 'There.');
    await stage.emulator.type(`/${command}`);
    await stage.emulator.press(KEYS.escape, KEYS.enter);
    expect(await stage.screen()).toMatchSnapshot();
  },
);
