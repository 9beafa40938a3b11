import type { JsonValue } from '../../../src/base/json.ts';
import type { EventBody, TaskEvent } from '../../../src/protocol/events/event.ts';
import type { AssistantPart } from '../../../src/protocol/message.ts';
import type { PermissionQuestion } from '../../../src/protocol/question.ts';
import type {
  ComparedTree,
  LoggedEvent,
  TaskRow,
  WebQuestion,
} from '../../../src/front/web/wire.ts';
import type { FixtureData } from './fixture-server.ts';

/** The time of the first event, so that pictures are the same each time. */
export const START = Date.UTC(2026, 2, 1, 9, 30);

/** Creates a row of the list of tasks. */
export function fixtureRow(row: Partial<TaskRow> & { readonly id: string }): TaskRow {
  return {
    root: row.id,
    parent: null,
    depth: 0,
    agent: 'main',
    title: 'Fix the failing tests',
    model: 'anthropic/claude-sonnet-5',
    status: 'completed',
    cwd: '/home/ada/hamster',
    created: START,
    ended: START + 95_000,
    turns: 4,
    calls: 7,
    paidTokens: 12_300,
    tokens: '12.3k',
    costUsd: 0.0312,
    cost: '$0.0312',
    doing: null,
    questions: [],
    reused: null,
    workspace: null,
    ...row,
  };
}

/** Writes the events of a log with their numbers and times. */
export class FixtureLog {
  readonly events: LoggedEvent[] = [];
  private readonly task: string;
  private at: number;
  private calls = 0;
  private turns = 0;

  constructor(task: string, at = START) {
    this.task = task;
    this.at = at;
  }

  add(body: EventBody, ms = 800): this {
    this.at += ms;
    const event: TaskEvent = {
      v: 4,
      seq: this.events.length,
      ts: this.at,
      task: this.task,
      epoch: 1,
      ...body,
    };
    this.events.push({ event });
    return this;
  }

  begin(prompt: string): this {
    // The page reads only these fields of a specification.
    const spec = { id: this.task, parent: null, prompt, enclosed: [] };
    return this.add({ type: 'task.created', spec } as unknown as EventBody);
  }

  answer(text: string, calls: readonly AssistantPart[] = [], thinking = ''): this {
    this.turns += 1;
    const content: AssistantPart[] = [
      ...(thinking === '' ? [] : [{ type: 'reasoning', text: thinking } as const]),
      ...(text === '' ? [] : [{ type: 'text', text } as const]),
      ...calls,
    ];
    return this.add({
      type: 'turn.ended',
      turn: this.turns,
      model: 'anthropic/claude-sonnet-5',
      reason: calls.length > 0 ? 'tool_calls' : 'stop',
      ms: 2_400,
      usage: { input: 820, output: 240, cacheRead: 5_400, cacheWrite: 310, reasoning: 0 },
      costUsd: 0.0061,
      message: { role: 'assistant', content },
    } as EventBody);
  }

  /** Adds an answer with one call, the start of the call, and its end. */
  call(tool: string, input: JsonValue, text: string, more: { readonly code?: number } = {}): this {
    this.calls += 1;
    const callId = `call${this.calls}`;
    this.answer('', [{ type: 'tool_call', id: callId, name: tool, input }]);
    this.add({ type: 'call.started', callId, tool, input } as EventBody, 40);
    return this.add({
      type: 'call.ended',
      callId,
      tool,
      text,
      error: null,
      facts: more.code === undefined ? {} : { commands: [{ command: 'x', exitCode: more.code }] },
      ms: 640,
    } as EventBody);
  }

  end(because = 'the model ended its answer'): this {
    return this.add({
      type: 'task.ended',
      end: { status: 'completed', error: null, because, by: null },
      result: 'done',
    });
  }
}

/** A question whether a command may run. */
export function fixtureQuestion(id: string, task: string): WebQuestion {
  const question: PermissionQuestion = {
    kind: 'permission',
    id,
    task,
    callId: 'call9',
    chain: ['main', 'Bash'],
    description: 'Install the seeds',
    tool: 'Bash',
    commands: ['npm install --save-dev hamster-seeds'],
    paths: [],
    hosts: [],
    edits: [],
    input: null,
    step: 'mode',
    reason: 'the command is not known to only read, and the mode is default',
    askedBy: null,
    rule: 'Bash(npm install:*)',
    scopes: ['task', 'project', 'user'],
  };
  return { question, root: 'wheel1', askedAt: START + 60_000, pid: 4711, isPutOff: false };
}

const EDIT = {
  file_path: '/home/ada/hamster/src/wheel.ts',
  old_string: 'export function turn(speed: number) {\n  return speed * 2;\n}\n',
  new_string:
    "export function turn(speed: number, direction: 'left' | 'right') {\n  const sign = direction === 'left' ? -1 : 1;\n  return sign * speed * 2;\n}\n",
};

/** A log that shows every kind of entry. */
function fixtureLog(id: string): readonly LoggedEvent[] {
  return new FixtureLog(id)
    .begin('Let the wheel turn in both directions, and keep the tests green.')
    .answer(
      'I look at the code of the wheel and at its tests first.',
      [],
      'The wheel has one direction. The tests will tell what depends on it.',
    )
    .call(
      'Grep',
      { pattern: 'turn\\(', path: 'src' },
      'src/wheel.ts:1:export function turn(speed: number) {\nsrc/cage.ts:14:  turn(this.speed);',
    )
    .call(
      'Read',
      { file_path: '/home/ada/hamster/src/wheel.ts' },
      '1  export function turn(speed: number) {\n2    return speed * 2;\n3  }',
    )
    .add({
      type: 'notified',
      level: 'info',
      message: 'Two callers depend on the direction',
    } as EventBody)
    .call('Edit', EDIT, 'Edited /home/ada/hamster/src/wheel.ts: 1 replacement')
    .call(
      'Bash',
      { command: 'npm test -- wheel' },
      '✗ turns left\n  expected -4, got 4\n\n1 failed, 11 passed',
      { code: 1 },
    )
    .answer(
      'One test still calls it without a direction:\n\n```ts\nexpect(turn(2)).toBe(4);\n```\n\nI give it one.',
    )
    .call('Bash', { command: 'npm test' }, '12 passed', { code: 0 })
    .add({ type: 'warning', message: 'The price of a model is not known' } as EventBody)
    .answer(
      'The wheel turns in both directions now. `turn` takes the direction as its second argument, both callers pass it, and all 12 tests pass.',
    )
    .end().events;
}

const CHILDREN = [
  ['seed02', 'Explore', 'Find the callers of turn', 'completed'],
  ['seed03', 'Explore', 'Read the history of the wheel', 'completed'],
  ['seed04', 'general-purpose', 'Change the wheel and the cage', 'running'],
  ['seed05', 'Bash', 'Install the seeds', 'running'],
  ['seed06', 'Review', 'Review the change', 'queued'],
  ['seed07', 'Summary', 'Summarize the discussion', 'failed'],
] as const;

/** A run with children in every state, and two earlier runs. */
export function fixtureData(): FixtureData {
  const question = fixtureQuestion('seed05q1', 'seed05');
  const root = fixtureRow({
    id: 'wheel1',
    title: 'Let the wheel turn in both directions',
    status: 'running',
    ended: null,
    doing: { kind: 'children', detail: '' },
  });
  const children = CHILDREN.map(([id, agent, title, status], index) =>
    fixtureRow({
      id,
      root: 'wheel1',
      parent: 'wheel1',
      depth: 1,
      agent,
      title,
      status,
      created: START + 4_000 + index * 900,
      ended: status === 'running' || status === 'queued' ? null : START + 40_000,
      turns: (index * 3) % 7,
      tokens: `${index + 2}.${index}k`,
      cost: `$0.0${index}14`,
      questions: id === 'seed05' ? ['seed05q1'] : [],
      doing:
        id === 'seed04'
          ? { kind: 'tool', detail: 'Edit' }
          : id === 'seed05'
            ? { kind: 'person', detail: 'Bash' }
            : id === 'seed06'
              ? { kind: 'slot', detail: '' }
              : null,
    }),
  );
  const grandchild = fixtureRow({
    id: 'seed08',
    root: 'wheel1',
    parent: 'seed04',
    depth: 2,
    agent: 'Explore',
    title: 'Find the tests of the cage',
    created: START + 12_000,
  });
  const earlier = [
    fixtureRow({ id: 'cage01', title: 'Paint the cage', created: START - 4_000_000 }),
    fixtureRow({
      id: 'cage02',
      title: 'Count the seeds per day',
      status: 'partial',
      created: START - 9_000_000,
    }),
  ];
  const tasks = [root, ...children, grandchild, ...earlier];
  return {
    overview: { cursor: '', version: '0.1.0', tasks, questions: [question] },
    events: new Map(tasks.map(({ id }) => [id, [...fixtureLog(id)]])),
    texts: new Map(),
    report: FIXTURE_REPORT,
    diff: FIXTURE_DIFF,
    timeline: {
      from: START,
      to: START + 95_000,
      omitted: 0,
      rows: tasks.slice(0, 8).map((row, index) => ({
        id: row.id,
        level: row.depth,
        agent: row.agent,
        title: row.title,
        status: row.status,
        created: row.created,
        until: START + 95_000,
        spans: [
          ['slot', row.created, row.created + 600 * index, ''],
          ['model', row.created + 600 * index, START + 20_000 + index * 2_000, ''],
          ['tool', START + 20_000 + index * 2_000, START + 34_000 + index * 2_500, 'Bash'],
          [
            'held',
            START + 34_000 + index * 2_500,
            START + 38_000 + index * 2_500,
            'the rate limit',
          ],
          index % 2 === 0
            ? ['children', START + 55_000, START + 90_000, '']
            : ['person', START + 60_000, START + 95_000, ''],
        ],
      })),
    },
    usage: {
      from: START,
      to: START + 95_000,
      omitted: 0,
      reported: { ...NO_TOTAL, costUsd: 0.214, answers: 24 },
      estimated: NO_TOTAL,
      points: Array.from({ length: 24 }, (_, index) => ({
        at: START + 3_000 + index * 3_700,
        task: 'wheel1',
        turn: index + 1,
        model: index % 3 === 0 ? 'anthropic/claude-haiku-5' : 'anthropic/claude-sonnet-5',
        input: 700 + ((index * 137) % 900),
        output: 150 + ((index * 71) % 300),
        cacheRead: 4_000,
        cacheWrite: 200,
        costUsd: 0.004 + (index % 5) * 0.002,
        isEstimated: false,
      })),
    },
    compare: {
      left: comparedTree('wheel1', tasks.slice(0, 8)),
      right: comparedTree('cage01', earlier),
      pairs: Array.from({ length: 8 }, (_, index) => ({
        left: index,
        right: index < 2 ? index : null,
      })),
    },
    search: (text) => ({
      hits: tasks
        .filter(({ id }) => id === 'seed03')
        .map(({ id }) => ({
          id,
          where: 'prompt',
          before: 'who has ',
          match: text,
          after: ' it last',
        })),
      note: null,
    }),
    startForm: {
      cwd: '/home/ada/hamster',
      agents: [
        { name: 'Explore', description: 'searches the code' },
        { name: 'general-purpose', description: 'does anything' },
      ],
      modes: ['plan', 'default', 'acceptEdits', 'autonomous'],
      defaultMode: 'default',
    },
  };
}

const NO_TOTAL: FixtureData['usage']['reported'] = {
  usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 },
  costUsd: 0,
  answers: 0,
  unpriced: 0,
  pricedBy: [],
};

function comparedTree(id: string, rows: readonly TaskRow[]): ComparedTree {
  return {
    id,
    from: START,
    to: START + 95_000,
    reported: { ...NO_TOTAL, costUsd: 0.03 * rows.length, answers: 12 },
    estimated: NO_TOTAL,
    rows: rows.map((row) => ({
      id: row.id,
      level: row.depth,
      agent: row.agent,
      title: row.title,
      status: row.status,
      model: row.model,
      turns: row.turns,
      calls: row.calls ?? 0,
      tokens: row.tokens,
      paidTokens: row.paidTokens,
      cost: row.cost,
      costUsd: row.costUsd,
      ms: 95_000,
    })),
    files: ['src/cage.ts', ...(rows.length > 2 ? ['src/wheel.ts'] : [])],
    result: 'The wheel turns in both directions now.',
    omitted: 0,
  };
}

const FIXTURE_DIFF: FixtureData['diff'] = {
  hasLanded: false,
  note: null,
  files: [
    {
      path: 'src/wheel.ts',
      from: null,
      kind: 'changed',
      added: 3,
      deleted: 2,
      note: null,
      hunks: [
        {
          oldStart: 1,
          newStart: 1,
          lines: [
            '-export function turn(speed: number) {',
            '-  return speed * 2;',
            "+export function turn(speed: number, direction: 'left' | 'right') {",
            "+  const sign = direction === 'left' ? -1 : 1;",
            '+  return sign * speed * 2;',
            ' }',
          ],
        },
      ],
    },
    {
      path: 'docs/wheel.png',
      from: null,
      kind: 'added',
      added: 0,
      deleted: 0,
      note: 'a binary file',
      hunks: [],
    },
  ],
};

/** The page reads only these fields of a report. */
const FIXTURE_REPORT = {
  envelope: {
    data: {
      result: 'The wheel turns in both directions now.',
      usage: { input: 6_560, output: 1_920, cache_read: 43_200, cache_write: 2_480 },
      cost_usd: 0.0312,
      receipt: {
        filesRead: [{ path: '/home/ada/hamster/src/wheel.ts', hash: '3f1c' }],
        filesChanged: [{ path: '/home/ada/hamster/src/wheel.ts', before: '3f1c', after: '9ab2' }],
        commands: [
          { command: 'npm test -- wheel', exitCode: 1 },
          { command: 'npm test', exitCode: 0 },
        ],
        shells: [],
        children: ['seed02', 'seed03'],
        childReceipts: {},
        refusals: [],
        models: ['anthropic/claude-sonnet-5'],
        faults: [],
        endedBecause: 'the model ended its answer',
        claims: [],
      },
    },
    stats: { time_ms: 95_000, tool_calls: 7, model: 'anthropic/claude-sonnet-5' },
    error: null,
  },
} as unknown as FixtureData['report'];
