import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { PermissionRule } from '../../../src/protocol/permission.ts';
import type { Question } from '../../../src/protocol/question.ts';
import { builtinTools } from '../../../src/tools/index.ts';
import { tempDirectory } from '../../sys/temp.ts';
import {
  background,
  call,
  calls,
  eventsOfType,
  hookLogs,
  play,
  toldTo,
  until,
  type Play,
} from '../play.ts';
import { testEngine, type EngineSetup, type TestEngine } from '../support.ts';
import { answerQuestion } from '../../../src/engine/questions/record-answer.ts';

function rule(text: string, tool: string, specifier: string): PermissionRule {
  return { text, tool, specifier, source: { kind: 'flag', where: '--deny' } };
}

/** Creates an engine with the real tools, which works in this directory. */
function over(root: string, parts: Play, setup: EngineSetup = {}): TestEngine {
  return testEngine(play(parts), { tools: builtinTools(), root, ...setup });
}

async function run(test: TestEngine, prompt: string): Promise<void> {
  await test.start(prompt).end.written;
}

const read = (path: string) => call('Read', { file_path: path });
const write = (path: string, content: string) => call('Write', { file_path: path, content });
const edit = (path: string, from: string, to: string) =>
  call('Edit', { file_path: path, old_string: from, new_string: to });

describe('siblings', () => {
  test('cannot overwrite a change that another task made after they read the file, and the error names that task', async () => {
    const root = tempDirectory();
    const path = join(root, 'shared.txt');
    fs.writeFileSync(path, 'one\n');
    let other = '';
    const engine = over(root, {
      main: [calls(background('slow'), background('quick'))],
      slow: [
        calls(read(path)),
        async () => {
          await until(() => fs.readFileSync(path, 'utf8') === 'two\n');
          return calls(edit(path, 'one', 'mine'));
        },
      ],
      quick: [
        async ({ request }) => {
          await until(() => eventsOfType(engine, 'call.ended').some(({ tool }) => tool === 'Read'));
          other =
            engine.events.find(
              (event) => event.type === 'task.created' && event.spec.prompt === 'quick',
            )?.task ?? String(request);
          return calls(read(path));
        },
        calls(write(path, 'two\n')),
      ],
    });
    await run(engine, 'main');
    expect(toldTo(engine, 'slow')).toContain(
      `shared.txt was changed by task ${other} (general-purpose) since it was read: Read it again before changing it.`,
    );
    expect(fs.readFileSync(path, 'utf8')).toBe('two\n');
  });

  test('that write the same new file: the second is informed who created it', async () => {
    const root = tempDirectory();
    const path = join(root, 'new.txt');
    const engine = over(root, {
      main: [calls(background('first'), background('second'))],
      first: [calls(write(path, 'first\n'))],
      second: [
        async () => {
          await until(() => fs.existsSync(path));
          return calls(write(path, 'second\n'));
        },
      ],
    });
    await run(engine, 'main');
    expect(toldTo(engine, 'second').join('\n')).toMatch(
      /new\.txt has not been read in this task, and was written by task \w+ \(general-purpose\): Read it first\./,
    );
    expect(fs.readFileSync(path, 'utf8')).toBe('first\n');
  });

  test.each(['foreground', 'background'] as const)(
    'and a parent: the parent is informed which of its reads are out of date (%s)',
    async (where) => {
      const root = tempDirectory();
      const [changed, same] = [join(root, 'changed.txt'), join(root, 'same.txt')];
      for (const path of [changed, same]) fs.writeFileSync(path, 'one\n');
      const delegate =
        where === 'background' ? background('child') : call('Task', { prompt: 'child' });
      const engine = over(root, {
        main: [calls(read(changed), read(same)), calls(delegate)],
        child: [calls(read(changed), read(same)), calls(edit(changed, 'one', 'two'))],
      });
      await run(engine, 'main');
      const notes = toldTo(engine, 'main')
        .join('\n')
        .match(/\[Changed since you read it: .*?\]/g);
      expect(notes).toEqual([
        `[Changed since you read it: ${JSON.stringify(changed)}. Read again what you go on with.]`,
      ]);
    },
  );
});

describe('a path that rules deny', () => {
  test('is not found by a search of the directory above, not even in a child', async () => {
    const root = tempDirectory();
    fs.mkdirSync(join(root, 'secret'));
    fs.writeFileSync(join(root, 'secret/a.txt'), 'KEY hidden\n');
    fs.writeFileSync(join(root, 'b.txt'), 'KEY shown\n');
    const grep = call('Grep', { pattern: 'KEY', output_mode: 'content' });
    const engine = over(
      root,
      {
        main: [
          calls(grep, call('Glob', { pattern: '*.txt' }), call('Task', { prompt: 'child' })),
          calls(call('Grep', { pattern: 'KEY', path: 'secret' })),
        ],
        child: [calls(grep)],
      },
      { deny: [rule('Read(secret/**)', 'Read', 'secret/**')] },
    );
    await run(engine, 'main');
    const note = '[1 file left out: deny rule `Read(secret/**)` (--deny)]';
    const told = toldTo(engine, 'main');
    expect(told.slice(1, 3)).toEqual([`b.txt:1:KEY shown\n${note}`, `b.txt\n${note}`]);
    expect(told.at(-1)).toMatch(/^Refused, nothing was done\. The deny rule/);
    expect(toldTo(engine, 'child')).toContain(`b.txt:1:KEY shown\n${note}`);
    expect(JSON.stringify(engine.events)).not.toContain('hidden');
  });
});

describe('a question is asked', () => {
  /** Answers every question with this text, and returns the list of questions. */
  function answering(engine: TestEngine, text: string) {
    const asked: Question[] = [];
    engine.inbox.listen(() => {
      for (const { question } of engine.inbox.open()) {
        if (asked.includes(question)) continue;
        asked.push(question);
        answerQuestion(engine.inbox, question.id, { text });
      }
    });
    return asked;
  }

  test.each(['yes', 'no'] as const)(
    'about a hard link, for reading and writing: %s',
    async (answer) => {
      const at = tempDirectory();
      const root = join(at, 'root');
      fs.mkdirSync(root);
      fs.writeFileSync(join(at, 'outside'), 'outside\n');
      const path = join(root, 'linked');
      fs.linkSync(join(at, 'outside'), path);
      const engine = over(
        root,
        { main: [calls(read(path)), calls(edit(path, 'outside', 'mine'))] },
        { onAsk: 'wait' },
      );
      const asked = answering(engine, answer);
      await run(engine, 'main');
      expect(asked).toMatchObject([
        {
          tool: 'Read',
          step: 'floor',
          scopes: [],
          reason: expect.stringMatching(/has other names \(hard links\)/),
        },
        {
          tool: 'Edit',
          step: 'floor',
          scopes: [],
          edits: [{ path, before: 'outside', after: 'mine', everywhere: false }],
        },
      ]);
      const told = toldTo(engine, 'main').join('\n');
      expect(fs.readFileSync(join(at, 'outside'), 'utf8')).toBe('outside\n');
      expect(fs.readFileSync(path, 'utf8')).toBe(answer === 'yes' ? 'mine\n' : 'outside\n');
      if (answer === 'yes') expect(told).toContain('they keep the old content');
      else expect(told).not.toContain('outside\n');
    },
  );

  test('about a git directory under another name', async () => {
    const root = tempDirectory();
    for (const name of ['objects', 'refs'])
      fs.mkdirSync(join(root, 'meta', name), { recursive: true });
    fs.writeFileSync(join(root, 'meta/HEAD'), 'ref: refs/heads/main\n');
    const engine = over(root, { main: [calls(write(join(root, 'meta/config'), 'x'))] });
    await run(engine, 'main');
    expect(toldTo(engine, 'main').join('\n')).toMatch(/lies in a git directory/);
    expect(fs.existsSync(join(root, 'meta/config'))).toBe(false);
  });

  test.each(['scripts/hooks', '.', '../work/scripts/hooks'])(
    'about hooks where the configuration places them, and about included files: %s',
    async (hooksPath) => {
      const top = fs.realpathSync(tempDirectory());
      const root = join(top, 'work');
      fs.mkdirSync(join(root, '.git'), { recursive: true });
      fs.writeFileSync(join(root, '.git/config'), '[include]\n\tpath = ../shared.ini\n');
      fs.writeFileSync(join(root, 'shared.ini'), `[core]\n\thooksPath = ${hooksPath}\n`);
      const hook = join(root, hooksPath, 'pre-push');
      const paths = [hook, join(root, 'shared.ini'), join(root, 'scripts/other')];
      const engine = over(
        root,
        { main: [calls(...paths.map((path) => write(path, 'x')))] },
        { mode: 'acceptEdits' },
      );
      await run(engine, 'main');
      const told = toldTo(engine, 'main').join('\n');
      expect(told.match(/is used by git/g)).toHaveLength(2);
      expect(fs.existsSync(hook)).toBe(false);
      expect(fs.readFileSync(join(root, 'shared.ini'), 'utf8')).toContain('hooksPath');
      expect(fs.readFileSync(join(root, 'scripts/other'), 'utf8')).toBe('x');
    },
  );

  test('for one target, and again if the path leads elsewhere since', async () => {
    const root = tempDirectory();
    const path = join(root, 'note.txt');
    fs.writeFileSync(path, 'harmless');
    fs.writeFileSync(join(root, '.env'), 'KEY=hidden');
    const engine = over(root, { main: [calls(read(path))] }, { onAsk: 'wait', ask: ['Read'] });
    const asked: Question[] = [];
    engine.inbox.listen(() => {
      const [open] = engine.inbox.open();
      if (open === undefined || asked.includes(open.question)) return;
      asked.push(open.question);
      fs.rmSync(path);
      fs.symlinkSync('.env', path);
      answerQuestion(engine.inbox, open.question.id, { text: asked.length === 1 ? 'yes' : 'no' });
    });
    await run(engine, 'main');
    expect(asked).toMatchObject([
      { step: 'ask_rule', paths: [path] },
      { step: 'floor', paths: [join(root, '.env')] },
    ]);
    expect(JSON.stringify(engine.events)).not.toContain('hidden');
  });

  test('for the file that is opened, and not for a path that leads elsewhere since', async () => {
    const root = tempDirectory();
    const path = join(root, 'note.txt');
    fs.writeFileSync(path, 'harmless');
    fs.writeFileSync(join(root, '.env'), 'KEY=hidden');
    const swap = () => {
      fs.rmSync(path);
      fs.symlinkSync('.env', path);
    };
    const engine = over(
      root,
      { main: [calls(read(path))] },
      {
        prepareStore: (store) =>
          hookLogs(store, {
            append: (_, bodies) => bodies.some(({ type }) => type === 'call.started') && swap(),
          }),
      },
    );
    await run(engine, 'main');
    expect(toldTo(engine, 'main').join('\n')).toMatch(/leads elsewhere now: nothing was opened/);
    expect(JSON.stringify(engine.events)).not.toContain('hidden');
  });
});
