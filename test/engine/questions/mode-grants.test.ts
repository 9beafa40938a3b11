import { describe, expect, it } from 'vitest';
import type { AgentDefinition } from '../../../src/protocol/agent.ts';
import type { ModeGrant } from '../../../src/protocol/permission.ts';
import type { AnyTool } from '../../../src/protocol/tool.ts';
import { openMemoryStore } from '../../../src/store/memory-store.ts';
import { call, calls, eventsOfType, play, until, type Play } from '../play.ts';
import { testEngine, WORKER, type EngineSetup } from '../support.ts';
import type { ModeGrantStore } from '../../../src/engine/task/inbox.ts';
import { identifyDefinition } from '../../../src/policy/mode-grants.ts';
import { answerQuestion } from '../../../src/engine/questions/record-answer.ts';

const CODER: AgentDefinition = {
  ...WORKER,
  name: 'coder',
  mode: 'acceptEdits',
  permissionMode: 'acceptEdits',
  origin: { scope: 'user', vendor: 'muster', path: '/home/me/agents/coder.md' },
};

/** A tool that takes a path and records that it wrote the file. */
function writeTool(written: string[]): AnyTool {
  return {
    name: 'Write',
    kind: 'edit',
    replay: 'opaque',
    description: 'write',
    inputSchema: { type: 'object' },
    parse: (input) => ({ ok: true, input }),
    describe: (input: { path: string }) => ({
      reads: [],
      writes: [input.path],
      commands: [],
      hosts: [],
    }),
    run: async (input: { path: string }) => {
      written.push(input.path);
      return { text: `wrote ${input.path}` };
    },
  };
}

const write = (path: string) => call('Write', { path });
const code = (prompt: string) =>
  call('Task', { prompt, description: prompt, subagent_type: 'coder' });

function coding(parts: Play, setup: EngineSetup = {}) {
  const written: string[] = [];
  const test = testEngine(play(parts), {
    mode: 'default',
    onAsk: 'wait',
    tools: [writeTool(written)],
    agents: [CODER],
    root: '/srv/project',
    ...setup,
  });
  return { test, written };
}

/** The file with the user's own grants, as sessions use it. */
function storeOf(...grants: readonly ModeGrant[]): ModeGrantStore & { readonly kept: ModeGrant[] } {
  const kept = [...grants];
  return {
    kept,
    listGrants: () => kept,
    add: (grant) => {
      kept.push(grant);
      return grant;
    },
  };
}

const GRANT: ModeGrant = {
  agent: 'coder',
  mode: 'acceptEdits',
  definition: identifyDefinition(CODER),
  source: { kind: 'flag', where: '--agent-mode' },
};

describe('an answer that gives an agent its mode', () => {
  it('answers the waiting questions of that agent, and no others', async () => {
    const { test, written } = coding({
      root: [calls(code('a'), code('b'), write('/srv/project/root'))],
      a: [calls(write('/srv/project/a'))],
      b: [calls(write('/srv/project/b')), calls(write('/srv/elsewhere'))],
    });
    const top = test.start('root');
    await until(() => test.inbox.open().length === 3);
    const open = test.inbox.open().map(({ question }) => question);
    const offered = open.filter((each) => each.kind === 'permission' && each.modeToGrant);
    expect(offered.map(({ chain }) => chain.at(-1))).toEqual(['coder', 'coder']);
    expect(offered[0]).toMatchObject({ modeToGrant: { scopes: ['task'] } });
    expect(() =>
      answerQuestion(test.inbox, offered[0]?.id ?? '', { text: 'mode', scope: 'user' }),
    ).toThrow(/scope "user" is not offered here; valid: task/);
    answerQuestion(test.inbox, offered[0]?.id ?? '', { text: 'mode' });
    await until(() => written.length === 2);
    expect(written.toSorted()).toEqual(['/srv/project/a', '/srv/project/b']);
    // A path outside of the roots is asked about in every mode, and so is the main agent's own edit.
    await until(() =>
      test.inbox
        .open()
        .some(
          ({ question }) =>
            question.task !== top.spec.id &&
            question.id !== offered[0]?.id &&
            question.id !== offered[1]?.id,
        ),
    );
    const left = test.inbox.open().map(({ question }) => question);
    expect(left.map(({ chain }) => chain.at(-1)).toSorted()).toEqual(['coder', 'main']);
    expect(left.every((each) => !('modeToGrant' in each))).toBe(true);
    expect(eventsOfType(test, 'mode.granted')).toMatchObject([
      { task: top.spec.id, scope: 'task', grant: { agent: 'coder' }, question: offered[0]?.id },
    ]);
    for (const { id } of left) answerQuestion(test.inbox, id, { text: 'no' });
    await top.end.written;
  });
});

describe('a grant of a mode', () => {
  it('has no effect while the conversation is in plan mode, and takes effect afterwards', async () => {
    const store = storeOf(GRANT);
    const { test, written } = coding(
      {
        root: [calls(code('a'))],
        a: [
          () => {
            test.engine.setMode(top.spec.id, 'plan');
            return calls(write('/srv/project/1'));
          },
          () => {
            test.engine.setMode(top.spec.id, 'default');
            return calls(write('/srv/project/2'));
          },
        ],
      },
      { modeGrants: store },
    );
    const top = test.start('root');
    await top.end.written;
    expect(written).toEqual(['/srv/project/2']);
  });

  it('does not extend to agents that the agent delegates to, beyond normal attenuation', async () => {
    const { test, written } = coding(
      {
        root: [calls(code('a'), call('Task', { prompt: 'w', description: 'w' }))],
        a: [calls(call('Task', { prompt: 'below', description: 'below' }))],
        below: [calls(write('/srv/project/below'))],
        w: [calls(write('/srv/project/w'))],
      },
      { modeGrants: storeOf(GRANT), onAsk: 'deny' },
    );
    await test.start('root').end.written;
    expect(written).toEqual(['/srv/project/below']);
  });

  it('in a log from elsewhere is not the user’s decision here', async () => {
    const parts: Play = {
      root: [calls(write('/x')), calls(code('a'))],
      a: [calls(write('/srv/project/a'))],
    };
    const run = async (importedUpTo: number | null) => {
      const store = openMemoryStore();
      const first = coding(parts, { onAsk: 'park', store, modeGrants: storeOf(GRANT) });
      const top = first.test.start('root');
      await top.end.written;
      expect(eventsOfType(first.test, 'mode.granted')).toHaveLength(1);
      if (importedUpTo !== null) store.importedUpTo = () => importedUpTo;
      const second = coding(parts, { onAsk: 'deny', store });
      const resumed = await second.test.engine.resume(top.spec.id, {
        prompt: null,
        maxRights: (recorded) => recorded,
      });
      await resumed.end.written;
      return second.written;
    };
    expect(await run(null)).toEqual(['/srv/project/a']);
    expect(await run(1_000)).toEqual([]);
  });
});
