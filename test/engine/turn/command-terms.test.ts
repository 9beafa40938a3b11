import { expect, it } from 'vitest';
import type { QuotedItem } from '../../../src/protocol/quoted-item.ts';
import type { PermissionRule } from '../../../src/protocol/permission.ts';
import { modelName, type ResolvedModel } from '../../../src/protocol/model.ts';
import type { AnyTool } from '../../../src/protocol/tool.ts';
import { foldLog } from '../../../src/engine/task/fold-log.ts';
import { TaskPermissions } from '../../../src/engine/task/task-permissions.ts';
import { mapToolsByName } from '../../../src/replay/idle-deps.ts';
import { rerunTree } from '../../../src/replay/rerun-tree.ts';
import { call, calls, eventsOfType, play, type Play, type Turn } from '../play.ts';
import { MODEL, SETTINGS, testEngine, type EngineSetup, type TestEngine } from '../support.ts';

const OTHER: ResolvedModel = { provider: 'scripted', id: 'other', chain: ['call: other'] };
const SPARE: ResolvedModel = { provider: 'scripted', id: 'spare', chain: ['fallback'] };
const WRITE_RULE: PermissionRule = {
  text: 'Write',
  tool: 'Write',
  source: { kind: 'definition', where: '/commands/a.md' },
};

function command(terms: Pick<QuotedItem, 'model' | 'allow'>): QuotedItem {
  return { kind: 'slash_command', name: '/a', outcome: '', text: 'Do it.', nonce: 'n', ...terms };
}

const writeTool: AnyTool = {
  name: 'Write',
  kind: 'edit',
  replay: 'opaque',
  description: 'write',
  inputSchema: { type: 'object' },
  parse: (input) => ({ ok: true, input }),
  describe: () => ({ reads: [], writes: ['/work/a'], commands: [], hosts: [] }),
  run: async () => ({ text: 'wrote' }),
};
const write = calls(call('Write', {}));

const SETUP = { mode: 'default', root: '/work', tools: [writeTool] } as const;

/** Sends messages one after the other, each when the conversation has ended, with these items. */
async function converse(
  lines: Play,
  [first = [], ...later]: readonly (readonly QuotedItem[])[],
  setup: EngineSetup = {},
): Promise<TestEngine & { readonly id: string }> {
  const test = testEngine(play(lines), { ...SETUP, ...setup });
  const run = test.start('main', first);
  await run.end.written;
  const { id } = run.spec;
  for (const enclosed of later) {
    const resumed = await test.engine.resume(id, {
      prompt: 'next',
      maxRights: (recorded) => recorded,
      enclosed,
    });
    await resumed.end.written;
  }
  return { ...test, id };
}

const listModels = (test: TestEngine): readonly string[] =>
  eventsOfType(test, 'turn.started').map(({ model }) => model);

/** Lists how the calls ended. */
const listEnds = ({ events }: TestEngine): readonly string[] =>
  events.flatMap(({ type }) => (type === 'call.ended' || type === 'call.refused' ? [type] : []));

const names = (...models: readonly ResolvedModel[]) => models.map(modelName);

it('the model of a command answers until the next message, and a rerun does the same', async () => {
  const test = await converse({ main: [write] }, [[command({ model: OTHER })], [], []]);
  expect(listModels(test)).toEqual(names(OTHER, OTHER, MODEL, MODEL));
  const parts = { store: test.store, settings: SETTINGS };
  const source = { ...parts, tools: mapToolsByName(parts, [writeTool]) };
  const { tasks } = await rerunTree(source, test.id);
  expect(tasks.map(({ difference }) => difference)).toEqual([null]);
});

it('a command after a command has its own model, and then the first model is used again', async () => {
  const test = await converse({}, [
    [],
    [command({ model: OTHER })],
    [command({ model: SPARE })],
    [command({ model: MODEL })],
    [],
  ]);
  expect(listModels(test)).toEqual(names(MODEL, OTHER, SPARE, MODEL, MODEL));
});

it('a fallback for the model of a command ends with its turn as well', async () => {
  const failure = { kind: 'server', message: 'broken', retryable: false } as const;
  const first = ({ request }: Turn) =>
    request.model.id === OTHER.id ? { failure } : { text: 'done' };
  const test = await converse({ main: [first] }, [[command({ model: OTHER })], []], {
    fallbacks: () => [SPARE],
  });
  expect(listModels(test)).toEqual(names(OTHER, SPARE, MODEL));
});

it('a message during the turn of a command ends its terms', async () => {
  const test: TestEngine = testEngine(
    play({
      main: [
        () => {
          test.engine.send(main.spec.id, 'more');
          return write;
        },
        write,
      ],
    }),
    SETUP,
  );
  const main = test.start('main', [command({ model: OTHER, allow: [WRITE_RULE] })]);
  await main.end.written;
  expect(listModels(test)).toEqual(names(OTHER, MODEL, MODEL));
  expect(listEnds(test)).toEqual(['call.ended', 'call.refused']);
});

it('the rules of a command allow calls until the next message', async () => {
  const test = await converse({ main: [write, { text: 'one' }, write] }, [
    [command({ allow: [WRITE_RULE] })],
    [],
  ]);
  expect(listEnds(test)).toEqual(['call.ended', 'call.refused']);
  const [refused] = eventsOfType(test, 'call.refused');
  expect(refused?.decision?.verdict).toBe('ask');
});

it.each([
  ['plan mode', { mode: 'plan' }],
  ['a deny rule', { deny: [WRITE_RULE] }],
  ['an ask rule', { ask: ['Write'] }],
] as const)('%s holds against the rules of a command', async (_, setup) => {
  const test = await converse({ main: [write] }, [[command({ allow: [WRITE_RULE] })]], setup);
  expect(listEnds(test)).toEqual(['call.refused']);
});

it('the rules in an imported log allow nothing', async () => {
  const rules = { messageRules: new Map(), turnRules: [{ rule: WRITE_RULE, seq: 4 }] };
  const { store, id } = await converse({}, [[]]);
  const state = { ...foldLog(store, id), ...rules };
  const granted = (importedUpTo: number) =>
    new TaskPermissions({
      task: { spec: state.spec, state },
      parent: null,
      userGrants: () => [],
      importedUpTo,
    }).granted();
  expect([granted(4), granted(3)]).toEqual([[], [WRITE_RULE]]);
});
