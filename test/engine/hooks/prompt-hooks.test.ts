import { expect, it } from 'vitest';
import type {
  HookEventName,
  HookOccasion,
  HookOutcome,
  HookPort,
} from '../../../src/protocol/hook.ts';
import { modelName, type ResolvedModel } from '../../../src/protocol/model.ts';
import type { ContextFile, ContextSource } from '../../../src/protocol/project-context.ts';
import type { QuotedItem } from '../../../src/protocol/quoted-item.ts';
import { listHookOccasions } from '../../../src/report/hook-occasions.ts';
import { mapToolsByName } from '../../../src/replay/idle-deps.ts';
import { rerunTree } from '../../../src/replay/rerun-tree.ts';
import { eventsOfType, play, type Play, type Turn } from '../play.ts';
import { MODEL, SETTINGS, testEngine, type EngineSetup, type TestEngine } from '../support.ts';

const OTHER: ResolvedModel = { provider: 'scripted', id: 'other', chain: ['call: other'] };

type Said = Partial<Record<HookEventName, Partial<HookOutcome>>>;

/** Hooks that say the same at each occasion of an event, and what they were told. */
function hooksThatSay(said: Said): HookPort & { readonly occasions: HookOccasion[] } {
  const occasions: HookOccasion[] = [];
  return {
    occasions,
    has: (event) => said[event] !== undefined,
    beginSession: () => true,
    run: async (occasion) => {
      occasions.push(occasion);
      return { context: [], records: [], ...said[occasion.event] };
    },
  };
}

const COMMAND: QuotedItem = {
  kind: 'slash_command',
  name: '/review a.ts',
  outcome: '',
  text: 'Review a.ts.',
  nonce: 'n',
};

/** Sends messages one after the other, with these items. Returns what hooks were told. A rerun does the same without hooks. */
async function converse(
  said: Said,
  [first = [], ...later]: readonly (readonly QuotedItem[])[],
  setup: EngineSetup = {},
  lines: Play = {},
) {
  const hooks = hooksThatSay(said);
  const test = testEngine(play(lines), { hooks, root: '/work', ...setup });
  const run = test.start('/review a.ts', first);
  await run.end.written;
  for (const enclosed of later) {
    const resumed = await test.engine.resume(run.spec.id, {
      prompt: 'next',
      maxRights: (recorded) => recorded,
      enclosed,
    });
    await resumed.end.written;
  }
  const parts = { store: test.store, settings: SETTINGS };
  const { tasks } = await rerunTree({ ...parts, tools: mapToolsByName(parts, []) }, run.spec.id);
  expect(tasks.map(({ difference }) => difference)).toEqual([null]);
  return { test, run, told: hooks.occasions };
}

const listModels = (test: TestEngine): readonly string[] =>
  eventsOfType(test, 'turn.started').map(({ model }) => model);

/** Lists the occasions in the log of the conversation, without those that every conversation has. */
function listFromLog({ events }: TestEngine) {
  const [created] = events;
  if (created?.type !== 'task.created') throw new Error('the log has no beginning');
  const { id, cwd } = created.spec;
  const files = { logFile: '', rootLogFile: '' };
  const place = { id, rootId: id, parentId: null, agentType: 'main', depth: 0, cwd, ...files };
  return listHookOccasions(place, events).map(({ event, matched, fields }) => ({
    event,
    matched,
    fields,
  }));
}

const EXPANSION = {
  event: 'UserPromptExpansion',
  matched: 'review',
  fields: {
    expansion_type: 'slash_command',
    command_name: 'review',
    command_args: 'a.ts',
    prompt: '/review a.ts',
  },
};

it('hooks are told of a slash command before its message is sent, and add to it', async () => {
  const said = { UserPromptExpansion: { context: ['be kind'] } };
  const { test, told } = await converse(said, [[COMMAND], []]);
  expect(told).toMatchObject([EXPANSION]);
  const [first] = test.model.requests;
  expect(JSON.stringify(first?.messages)).toContain('A hook says: be kind');
  expect(listFromLog(test)).toContainEqual(EXPANSION);
});

it('a hook refuses a slash command, and no hook of its message runs', async () => {
  const said = { UserPromptExpansion: { block: 'not today' }, UserPromptSubmit: {} };
  const { test, run, told } = await converse(said, [[COMMAND]]);
  expect(told.map(({ event }) => event)).toEqual(['UserPromptExpansion']);
  expect(test.model.requests).toEqual([]);
  expect(run.state.end).toMatchObject({ status: 'stopped' });
});

it('hooks of a message alone are told of it as before', async () => {
  const { told } = await converse({ UserPromptSubmit: {} }, [[COMMAND]]);
  expect(told.map(({ event, fields }) => [event, fields])).toEqual([
    ['UserPromptSubmit', { prompt: '/review a.ts' }],
  ]);
});

const WITH_MODEL = { ...COMMAND, model: OTHER };
const SWITCH = { from_model: modelName(MODEL), to_model: modelName(OTHER) };
const BACK = { from_model: modelName(OTHER), to_model: modelName(MODEL) };

it('hooks are told of each change of the model before the first request to it', async () => {
  const said = { PreModelSwitch: {}, PostModelSwitch: { context: ['you are new'] } };
  const { test, told } = await converse(said, [[], [WITH_MODEL], []]);
  expect(listModels(test)).toEqual([MODEL, OTHER, MODEL].map(modelName));
  const changes = [
    { event: 'PreModelSwitch', matched: 'other', fields: SWITCH },
    { event: 'PostModelSwitch', matched: 'other', fields: SWITCH },
    { event: 'PreModelSwitch', matched: 'one', fields: BACK },
    { event: 'PostModelSwitch', matched: 'one', fields: BACK },
  ];
  expect(told.map(({ event, matched, fields }) => ({ event, matched, fields }))).toEqual(changes);
  expect(JSON.stringify(test.model.requests[1]?.messages)).toContain('A hook says: you are new');
  const recorded = listFromLog(test).filter(({ event }) => event.endsWith('ModelSwitch'));
  expect(recorded).toEqual(changes);
});

it('a hook refuses a model, and the one before it goes on', async () => {
  const said = { PreModelSwitch: { block: 'too dear' }, PostModelSwitch: {} };
  const { test, told } = await converse(said, [[], [WITH_MODEL], []]);
  expect(listModels(test)).toEqual([MODEL, MODEL, MODEL].map(modelName));
  expect(told.map(({ event }) => event)).toEqual(['PreModelSwitch']);
  const [warning] = eventsOfType(test, 'warning');
  expect(warning?.message).toBe(
    'a hook refused the change to scripted/other, so scripted/one goes on: too dear',
  );
});

it('a hook cannot refuse a model that replaces a failed one', async () => {
  const failure = { kind: 'server', message: 'broken', retryable: false } as const;
  const answer = ({ request }: Turn) =>
    request.model.id === OTHER.id ? { text: 'done' } : { failure };
  const said = { PreModelSwitch: { block: 'no' }, PostModelSwitch: {} };
  const { test, told } = await converse(
    said,
    [[]],
    { fallbacks: () => [OTHER] },
    { '/review': [answer] },
  );
  expect(listModels(test)).toEqual([MODEL, OTHER].map(modelName));
  expect(told.map(({ event }) => event)).toEqual(['PostModelSwitch']);
});

it('hooks are told once of each context file of a new conversation', async () => {
  const file = (name: string, more: Partial<ContextFile> = {}): ContextFile => ({
    name,
    scope: 'project',
    text: 'Text.',
    isCut: false,
    ...more,
  });
  const files = [
    file('~/.config/muster/AGENTS.md', { scope: 'user' }),
    file('../AGENTS.md'),
    file('docs/rules.md', { importedBy: '../AGENTS.md' }),
  ];
  const context: ContextSource = {
    refresh: async () => {},
    getContext: () => ({ id: 'c', files, leftOut: [], git: null }),
  };
  const { told } = await converse({ InstructionsLoaded: {} }, [[]], { context });
  expect(told.map(({ matched, fields }) => [matched, fields])).toEqual([
    [
      'session_start',
      {
        file_path: '/home/me/.config/muster/AGENTS.md',
        memory_type: 'User',
        load_reason: 'session_start',
      },
    ],
    [
      'session_start',
      { file_path: '/AGENTS.md', memory_type: 'Project', load_reason: 'session_start' },
    ],
    [
      'include',
      {
        file_path: '/work/docs/rules.md',
        memory_type: 'Project',
        load_reason: 'include',
        parent_file_path: '/AGENTS.md',
      },
    ],
  ]);
});
