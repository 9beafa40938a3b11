import { describe, expect, it } from 'vitest';
import type { ModelRequest } from '../../src/protocol/model.ts';
import { firstUserText, WIRE_PROTOCOLS, type Answer } from '../../src/testing/index.ts';
import { openWorld, type World, type WorldOptions } from './world.ts';
import type { TaskState } from '../../src/protocol/state/task-state.ts';

const ROOT = 'be the ROOT';
const CHILD = 'be the CHILD';
const PLACES = ['foreground', 'background'] as const;
const EVERYWHERE = WIRE_PROTOCOLS.flatMap((protocol) =>
  PLACES.map((place) => ({ protocol, place })),
);

interface Setup {
  readonly protocol: WorldOptions['protocol'];
  readonly place: (typeof PLACES)[number];
  readonly settings?: WorldOptions['settings'];
  /** Whether the limits of the child's requests run out soon. */
  readonly isSilent?: boolean;
}

/** A main agent whose one child gets nothing but this answer. */
async function play(answer: Answer, { protocol, place, settings, isSilent }: Setup) {
  await using world: World = await openWorld({
    protocol,
    settings: { silentRetries: 1, ...settings },
    isImpatient: (request) => isSilent === true && firstText(request).includes(CHILD),
    script: (request) => {
      if (firstUserText(request).includes(CHILD)) {
        if (isSilent === true) world.hurry();
        return request.toolChoice === 'none' ? { text: 'what I have' } : answer;
      }
      if (request.messages.length > 1) return { text: 'all well' };
      const input = {
        description: 'a part',
        prompt: CHILD,
        run_in_background: place === 'background',
      };
      return { toolCalls: [{ name: 'Task', input }] };
    },
  });
  const root = await world.run(ROOT);
  const child = world.states().get(CHILD);
  if (child === undefined) throw new Error('there was no child');
  const told = world.fake.requests
    .filter((request) => firstUserText(request).includes(ROOT))
    .flatMap(({ messages }) =>
      messages.map((each) => [each.text, ...each.toolResults.map(({ text }) => text)].join('\n')),
    )
    .join('\n');
  const asked = world.fake.requests.filter((request) => firstUserText(request).includes(CHILD));
  const shown = world.events.flatMap((event) =>
    event.type === 'turn.quiet' && event.task === child.spec.id ? [event.waitsFor] : [],
  );
  return { root, child, told, asked: asked.length, shown };
}

function firstText({ messages: [first] }: ModelRequest): string {
  return first?.role === 'user' ? first.content.map(({ text }) => text).join('\n') : '';
}

function endOf({ status, end }: TaskState) {
  return { status, code: end?.error?.code, because: end?.because };
}

describe.each(EVERYWHERE)(
  'the parent continues although its child has a bad server ($protocol, $place)',
  ({ protocol, place }) => {
    it.each([
      [
        'a provider that accepts and stays silent',
        { kind: 'hang' },
        'first_token',
        'no first token',
      ],
      ['one that drips header lines', { kind: 'slow_headers' }, 'first_token', 'no first token'],
      [
        'half an event, then nothing',
        { kind: 'hang_after' },
        'next_event',
        'the stream fell silent',
      ],
    ] as const)('with %s', async (_, fault, waitsFor, says) => {
      const { root, child, told, asked, shown } = await play(
        { text: 'a long answer', chunks: 4, fault },
        { protocol, place, isSilent: true },
      );
      expect(root.status).toBe('completed');
      expect(endOf(child)).toEqual({
        status: 'failed',
        code: 'TIMEOUT',
        because: expect.stringMatching(
          new RegExp(
            `${says} for .* \\(given up after 2 tries: the limit liveness.silent_retries = 1 is reached\\)`,
          ),
        ),
      });
      expect(asked).toBe(2);
      expect(new Set(shown)).toContain(waitsFor);
      expect(told).toContain(says);
      // With what had come of the answer.
      expect(child.result.startsWith('a long')).toBe(fault.kind === 'hang_after');
      expect(told.includes(child.result)).toBe(true);
    });

    it('with thinking that never ends, because of the limit of the full task', async () => {
      const { root, child, told, asked } = await play(
        { fault: { kind: 'thinking_forever' } },
        {
          protocol,
          place,
          settings: {
            taskLimits: { maxTurns: null, maxTokens: null, wallMs: 30_000, resultMaxTokens: 2_000 },
          },
        },
      );
      expect(root.status).toBe('completed');
      expect(endOf(child)).toEqual({
        status: 'partial',
        code: 'LIMIT_EXCEEDED',
        because: 'the limit task_wall_seconds = 30 is reached',
      });
      expect(asked).toBe(1);
      expect(told).toContain('task_wall_seconds');
    });

    it('with the same call again and again, and gets its results so far', async () => {
      const { root, child, told, asked } = await play(
        { toolCalls: [{ name: 'LS', input: { path: '.' } }] },
        { protocol, place },
      );
      expect(root.status).toBe('completed');
      expect(endOf(child)).toEqual({
        status: 'partial',
        code: 'LIMIT_EXCEEDED',
        because: 'the limit no_progress_calls = 8 is reached (8 used)',
      });
      expect(Object.fromEntries(child.toolCounts)).toEqual({ LS: 8 });
      expect(asked).toBe(9);
      expect(told).toContain('what I have');
    });
  },
);
