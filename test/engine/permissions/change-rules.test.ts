import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  applyRuleChange,
  parseRuleChange,
  type RuleChange,
} from '../../../src/engine/permissions/change-rules.ts';
import { stopOrder } from '../../../src/engine/task/stop-order.ts';
import { foldLog } from '../../../src/engine/task/fold-log.ts';
import { createBranch } from '../../../src/replay/create-branch.ts';
import { planRewind } from '../../../src/engine/rewind/plan-rewind.ts';
import { rewind } from '../../../src/engine/rewind/rewind.ts';
import { parseRules } from '../../../src/policy/rules/rules.ts';
import type { RuleList } from '../../../src/protocol/permission.ts';
import { emptyInbox } from '../../../src/protocol/state/questions.ts';
import type { AnyTool } from '../../../src/protocol/tool.ts';
import { background, call, calls, eventsOfType, play, until } from '../play.ts';
import { testEngine, type EngineSetup, type TestEngine } from '../support.ts';

/** A tool that records its commands. */
function commandTool(ran: string[]): AnyTool {
  return {
    name: 'Bash',
    kind: 'execute',
    replay: 'opaque',
    description: 'run',
    inputSchema: { type: 'object' },
    parse: (input) => ({ ok: true, input }),
    describe: ({ command }: { command: string }) => ({
      reads: [],
      writes: [],
      commands: [command],
      hosts: [],
    }),
    run: async ({ command }: { command: string }) => {
      ran.push(command);
      return { text: `ran ${command}` };
    },
  };
}

const run = (command: string) => call('Bash', { command });
const change = (
  kind: RuleChange['kind'],
  list: RuleList,
  rule: string,
  scope: RuleChange['scope'] = 'task',
): RuleChange => ({ kind, list, rule, scope });

function start(lines: Parameters<typeof play>[0], setup: EngineSetup = {}) {
  const ran: string[] = [];
  const test: TestEngine = testEngine(play(lines), {
    mode: 'default',
    onAsk: 'wait',
    tools: [commandTool(ran)],
    ...setup,
  });
  return { test, ran, main: test.start('main') };
}

describe('a rule that the user sets for a conversation', () => {
  it('denies at once: waiting questions, later calls, and calls of every task below', async () => {
    const { test, ran, main } = start({
      main: [calls(background('part'), run('npm test')), calls(run('npm test'))],
      part: [calls(run('npm test')), calls(run('npm test'))],
    });
    await until(() => test.inbox.open().length === 2);
    await test.engine.changeRule(main.spec.id, change('add', 'deny', 'Bash(npm:*)'));
    await main.end.written;
    expect(ran).toEqual([]);
    const refused = eventsOfType(test, 'call.refused').map(({ text }) => text);
    expect(refused).toHaveLength(4);
    for (const text of refused) {
      expect(text).toContain('The deny rule `Bash(npm:*)` (set with /permissions) forbids');
    }
    expect(eventsOfType(test, 'rights.restricted')).toMatchObject([
      { task: main.spec.id, list: 'deny', by: 'user', rule: { text: 'Bash(npm:*)' } },
    ]);
  });

  it('allows at once, and a deny rule wins over it', async () => {
    const { test, ran, main } = start({
      main: [calls(background('part'), run('npm test')), calls(run('make'))],
      part: [calls(run('git push'))],
    });
    await until(() => test.inbox.open().length === 2);
    const { engine } = test;
    await engine.changeRule(main.spec.id, change('add', 'deny', 'Bash(git push:*)'));
    await engine.changeRule(main.spec.id, change('add', 'allow', 'Bash'));
    await main.end.written;
    expect(ran).toEqual(['npm test', 'make']);
    expect(eventsOfType(test, 'rights.granted')).toMatchObject([
      { task: main.spec.id, scope: 'task', rule: { text: 'Bash' } },
    ]);
  });

  it('is lifted for all tasks when it is removed, also for those that were created meanwhile', async () => {
    const gate = Promise.withResolvers<void>();
    const { test, ran, main } = start({
      main: [calls(background('part'))],
      part: [
        async () => {
          await gate.promise;
          return calls(run('npm test'));
        },
      ],
    });
    const { engine } = test;
    await engine.changeRule(main.spec.id, change('add', 'deny', 'Bash(npm:*)'));
    await engine.changeRule(main.spec.id, change('add', 'allow', 'Bash(npm test)'));
    await until(() => main.state.children.size === 1);
    const [child = ''] = main.state.children.keys();
    expect(engine.task(child)?.permissions.rights.rules.deny).toHaveLength(1);
    await engine.changeRule(main.spec.id, change('remove', 'deny', 'Bash(npm:*)'));
    expect(engine.task(child)?.permissions.rights.rules.deny).toEqual([]);
    gate.resolve();
    await main.end.written;
    expect(ran).toEqual(['npm test']);
  });

  it('asks again about a call once its allow rule is removed', async () => {
    const { test, ran, main } = start({ main: [calls(run('npm test')), calls(run('npm test'))] });
    const { engine, inbox } = test;
    await until(() => inbox.open().length === 1);
    await engine.changeRule(main.spec.id, change('add', 'allow', 'Bash(npm test)'));
    await engine.changeRule(main.spec.id, change('remove', 'allow', 'Bash(npm test)'));
    await until(() => inbox.open().length === 1);
    expect(ran.length).toBeLessThanOrEqual(1);
    await engine.stop(stopOrder('client', 'over'));
  });

  it('refuses a call that was allowed and has not begun', async () => {
    let id = '';
    const { test, ran, main } = start(
      { main: [calls(run('npm test'))] },
      {
        mode: 'autonomous',
        prepareStore: (store) => {
          const create = store.create.bind(store);
          Object.assign(store, {
            create: (spec: Parameters<typeof create>[0]) => {
              const log = create(spec);
              const sync = log.sync.bind(log);
              let isSet = false;
              return Object.assign(log, {
                sync: async () => {
                  await sync();
                  if (isSet || eventsOfType(test, 'call.started', id).length === 0) return;
                  isSet = true;
                  await test.engine.changeRule(id, change('add', 'deny', 'Bash(npm:*)'));
                },
              });
            },
          });
        },
      },
    );
    id = main.spec.id;
    await main.end.written;
    expect(ran).toEqual([]);
    expect(eventsOfType(test, 'call.ended', id)).toMatchObject([
      { text: expect.stringContaining('The deny rule'), error: 'PERMISSION_DENIED' },
    ]);
  });

  it('is kept in the log of a conversation that has ended, and applies when it goes on', async () => {
    const { test, ran, main } = start({ main: [{ text: 'done' }, calls(run('npm test'))] });
    await main.end.written;
    const { engine, store } = test;
    await engine.changeRule(main.spec.id, change('add', 'deny', 'Bash'));
    await engine.changeRule(main.spec.id, change('add', 'allow', 'Bash(make)'));
    const { granted, restrictions } = foldLog(store, main.spec.id);
    expect([granted.length, restrictions.length]).toEqual([1, 1]);
    const again = await engine.resume(main.spec.id, {
      prompt: 'more',
      maxRights: (recorded) => recorded,
    });
    await again.end.written;
    expect(ran).toEqual([]);
    expect(eventsOfType(test, 'call.refused')).toHaveLength(1);
  });

  it('is not lifted by an undo of the messages after which it was set', async () => {
    const { test, main } = start({ main: [{ text: 'one' }] });
    await main.end.written;
    const { engine, store } = test;
    const { id } = main.spec;
    await engine.changeRule(id, change('add', 'deny', 'Bash(rm:*)'));
    await engine.changeRule(id, change('add', 'ask', 'Edit'));
    await engine.changeRule(id, change('remove', 'ask', 'Edit'));
    const plan = await planRewind(store, id, { to: 0 });
    await rewind(store, plan);
    const texts = () => foldLog(store, id).restrictions.map(({ rule }) => rule.text);
    expect(texts()).toEqual(['Bash(rm:*)']);
    await rewind(store, await planRewind(store, id, 'undo'));
    expect(texts()).toEqual(['Bash(rm:*)']);
  });

  it('binds a branch from an earlier event', async () => {
    const { test, main } = start({ main: [{ text: 'one' }, { text: 'two' }] });
    await main.end.written;
    const { engine, store } = test;
    const { id } = main.spec;
    const at = main.state.lastSeq;
    await engine.changeRule(id, change('add', 'deny', 'Bash(rm:*)'));
    await engine.changeRule(id, change('add', 'allow', 'Bash(make)'));
    await engine.changeRule(id, change('add', 'ask', 'Edit'));
    await engine.changeRule(id, change('remove', 'ask', 'Edit'));
    const branch = await createBranch(store, { id, at, hasPrompt: true });
    const { granted, restrictions } = foldLog(store, branch.id);
    expect(restrictions.map(({ rule }) => rule.text)).toEqual(['Bash(rm:*)']);
    expect(granted).toEqual([]);
  });

  it('changes nothing and is not logged if it is wrong', async () => {
    const { test, main } = start(
      { main: [calls(run('npm test'))] },
      {
        redact: (text) => text.replaceAll('s3cret', '[REDACTED]'),
      },
    );
    await until(() => test.inbox.open().length === 1);
    const attempt = (each: RuleChange) => test.engine.changeRule(main.spec.id, each);
    await expect(attempt(change('add', 'deny', 'Bsh(x)'))).rejects.toThrow(
      '/permissions: rule "Bsh(x)": there is no tool "Bsh"; did you mean Bash?',
    );
    await expect(attempt(change('add', 'allow', 'Bash(curl s3cret)'))).rejects.toThrow('a secret');
    await expect(attempt(change('remove', 'deny', 'Bash'))).rejects.toThrow('no deny rule Bash');
    await expect(attempt(change('add', 'deny', 'Bash', 'project'))).rejects.toThrow(
      'permissions.deny of your configuration',
    );
    await expect(attempt(change('add', 'allow', 'Bash', 'project'))).rejects.toThrow(
      'permanent rules are not available',
    );
    const types = new Set(test.events.map(({ type }) => type));
    expect(types.has('rights.granted') || types.has('rights.restricted')).toBe(false);
    await test.engine.stop(stopOrder('client', 'over'));
  });
});

describe('a rule that the user sets', () => {
  it('is read exactly like a rule of a file', () => {
    const texts = fc.oneof(
      fc.constantFrom(
        'Bash',
        'Bash(npm:*)',
        'Bsh',
        'Read(./x)',
        'create_file',
        'Edit(',
        'Task(Explore)',
        'WebFetch(domain:x.y)',
        'mcp__a__b',
        'Skill(x)',
        '',
        '  Bash( x ) ',
        'Bash(a\nb)',
      ),
      fc.string({ maxLength: 20 }),
      fc.string({ maxLength: 10 }).map((specifier) => `Bash(${specifier})`),
    );
    fc.assert(
      fc.property(texts, fc.constantFrom<RuleList>('allow', 'ask', 'deny'), (text, list) => {
        const source = { kind: 'config', where: '/permissions' } as const;
        const inFile = parseRules({ allow: [], ask: [], deny: [], [list]: [{ text, source }] });
        const [rule] = inFile.rules[list];
        if (inFile.problems.length > 0) {
          expect(() => parseRuleChange({ list, rule: text })).toThrow(inFile.problems[0]?.message);
          return;
        }
        const { source: _, ...parsed } = parseRuleChange({ list, rule: text });
        const { source: _source, ...expected } = rule ?? { source };
        expect(parsed).toEqual(expected);
      }),
    );
  });

  it.each<[RuleChange, string]>([
    [change('add', 'allow', 'Bash'), 'rights.granted'],
    [change('add', 'ask', 'Bash'), 'rights.restricted'],
    [change('add', 'deny', 'Bash'), 'rights.restricted'],
  ])('%j is recorded as %s', (each, type) => {
    const stores = { standing: null, directory: null, redact: (text: string) => text };
    expect(applyRuleChange(each, emptyInbox(), stores)).toMatchObject([{ type }]);
  });
});
