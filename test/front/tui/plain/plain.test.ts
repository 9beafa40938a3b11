import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { passDrawTime } from '../draw-time.ts';
import { SCENES } from '../scenes.ts';
import { Stage } from '../stage.ts';
import { useVirtualTime } from '../virtual-time.ts';

useVirtualTime();

const CURSOR_MOVE = new RegExp(`${String.fromCharCode(27)}\\[\\d*[A-Z]`, 'g');

/** The UI in plain lines, with what a person types and all that was written. */
class PlainStage extends Stage {
  private readonly input: PassThrough;
  private readonly chunks: string[];

  constructor({ canMove = true }: { readonly canMove?: boolean } = {}) {
    const [input, output, chunks] = [new PassThrough(), new PassThrough(), [] as string[]];
    super({ streams: { input, output, canMove }, notices: ['2 files are not trusted'] });
    this.input = input;
    this.chunks = chunks;
    output.on('data', (chunk: Buffer) => void chunks.push(chunk.toString()));
  }

  /** As it was written, the system's echo left out. */
  get written(): string {
    return this.chunks.join('');
  }

  async type(text: string): Promise<void> {
    this.input.write(text);
    // On a busy machine the input is read later than a timer that starts now would fire.
    await passDrawTime(5);
    await passDrawTime(100);
  }

  override async say(text: string): Promise<void> {
    await this.type(`${text}\r`);
  }

  /** What a person hears, line by line: what stands there once the cursor has gone on. */
  async heard(): Promise<readonly string[]> {
    await passDrawTime(120);
    for (let before = -1; before !== this.written.length;) {
      before = this.written.length;
      await passDrawTime(30);
    }
    const text = this.written.replaceAll('\u001b[1G', '\r').replaceAll(CURSOR_MOVE, '');
    return text.split(/\r\n|\n|\r/).filter((line) => line.replace(/^(> )+/, '') !== '');
  }
}

describe.each([true, false])('in plain lines, with cursor moves: %s', (canMove) => {
  it.for(SCENES.filter(({ name }) => name !== 'transcript'))(
    '$name',
    async (scene, { expect: expectHere }) => {
      await using stage = new PlainStage({ canMove });
      await scene.play(stage);
      expectHere(await stage.heard()).toMatchSnapshot();
      if (!canMove) expectHere(stage.written).not.toContain('\u001b');
    },
  );
});

async function asking(): Promise<PlainStage> {
  const stage = new PlainStage();
  await stage.say('Run the tests');
  stage.begin('child1xx', { agent: 'tester', description: 'tests', parent: 'mainmain' });
  stage.call('child1xx', 'b', 'Bash', { command: 'npm test' });
  stage.question('child1xx', 'b');
  await stage.heard();
  return stage;
}

describe('a question in plain lines', () => {
  it.each([
    ['y', { text: 'yes' }],
    ['a', { text: 'always' }],
    ['n', { text: 'no' }],
    ['n use vitest instead', { text: 'no', reason: 'use vitest instead' }],
  ])('is answered by %s', async (line, answer) => {
    await using stage = await asking();
    await stage.say(line);
    expect(stage.asked.answers).toEqual([{ question: 'child1xxq1', ...answer }]);
    expect(stage.asked.sent).toEqual([]);
  });

  it.each([
    ['m', { text: 'mode', scope: 'task' }],
    ['u', { text: 'mode', scope: 'user' }],
  ])('of an agent that lacks its mode is answered by %s', async (line, answer) => {
    await using stage = new PlainStage();
    await stage.say('Write it');
    stage.begin('child1xx', { agent: 'coder', description: 'write', parent: 'mainmain' });
    stage.call('child1xx', 'b', 'Write', { file_path: 'a' });
    const modeToGrant = {
      agent: 'coder',
      mode: 'acceptEdits',
      isOwn: true,
      definition: { path: '/home/me/coder.md', sha256: null },
      scopes: ['task', 'user'],
    } as const;
    stage.question('child1xx', 'b', { tool: 'Write', modeToGrant });
    expect((await stage.heard()).join(' ')).toContain(
      'm to let coder run in its mode, acceptEdits, in this conversation, u for the same in every conversation, n for no',
    );
    await stage.say(line);
    expect(stage.asked.answers).toEqual([{ question: 'child1xxq1', ...answer }]);
  });

  it.each(['m', 'u'])('that offers no mode is not answered by %s', async (line) => {
    await using stage = await asking();
    await stage.say(line);
    expect(stage.asked).toMatchObject({ answers: [], sent: [['mainmain', line]] });
  });

  it.each(['yes please go on', 'and lint, too', 'no'])('is not answered by %s', async (line) => {
    await using stage = await asking();
    await stage.say(line);
    expect(stage.asked.answers).toEqual([]);
    expect(stage.asked.sent).toEqual([['mainmain', line]]);
  });

  it.each(['see this:\ry\ra\rmore\r', 'y\rmore\r'])(
    'is not answered by a line of a paste, which is one message: %j',
    async (pasted) => {
      await using stage = await asking();
      await stage.type(pasted);
      const text = pasted.trim().replaceAll('\r', '\n');
      expect(stage.asked).toMatchObject({ answers: [], sent: [['mainmain', text]] });
    },
  );

  it('is written after the line that the user is typing, and is not answered by that line', async () => {
    await using stage = new PlainStage();
    await stage.say('Run the tests');
    await stage.type('y');
    stage.call('mainmain', 'b', 'Bash', { command: 'npm test' });
    stage.question('mainmain', 'b');
    expect((await stage.heard()).join('\n')).not.toContain('Question');
    await stage.type('\r');
    expect(stage.asked).toMatchObject({ answers: [], sent: [['mainmain', 'y']] });
    expect((await stage.heard()).join('\n')).toContain(
      'Question: main > general-purpose asks to run',
    );
    await stage.say('y');
    expect(stage.asked.answers).toEqual([{ question: 'mainmainq1', text: 'yes' }]);
  });

  it('is reported when somebody else settles it, and the next question follows', async () => {
    await using stage = await asking();
    stage.begin('child2xx', { parent: 'mainmain' });
    stage.call('child2xx', 'c', 'Bash', { command: 'make' });
    stage.question('child2xx', 'c', { commands: ['make'] });
    await stage.heard();
    stage.write('child1xx', {
      type: 'question.answered',
      question: 'child1xxq1',
      callId: 'b',
      answer: { kind: 'once' },
      by: 'user',
    });
    const heard = (await stage.heard()).join('\n');
    expect(heard).toMatch(/This question is settled\.\n[^]*\n {2}make\n/);
  });
});

it('a question that was answered is not written again before its answer is recorded', async () => {
  await using stage = await asking();
  await stage.say('y');
  stage.begin('child2xx', { agent: 'tester', description: 'more', parent: 'mainmain' });
  const heard = (await stage.heard()).join('\n');
  expect(heard.match(/asks to run Bash/g)).toHaveLength(1);
  stage.write('child1xx', {
    type: 'question.answered',
    question: 'child1xxq1',
    callId: 'b',
    answer: { kind: 'once' },
    by: 'user',
  });
  expect((await stage.heard()).join('\n')).not.toContain('settled');
});

it('a question names similar ones that arrive after it, and A answers all of them', async () => {
  await using stage = await asking();
  for (const [child, call] of [
    ['child2xx', 'c'],
    ['child3xx', 'd'],
  ] as const) {
    stage.begin(child, { agent: 'tester', description: child, parent: 'mainmain' });
    stage.call(child, call, 'Bash', { command: 'npm test' });
    stage.question(child, call);
    await stage.heard();
  }
  const heard = await stage.heard();
  const start = heard.findIndex((line) => line.startsWith('Type A before'));
  expect(heard.slice(start).filter((line) => /^\w/.test(line))).toEqual([
    'Type A before your answer, such as A y, to answer these alike:',
    'Task child3 tester begins: child3xx',
    'A before your answer also answers these alike:',
  ]);
  await stage.say('A y');
  expect(stage.asked.answers.map(({ question }) => question)).toEqual([
    'child1xxq1',
    'child2xxq1',
    'child3xxq1',
  ]);
});

describe('the conversation in plain lines', () => {
  it('is written once, however it streams', async () => {
    await using stage = new PlainStage();
    await stage.say('Go');
    stage.ask('mainmain');
    stage.signal({ type: 'text_delta', task: 'mainmain', text: 'One.\nTw' });
    expect((await stage.heard()).filter((line) => line === 'One.')).toHaveLength(1);
    stage.signal({ type: 'text_delta', task: 'mainmain', text: 'o.' });
    stage.answer('mainmain', 'One.\nTwo.');
    const heard = await stage.heard();
    expect(heard.slice(-2)).toEqual(['One.', 'Two.']);
  });

  it('has thinking once and before the answer, if all of it is wanted', async () => {
    await using stage = new PlainStage();
    await stage.say('/thinking full');
    await stage.say('Go');
    stage.ask('mainmain');
    stage.signal({ type: 'reasoning_delta', task: 'mainmain', text: 'I think.' });
    stage.signal({ type: 'text_delta', task: 'mainmain', text: 'One.\nTw' });
    await stage.heard();
    stage.answer('mainmain', 'One.\nTwo.', 'I think.');
    expect((await stage.heard()).slice(-3)).toEqual(['Thinking: I think.', 'One.', 'Two.']);
    await stage.say('/thinking hidden');
    stage.ask('mainmain');
    stage.answer('mainmain', 'Three.', 'I think again.');
    expect((await stage.heard()).join('\n')).not.toContain('again');
  });

  it('is held back while the user types, and ctrl+c clears the line', async () => {
    await using stage = new PlainStage();
    await stage.say('Go');
    await stage.type('half a thou');
    stage.answer('mainmain', 'Done.');
    expect(await stage.heard()).not.toContain('Done.');
    await stage.type('\u0003');
    expect(await stage.heard()).toContain('Done.');
    expect(stage.asked.interrupted).toEqual([]);
  });

  it('shows commands', async () => {
    await using stage = new PlainStage();
    await stage.say('/tasks');
    expect(await stage.heard()).toContain('  none yet');
    await stage.say('/quit');
    expect(stage.hasLeft).toBe(true);
  });

  it('ctrl+c stops the turn, and leaves when pressed again', async () => {
    await using stage = new PlainStage();
    await stage.say('Go');
    await stage.type('\u0003');
    expect(stage.asked).toMatchObject({ interrupted: ['mainmain'], stopped: [] });
    expect(stage.hasLeft).toBe(false);
    await stage.type('\u0003');
    expect(stage.hasLeft).toBe(true);
  });

  it('ends at the end of the input', async () => {
    await using stage = new PlainStage();
    await stage.type('\u0004');
    expect(stage.hasLeft).toBe(true);
  });

  it('controls no terminal', async () => {
    await using stage = new PlainStage({ canMove: false });
    await stage.say('Go');
    const hostile = 'a\u001b]0;title\u0007b\u001b[2Jc\u202ed\u009b31m';
    stage.call('mainmain', 'r', 'Read', { file_path: hostile });
    stage.result('mainmain', 'r', 'Read', hostile, 'NOT_FOUND');
    stage.begin('child1xx', { agent: 'lead', description: hostile, parent: 'mainmain' });
    stage.question('child1xx', 'r', { commands: [hostile], reason: hostile });
    stage.answer('mainmain', hostile);
    await stage.heard();
    // The question rings.
    const rest = stage.written.replaceAll(/\r|\n/g, '').replace('\u0007', '');
    expect(rest).not.toMatch(/\p{Cc}|\u202e/u);
  });
});

describe('a plan in plain lines', () => {
  it('is written in full, and approved by y', async () => {
    await using stage = new PlainStage();
    await stage.say('Plan it');
    stage.call('mainmain', 'p', 'ExitPlanMode', { plan: 'x' });
    const question = {
      kind: 'plan',
      id: 'mainmainq1',
      task: 'mainmain',
      callId: 'p',
      chain: ['main'],
      tool: 'ExitPlanMode',
      text: '1. Read\n2. Write',
    } as const;
    stage.write('mainmain', { type: 'question.asked', question, digest: '0', parks: false });
    expect((await stage.heard()).slice(-4)).toEqual([
      'Question: main asks to carry out this plan.',
      '  1. Read',
      '  2. Write',
      'Type y to approve it, a to approve it and allow edits without asking, n for no, or n and the reason.',
    ]);
    await stage.say('y');
    expect(stage.asked.answers).toEqual([{ question: 'mainmainq1', text: 'yes' }]);
  });
});

it('a conversation that was cut off continues on an empty line', async () => {
  await using stage = new PlainStage();
  stage.begin('mainmain', { agent: 'main', prompt: 'Look at it' });
  stage.ask('mainmain');
  stage.release('mainmain');
  stage.plain.session.open('mainmain');
  expect(await stage.heard()).toContain('It was interrupted: send an empty line to continue.');
  await stage.say('');
  expect(stage.asked.resumed).toEqual([['mainmain', null]]);
});

it('says how a command failed, and what of the todo list is done', async () => {
  await using stage = new PlainStage();
  await stage.say('Go');
  stage.call('mainmain', 't', 'TodoWrite', { todos: [] });
  const item = (content: string, status: 'completed' | 'in_progress') => ({ content, status });
  const items = [item('Read', 'completed'), item('Write', 'in_progress')];
  stage.write('mainmain', { type: 'todos.set', items });
  stage.result('mainmain', 't', 'TodoWrite', 'Todo list: …');
  stage.call('mainmain', 'b', 'Bash', { command: 'npm test' });
  stage.write('mainmain', {
    type: 'call.ended',
    callId: 'b',
    tool: 'Bash',
    text: '1 passed\n1 failed\n[exit code 1]',
    error: null,
    facts: { commands: [{ command: 'npm test', exitCode: 1 }] },
    ms: 2_100,
  });
  const heard = (await stage.heard()).join('\n');
  expect(heard).toContain('To do: 1 of 2 done, now: Write\n');
  expect(heard).toContain('Exit code 1 after 2.1 s: Bash: npm test\n  1 passed\n  1 failed');
});
