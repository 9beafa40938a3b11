import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { AgentDefinition } from '../../../src/protocol/agent.ts';
import type { TaskEvent } from '../../../src/protocol/events/event.ts';
import { builtinTools } from '../../../src/tools/index.ts';
import { tempDirectory } from '../../sys/temp.ts';
import { call, calls, eventsOfType, play, requestsOf, textsOf, until, type Turn } from '../play.ts';
import { testEngine, WORKER, type TestEngine } from '../support.ts';
import type { ScriptedAnswer, ScriptedCall } from '../../scripted-model.ts';

const EDITOR: AgentDefinition = {
  ...WORKER,
  name: 'editor',
  tools: {
    mode: 'allow',
    names: ['Read', 'Edit', 'MultiEdit', 'Write', 'MoveFile', 'DeleteFile', 'Bash', 'Task'],
  },
};

function editor(prompt: string): ScriptedCall {
  return call('Task', {
    prompt,
    description: prompt,
    subagent_type: 'editor',
    run_in_background: true,
  });
}

type Name = 'ada' | 'bob';
type Writer = 'Edit' | 'MultiEdit' | 'Write' | 'MoveFile';

const START = 'ada: -\nbob: -\n';
const BOTH = 'ada: done\nbob: done\n';

/** The order in which tasks act: for each moment the tasks that act at the same time. */
type Order = readonly (readonly Name[])[];

/** All orders in which two tasks can each read and then write, one at a time. */
const INTERLEAVINGS: readonly Order[] = interleave(['ada', 'ada'], ['bob', 'bob']);

function interleave(a: readonly Name[], b: readonly Name[]): readonly Order[] {
  const [firstA, ...restA] = a;
  const [firstB, ...restB] = b;
  if (firstA === undefined) return [b.map((name) => [name])];
  if (firstB === undefined) return [a.map((name) => [name])];
  return [...after(firstA, interleave(restA, b)), ...after(firstB, interleave(a, restB))];
}

function after(name: Name, orders: readonly Order[]): readonly Order[] {
  const first: Order = [[name]];
  return orders.map((rest) => first.concat(rest));
}

interface Place {
  readonly root: string;
  readonly path: string;
}

function place(): Place {
  const root = tempDirectory();
  const path = join(root, 'shared.txt');
  fs.writeFileSync(path, START);
  return { root, path };
}

/** Returns the write call of a task that has read the file as `text`. */
function writeOf(name: Name, writer: Writer, { root, path }: Place, text: string): ScriptedCall {
  const edit = { old_string: `${name}: -`, new_string: `${name}: done` };
  switch (writer) {
    case 'Edit':
      return call('Edit', { file_path: path, ...edit });
    case 'MultiEdit':
      return call('MultiEdit', { file_path: path, edits: [edit] });
    case 'Write':
      return call('Write', {
        file_path: path,
        content: text.replace(edit.old_string, edit.new_string),
      });
    case 'MoveFile': {
      // Another program, such as a formatter, writes a new file, which is moved over the old one.
      const source = join(root, `${name}.tmp`);
      fs.writeFileSync(source, text.replace(edit.old_string, edit.new_string));
      return call('MoveFile', { source, destination: path, overwrite: true });
    }
  }
}

/** Returns the text that a Read has shown, without line numbers. */
function shownText({ results }: Turn): string {
  const lines = results[0]?.text.split('\n').flatMap((line) => /^\s*\d+\t(.*)$/.exec(line) ?? []);
  return `${(lines ?? []).filter((_, index) => index % 2 === 1).join('\n')}\n`;
}

/** Runs two background tasks that read and write in this order. A task whose write is refused reads again. */
async function run(order: Order, writers: Readonly<Record<Name, Writer>>, at: Place) {
  const before = order.map((_, moment) => order.slice(0, moment).flat().length);
  const momentsOf = (name: Name) =>
    order.flatMap((names, moment) => (names.includes(name) ? [before[moment] ?? 0] : []));
  const ended = () =>
    [...eventsOfType(engine, 'call.ended')].filter(({ tool }) => tool !== 'Task').length;
  const refusals: string[] = [];
  const lines = (name: Name) => {
    const [toRead = 0, toWrite = 0] = momentsOf(name);
    const read = () => calls(call('Read', { file_path: at.path }));
    const write = (turn: Turn) => calls(writeOf(name, writers[name], at, shownText(turn)));
    return [
      async () => {
        await until(() => ended() >= toRead);
        return read();
      },
      async (turn: Turn) => {
        await until(() => ended() >= toWrite);
        return write(turn);
      },
      ({ results: [result] }: Turn): ScriptedAnswer => {
        if (result?.isError !== true) return { text: 'done' };
        refusals.push(`${name}: ${result.text}`);
        return read();
      },
      write,
    ];
  };
  const engine: TestEngine = testEngine(
    play({
      main: [calls(editor('ada'), editor('bob'))],
      ada: lines('ada'),
      bob: lines('bob'),
    }),
    { tools: builtinTools(), root: at.root, agents: [EDITOR] },
  );
  await engine.start('main').end.written;
  const ids = new Map(
    engine.events.flatMap((event) =>
      event.type === 'task.created' ? [[event.spec.prompt, event.task] as const] : [],
    ),
  );
  return { engine, refusals, idOf: (name: Name) => ids.get(name) ?? 'none' };
}

const WRITERS: readonly Writer[] = ['Edit', 'MultiEdit', 'Write', 'MoveFile'];
const PAIRS = WRITERS.flatMap((ada) => WRITERS.map((bob) => ({ ada, bob })));
const other = (name: Name): Name => (name === 'ada' ? 'bob' : 'ada');

/**
 * Returns the task that writes second although it has read the file before the other task wrote; null if there is
 * none.
 */
function secondOverFirst(order: Order): Name | null {
  const names = order.flat();
  const last = names.at(-1) ?? 'ada';
  const firstWrite = names.lastIndexOf(other(last));
  return names.indexOf(last) < firstWrite ? last : null;
}

describe.each(PAIRS)('two tasks that read and then write: $ada and $bob', (writers) => {
  test.each(INTERLEAVINGS.map((order) => ({ order, named: order.flat().join(' ') })))(
    '$named',
    async ({ order }) => {
      const at = place();
      const { refusals, idOf } = await run(order, writers, at);
      expect(fs.readFileSync(at.path, 'utf8')).toBe(BOTH);
      const second = secondOverFirst(order);
      const first = second === null ? null : other(second);
      expect(refusals).toEqual(
        first === null
          ? []
          : [
              `${second}: shared.txt was changed by task ${idOf(first)} (editor) since it was read: Read it again before changing it.`,
            ],
      );
    },
  );

  test('at the same time', async () => {
    const at = place();
    const { refusals } = await run([['ada'], ['bob'], ['ada', 'bob']], writers, at);
    expect(fs.readFileSync(at.path, 'utf8')).toBe(BOTH);
    expect(refusals).toEqual([
      expect.stringMatching(/shared\.txt was changed by task \w+ \(editor\) since it was read/),
    ]);
  });
});

/** Returns the output of the write of `ada`, when something else happened to the file after she read it. */
async function toldAfter(
  happens: (at: Place) => readonly ScriptedCall[],
  write: (at: Place) => ScriptedCall,
) {
  const at = place();
  let bob = '';
  const engine = testEngine(
    play({
      main: [calls(editor('ada'), editor('bob'))],
      ada: [
        calls(call('Read', { file_path: at.path })),
        async () => {
          await until(() => bob !== '' && engine.events.some(isEndOf(bob)));
          return calls(write(at));
        },
        calls(write(at)),
      ],
      bob: [
        async ({ request }) => {
          await until(() => eventsOfType(engine, 'call.ended').some(({ tool }) => tool === 'Read'));
          bob = taskOf(engine, 'bob');
          expect(request.messages).toHaveLength(1);
          return calls(call('Read', { file_path: at.path }));
        },
        calls(...happens(at)),
      ],
    }),
    { tools: builtinTools(), root: at.root, agents: [EDITOR] },
  );
  await engine.start('main').end.written;
  const told = textsOf(requestsOf(engine, 'ada').at(-1)).slice(2);
  return { told: told.map((text) => text.replaceAll(bob, 'BOB')), at };
}

function isEndOf(task: string) {
  return (event: TaskEvent) => event.task === task && event.type === 'task.ended';
}

function taskOf({ events }: TestEngine, prompt: string): string {
  const made = events.find(
    (event) => event.type === 'task.created' && event.spec.prompt === prompt,
  );
  return made?.task ?? 'none';
}

const whole = (text: string) => (at: Place) => call('Write', { file_path: at.path, content: text });
const adasEdit = (at: Place) => writeOf('ada', 'Edit', at, START);
const remove = (at: Place) => [call('DeleteFile', { file_path: at.path })];
const CHANGED_BY_BOB =
  'shared.txt was changed by task BOB (editor) since it was read: Read it again before changing it.';
const TAKEN_BY_BOB =
  'shared.txt was deleted or moved away by task BOB (editor) since you read it. Leave it so, or use Write to make it again.';

describe('a task that writes a file that it has read', () => {
  test('that another task deleted is informed, and may create it again', async () => {
    const { told, at } = await toldAfter(remove, whole('anew\n'));
    expect(told).toEqual([TAKEN_BY_BOB, 'Created shared.txt: 1 line.']);
    expect(fs.readFileSync(at.path, 'utf8')).toBe('anew\n');
  });

  test('that another task moved is informed', async () => {
    const move = (at: Place) => [
      call('MoveFile', { source: at.path, destination: join(at.root, 'moved.txt') }),
    ];
    const { told, at } = await toldAfter(move, adasEdit);
    expect(told).toEqual([TAKEN_BY_BOB, expect.stringContaining('shared.txt does not exist')]);
    expect(fs.readdirSync(at.root)).toEqual(['moved.txt']);
  });

  test('that another task deleted and created again is informed', async () => {
    const { told } = await toldAfter((at) => [...remove(at), whole('other\n')(at)], adasEdit);
    expect(told).toEqual([CHANGED_BY_BOB, CHANGED_BY_BOB]);
  });

  test('under another name is informed who changed it', async () => {
    const { told } = await toldAfter((at) => {
      const name = join(at.root, 'link.txt');
      fs.symlinkSync(at.path, name);
      return [call('Read', { file_path: name }), writeOf('bob', 'Edit', { ...at, path: name }, '')];
    }, adasEdit);
    expect(told).toEqual([CHANGED_BY_BOB, CHANGED_BY_BOB]);
  });

  test('that a command changed is informed, although a command does not say what it writes', async () => {
    const { told } = await toldAfter(
      (at) => [call('Bash', { command: `echo more >> ${at.path}`, description: 'add' })],
      adasEdit,
    );
    const changed = 'shared.txt has changed since it was read: Read it again before changing it.';
    expect(told).toEqual([changed, changed]);
  });

  test.each([
    ['DeleteFile', (at: Place) => call('DeleteFile', { file_path: at.path })],
    [
      'MoveFile',
      (at: Place) => call('MoveFile', { source: at.path, destination: join(at.root, 'b.txt') }),
    ],
  ] as const)('is protected for %s too', async (_, take) => {
    const { told, at } = await toldAfter((to) => [writeOf('bob', 'Edit', to, '')], take);
    expect(told).toEqual([CHANGED_BY_BOB, CHANGED_BY_BOB]);
    expect(fs.readdirSync(at.root)).toEqual(['shared.txt']);
  });

  test('that a descendant of another task changed is informed which task it was', async () => {
    const at = place();
    const engine = testEngine(
      play({
        main: [calls(editor('ada'), editor('bob'))],
        ada: [
          calls(call('Read', { file_path: at.path })),
          async () => {
            await until(() => fs.readFileSync(at.path, 'utf8').includes('bob: done'));
            return calls(adasEdit(at));
          },
        ],
        bob: [calls(call('Task', { prompt: 'carl', subagent_type: 'editor' }))],
        carl: [
          async () => {
            const read = () =>
              eventsOfType(engine, 'call.ended').some(({ tool }) => tool === 'Read');
            await until(read);
            return calls(call('Read', { file_path: at.path }));
          },
          calls(writeOf('bob', 'Edit', at, '')),
        ],
      }),
      { tools: builtinTools(), root: at.root, agents: [EDITOR] },
    );
    await engine.start('main').end.written;
    expect(textsOf(requestsOf(engine, 'ada').at(-1)).at(-1)).toBe(
      CHANGED_BY_BOB.replace('BOB', taskOf(engine, 'carl')),
    );
  });

  test('that another task changed before a restart is informed which task it was', async () => {
    const at = place();
    const first = testEngine(
      play({
        main: [
          calls(call('Read', { file_path: at.path })),
          calls(call('Task', { prompt: 'bob', subagent_type: 'editor' })),
        ],
        bob: [calls(call('Read', { file_path: at.path })), calls(writeOf('bob', 'Edit', at, ''))],
      }),
      { tools: builtinTools(), root: at.root, agents: [EDITOR] },
    );
    const { id } = first.start('main').spec;
    await until(() => first.events.some(isEndOf(id)));
    const again = testEngine(play({ main: [{}, {}, {}, calls(adasEdit(at))] }), {
      tools: builtinTools(),
      root: at.root,
      agents: [EDITOR],
      store: first.store,
    });
    const run = await again.engine.resume(id, { prompt: 'go on', maxRights: (all) => all });
    await run.end.written;
    expect(textsOf(requestsOf(again, 'main').at(-1)).at(-1)).toBe(
      CHANGED_BY_BOB.replace('BOB', taskOf(first, 'bob')),
    );
  });
});

test('a parent that has built on the files of its child gets no notice of outdated reads', async () => {
  const at = place();
  const isWritten = () => fs.readFileSync(at.path, 'utf8').includes('bob: done');
  const isOver = () => fs.readFileSync(at.path, 'utf8') === BOTH;
  const engine = testEngine(
    play({
      main: [
        calls(call('Read', { file_path: at.path }), editor('bob')),
        async () => {
          await until(isWritten);
          return calls(call('Read', { file_path: at.path }));
        },
        calls(adasEdit(at)),
      ],
      bob: [
        calls(call('Read', { file_path: at.path })),
        calls(writeOf('bob', 'Edit', at, '')),
        async () => {
          await until(isOver);
          return { text: 'done' };
        },
      ],
    }),
    { tools: builtinTools(), root: at.root, agents: [EDITOR] },
  );
  await engine.start('main').end.written;
  const told = textsOf(requestsOf(engine, 'main').at(-1)).join('\n');
  expect(told).toContain('completed');
  expect(told).not.toContain('Changed since you read it');
});
