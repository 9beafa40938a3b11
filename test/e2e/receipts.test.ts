import { describe, expect, it } from 'vitest';
import {
  lastUserText,
  toolResultRounds,
  type Answer,
  type AnswerToolCall,
  type RecordedRequest,
} from '../../src/testing/index.ts';
import { envelopeOf } from './muster.ts';
import { bash, openWorld } from './world.ts';

const FILES = {
  'scripts/test.sh': 'echo 2 tests failed; exit 3\n',
  'scripts/build.sh': 'echo built\n',
  '.muster/agents/brief.md':
    '---\nname: brief\ndescription: Works.\ntools: Bash\nwall-seconds: 5\n---\nYou work.\n',
  '.muster/templates/each.md': '---\nname: each\ndescription: Works.\n---\nwork on {{item}}\n',
};
const FLAGS = ['--trust-project', '--allow', 'Bash', '--allow', 'Write', '--deny', 'Bash(curl:*)'];

function isMain(request: RecordedRequest): boolean {
  return request.systemParts.join('\n').includes("in the user's terminal");
}

/** A child that writes a file, runs the tests and the build, is refused a command, and says that all is well. */
const WORK: readonly (readonly AnswerToolCall[])[] = [
  [{ name: 'Write', input: { file_path: 'src/new file.ts', content: 'x\n' } }],
  [bash('sh scripts/test.sh')],
  [bash('sh scripts/build.sh')],
  [bash('curl example.com')],
];
const ANSWER = 'Alle Tests laufen, und docs/plan.md ist geschrieben.';

function work(request: RecordedRequest): Answer {
  const toolCalls = WORK[toolResultRounds(request)];
  return toolCalls === undefined ? { text: ANSWER } : { toolCalls };
}

interface Scene {
  /** The calls of the main agent, a message each; `told` is what all requests so far have told it. */
  readonly main: readonly ((told: string) => AnswerToolCall)[];
  readonly child: (request: RecordedRequest) => Answer | Promise<Answer>;
}

/** Runs it to its end, and returns the texts that the last request of the main agent holds. */
async function lastRequest({ main, child }: Scene) {
  await using world = await openWorld({
    files: FILES,
    script: (request) => {
      if (!isMain(request)) return child(request);
      const make = main[toolResultRounds(request)];
      return make === undefined ? { text: 'done' } : { toolCalls: [make(toldIn(request))] };
    },
  });
  const run = await world.run(['-p', 'go', '--output-format', 'json', ...FLAGS]);
  expect(run.code).toBe(0);
  const [last] = world.model.requests.filter(isMain).slice(-1);
  return { told: last === undefined ? '' : toldIn(last), envelope: envelopeOf(run) };
}

function toldIn({ messages }: Pick<RecordedRequest, 'messages'>): string {
  return messages
    .flatMap(({ text, toolResults }) => [text, ...(toolResults ?? []).map((result) => result.text)])
    .join('\n');
}

function task(input: Record<string, string | boolean>): AnswerToolCall {
  return { name: 'Task', input: { prompt: 'work', description: 'Work', ...input } };
}

const CALLS = '3 tool calls (Write 1, Bash 2)';
const RECEIPT =
  'changed: "src/new file.ts" (new) · commands: "sh scripts/test.sh" exit 3, "sh scripts/build.sh" exit 0 · tests failed ("sh scripts/test.sh" exit 3) · build passed ("sh scripts/build.sh" exit 0) · no commits · 1 refusal: "Bash: The deny rule `Bash(curl:*)` (--deny) forbids this Bash call."]';
const FLAGS_TEXT =
  'The last test run failed: "sh scripts/test.sh" exit 3; the log does not support this claim: "docs/plan.md" (it does not exist, and the task did not touch it)';
const NOTHING =
  '0 tool calls · no files changed · no commands · tests not run · build not run · no commits · no refusals]';

describe.concurrent('the next request of a parent has the receipt of its child', () => {
  it('in the foreground, in the result of its call', async () => {
    const { told, envelope } = await lastRequest({ main: [() => task({})], child: work });
    expect(told).toContain(`${ANSWER}\n\n[${FLAGS_TEXT}]\n\n[task `);
    expect(told).toMatch(
      / · 5 turns · 3 tool calls \(Write 1, Bash 2\) · \d+ tokens · [\d.]+ m?s · changed: /,
    );
    expect(told).toContain(` · ${RECEIPT}`);
    // The root did none of it itself, and its own receipt says who did.
    expect(envelope.text).toContain(' · changed: "src/new file.ts" (new) · no commands · ');
    expect(envelope.text).toContain(
      ' · tests in subagents or the background: 1 failed · build in subagents or the background: 1 passed · no commits · no refusals · 1 subagent with 2 commands (1 did not exit with 0)]',
    );
  });

  it('in the background, in the notice of its end', async () => {
    const { told } = await lastRequest({
      main: [() => task({ run_in_background: true })],
      child: work,
    });
    expect(told).toContain(`Result: ${ANSWER} [${FLAGS_TEXT}] [Receipt: ${CALLS} · ${RECEIPT}`);
  });

  it('read with TaskOutput', async () => {
    const { told } = await lastRequest({
      main: [
        () => task({ run_in_background: true }),
        (text) => {
          const id = /Task (\w+) runs in the background/.exec(text)?.[1] ?? '';
          return { name: 'TaskOutput', input: { task_id: id } };
        },
      ],
      child: work,
    });
    expect(told).toContain(` · ${RECEIPT}`);
  });

  it('for a resumed child, about everything that the child has done', async () => {
    const { told } = await lastRequest({
      main: [
        () => task({}),
        (text) => task({ resume: /\[task (\w+)/.exec(text)?.[1] ?? '', prompt: 'more' }),
      ],
      child: (request) => (lastUserText(request) === 'more' ? { text: 'No more.' } : work(request)),
    });
    expect(told).toMatch(
      /No more\.\n\n\[The last test run failed: [^\n]*\]\n\n\[task .* · 6 turns · 3 tool calls /,
    );
    expect(told.split(` · ${RECEIPT}`).length).toBe(3);
  });

  it('for a template, in numbers and beside each item', async () => {
    const { told } = await lastRequest({
      main: [() => ({ name: 'RunTemplate', input: { template: 'each', items: ['a'] } })],
      child: work,
    });
    expect(told).toContain(
      ` · completed · 5 turns · 3 tool calls, 1 file changed, 2 commands (1 did not exit with 0), tests failed, build passed, no commits, 1 refusal · ${FLAGS_TEXT} · ${ANSWER}`,
    );
  });

  it('for a child that made no call', async () => {
    const { told } = await lastRequest({
      main: [() => task({})],
      child: () => ({ text: 'Done.' }),
    });
    expect(told).toContain('Done.\n\n[The task made no tool call]\n\n[task ');
    expect(told.replace(/\d+ tokens · [\d.]+ m?s · /, '')).toContain(` · 1 turn · ${NOTHING}`);
  });

  it('for a child that failed', async () => {
    const { told } = await lastRequest({
      main: [() => task({})],
      child: () => ({ fault: { kind: 'status', status: 400 } }),
    });
    expect(told).toContain('The task ended as failed: PROVIDER_ERROR');
    expect(told.replace(/\d+ tokens · [\d.]+ m?s · /, '')).toContain(` · 0 turns · ${NOTHING}`);
  });

  it('for a child that it stopped', async () => {
    const { told } = await lastRequest({
      main: [
        () => task({ run_in_background: true }),
        (text) => {
          const id = /Task (\w+) runs in the background/.exec(text)?.[1] ?? '';
          return { name: 'TaskStop', input: { task_id: id } };
        },
      ],
      child: () => new Promise(() => {}),
    });
    expect(told.replace(/\d+ tokens · [\d.]+ m?s · /, '')).toContain(` · 0 turns · ${NOTHING}`);
  });

  it('for a child that reached its time limit', async () => {
    const { told } = await lastRequest({
      main: [() => task({ subagent_type: 'brief' })],
      child: () => ({ toolCalls: [bash('sleep 60')] }),
    });
    expect(told).toContain('LIMIT_EXCEEDED');
    expect(told).toContain(' · 1 tool call (Bash 1) · ');
    expect(told).toContain(' · commands: "sleep 60" ended by a signal · no test run recognized · ');
  });
});

it('-p shows a person the flags in the answer of the main agent', async () => {
  await using world = await openWorld({ files: FILES, script: work });
  const run = await world.run(['-p', 'go', ...FLAGS]);
  expect(run.stdout).toBe(`${ANSWER}\n`);
  expect(run.stderr).toContain(`muster: ${FLAGS_TEXT}\n`);
});
