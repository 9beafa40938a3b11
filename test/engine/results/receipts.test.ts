import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { buildResultEnvelope } from '../../../src/engine/results/result.ts';
import { bashTool } from '../../../src/tools/bash/bash.ts';
import type { TaskEvent } from '../../../src/protocol/events/event.ts';
import { writeTool } from '../../../src/tools/write.ts';
import { background, call, calls, eventsOfType, play, toldTo, until, type Play } from '../play.ts';
import { SETTINGS, statesOf, testEngine, waitTool, type EngineSetup } from '../support.ts';
import { rerunTaskLog } from '../../../src/replay/rerun-tree.ts';

const ANSWER = 'wrote a.txt, all tests pass';
const NOTHING =
  'no files changed · no commands · tests not run · build not run · no commits · no refusals';
const MISSING = '"a.txt" (it does not exist, and the task did not touch it)';

function workspace(): string {
  const directory = mkdtempSync(join(tmpdir(), 'muster-receipts-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Runs a main agent that makes this call, and a child whose prompt begins with `part`. */
async function delegate(
  part: Play[string],
  make = call('Task', { prompt: 'part' }),
  setup: EngineSetup = {},
) {
  const test = testEngine(play({ main: [calls(make), { text: 'ok' }], part }), setup);
  const run = test.start('main');
  await run.end.written;
  return { test, run, told: toldTo(test, 'main').join('\n') };
}

describe('a child that made no call', () => {
  const flagged = `[The task made no tool call; the log does not support this claim: ${MISSING}]`;

  it('is flagged to its parent, with the path that does not exist', async () => {
    const { test, told } = await delegate([{ text: ANSWER }]);
    expect(told).toContain(`${ANSWER}\n\n${flagged}\n\n[task `);
    expect(told).toContain(` · ${NOTHING}]`);
    expect(eventsOfType(test, 'task.ended').map(({ claims }) => claims)).toEqual([
      [
        { kind: 'done', claim: '', why: 'the task made no tool call' },
        {
          kind: 'file',
          claim: 'a.txt',
          why: 'it does not exist, and the task did not touch it',
        },
      ],
      undefined,
    ]);
  });

  it('is flagged in the notice of its end if it ran in the background', async () => {
    const { told } = await delegate([{ text: ANSWER }], background('part'));
    expect(told).toContain(`Result: ${ANSWER} ${flagged} [Receipt: 0 tool calls · ${NOTHING}]`);
  });

  it('is not flagged for a path that exists', async () => {
    const root = workspace();
    writeFileSync(join(root, 'a.txt'), 'a');
    const { told } = await delegate([{ text: ANSWER }], undefined, { root });
    expect(told).toContain(`${ANSWER}\n\n[The task made no tool call]\n\n[task `);
  });
});

it('a child that did what it says is not flagged, and neither is a parent that passes it on', async () => {
  const root = workspace();
  const path = join(root, 'a.txt');
  const command = 'npm() { true; }; npm test';
  const test = testEngine(
    play({
      main: [calls(call('Task', { prompt: 'part' })), { text: ANSWER }],
      part: [
        calls(call('Write', { path, content: 'a' }), call('Bash', { command })),
        { text: ANSWER },
      ],
    }),
    { tools: [bashTool, writeTool], root },
  );
  const run = test.start('main');
  await run.end.written;
  expect(readFileSync(path, 'utf8')).toBe('a');
  expect(toldTo(test, 'main').join('\n')).toContain(
    ` · changed: a.txt (new) · commands: "${command}" exit 0 · tests passed ("${command}" exit 0) · no build recognized · no commits · no refusals]`,
  );
  expect(eventsOfType(test, 'task.ended').map(({ claims }) => claims)).toEqual([
    undefined,
    undefined,
  ]);
  const state = statesOf(test.events).get(run.spec.id);
  const { receipt } = buildResultEnvelope(state ?? run.state, {
    transcript: null,
    outputFile: null,
  }).data;
  const [child = ''] = receipt.children;
  expect(receipt.claims).toEqual([]);
  expect(receipt.childReceipts).toEqual({
    [child]: { commands: [{ command, exitCode: 0 }], commandsLeftOut: 0, tools: ['Write', 'Bash'] },
  });
});

it('a child whose last test run failed is flagged, whatever it says', async () => {
  const command = 'npm() { false; }; npm test';
  const { told } = await delegate(
    [calls(call('Bash', { command })), { text: '所有测试都通过了' }],
    undefined,
    { tools: [bashTool], root: workspace() },
  );
  expect(told).toContain(`[The last test run failed: "${command}" exit 1]`);
  expect(told).toContain(`tests failed ("${command}" exit 1)`);
});

describe('a child gives its receipt', () => {
  const refused = { kind: 'bad_request', message: 'no', retryable: false } as const;

  it('when it failed', async () => {
    const { told } = await delegate([{ failure: refused }]);
    expect(told).toMatch(/The task ended as failed: PROVIDER_ERROR/);
    expect(told).toContain(` · ${NOTHING}]`);
  });

  it('when it failed in the background', async () => {
    const { told } = await delegate([{ failure: refused }], background('part'));
    expect(told).toContain(`[Receipt: 0 tool calls · ${NOTHING}]`);
  });

  it('when a limit ended it', async () => {
    const { told } = await delegate(
      [calls(call('Bash', {})), calls(call('Bash', {}))],
      call('Task', { prompt: 'part', max_turns: 1 }),
    );
    expect(told).toMatch(/LIMIT_EXCEEDED/);
    expect(told).toContain(' · 1 tool call (Bash 1) · ');
    expect(told).toContain(` · ${NOTHING}`);
  });

  it('when it was stopped', async () => {
    const test = testEngine(
      play({
        main: [
          calls(background('part')),
          async (turn) => {
            const id = turn.child(0);
            await until(() => test.engine.task(id)?.state.activity.kind === 'tools');
            return calls(call('TaskStop', { task_id: id }));
          },
        ],
        part: [calls(call('Bash', { ms: 60_000 }))],
      }),
    );
    await test.start('main').end.written;
    expect(toldTo(test, 'main').join('\n')).toContain(` · 1 tool call (Bash 1) · `);
    expect(toldTo(test, 'main').join('\n')).toContain(` · ${NOTHING}`);
  });

  it('when it was resumed, with all its work', async () => {
    const test = testEngine(
      play({
        main: [
          calls(call('Task', { prompt: 'part' })),
          ({ results }) => {
            const id = /\[task (\w+)/.exec(results[0]?.text ?? '')?.[1] ?? '';
            return calls(call('Task', { prompt: 'more', resume: id }));
          },
        ],
        part: [calls(call('Bash', {})), { text: 'one' }, calls(call('Bash', {})), { text: 'two' }],
      }),
    );
    await test.start('main').end.written;
    const [first, second] = toldTo(test, 'main').filter((text) => text.includes('[task '));
    expect(first).toMatch(/^one\n\n\[task .* · 1 tool call \(Bash 1\) · /);
    expect(second).toMatch(/^two\n\n\[task .* · 2 tool calls \(Bash 2\) · /);
  });
});

describe('an older log', () => {
  /** A flag as written by the analysis of earlier versions. */
  const OLD = {
    kind: 'command',
    claim: 'I ran `npm test`.',
    why: '"npm test" was not run',
  } as const;

  async function childLog() {
    const root = workspace();
    const { test } = await delegate([{ text: ANSWER }], undefined, { root });
    const [child] = eventsOfType(test, 'child.created');
    const events = test.events.filter(({ task }) => task === child?.child);
    const older = events.map((event): TaskEvent =>
      event.type === 'task.ended' ? { ...event, claims: [OLD] } : event,
    );
    const source = {
      store: test.store,
      settings: SETTINGS,
      tools: new Map([[waitTool.name, waitTool]]),
    };
    return { root, events, older, source };
  }

  it('is rerun with the flags that it has, whatever files exist now', async () => {
    const { root, events, older, source } = await childLog();
    writeFileSync(join(root, 'a.txt'), 'a');
    expect((await rerunTaskLog(source, events)).difference).toBeNull();
    expect((await rerunTaskLog(source, older)).difference).toBeNull();
  });

  it('is shown with its flags', async () => {
    const { older } = await childLog();
    const [state] = statesOf(older).values();
    expect(
      state && buildResultEnvelope(state, { transcript: null, outputFile: null }),
    ).toMatchObject({
      data: { receipt: { claims: [OLD] } },
      text: expect.stringContaining(
        `${ANSWER}\n\n[The log does not support this claim: "I ran \`npm test\`." ("npm test" was not run)]\n\n[task `,
      ),
    });
  });
});
