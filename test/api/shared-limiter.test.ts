import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openSession } from '../../src/api/open-session.ts';
import {
  firstUserText,
  startFakeModel,
  toolResultRounds,
  type RecordedRequest,
} from '../../src/testing/index.ts';
import { expectNoViolations } from '../no-violations.ts';

const CHILDREN = 6;

/** Returns the conversation of a child's request, `a` or `b`; null for the request of a main agent. */
function getSide(request: RecordedRequest): string | null {
  return /^part of (\w)/.exec(firstUserText(request))?.[1] ?? null;
}

it('two conversations of one process share the capacity of a provider and take turns', async () => {
  await using model = Object.assign(
    await startFakeModel({
      script: (request) => {
        if (getSide(request) !== null) return { text: 'done', firstTokenMs: 10 };
        if (toolResultRounds(request) > 0) return { text: 'all done' };
        const side = firstUserText(request).includes('side a') ? 'a' : 'b';
        const input = { prompt: `part of ${side}`, description: 'a part' };
        return { toolCalls: Array.from({ length: CHILDREN }, () => ({ name: 'Task', input })) };
      },
    }),
    { [Symbol.asyncDispose]: () => model.close().then(() => expectNoViolations(model)) },
  );
  const directory = mkdtempSync(join(tmpdir(), 'muster-test-'));
  const open = () =>
    openSession({
      cwd: directory,
      dataDir: join(directory, 'data'),
      environment: {
        HOME: directory,
        ...model.env('anthropic'),
        MUSTER_PROVIDER_MAX_CONCURRENT: '1',
      },
    });
  const sessions = [await open(), await open()];
  try {
    const runs = sessions.map((session, index) =>
      session.start({ prompt: index === 0 ? 'side a' : 'side b' }),
    );
    for (const { result } of runs) expect((await result).data.status).toBe('completed');
    expect(model.maxInFlight).toBe(1);
    const sides = model.requests.flatMap((request) => getSide(request) ?? []);
    const lead = { a: 0, b: 0 };
    for (const side of sides) {
      if (side === 'a' || side === 'b') lead[side] += 1;
      const isOver = lead.a === CHILDREN || lead.b === CHILDREN;
      // One conversation may be ahead by the requests that it sent before the other main agent got its answer.
      if (!isOver) expect(Math.abs(lead.a - lead.b)).toBeLessThanOrEqual(3);
    }
    expect(lead).toEqual({ a: CHILDREN, b: CHILDREN });
  } finally {
    for (const session of sessions) await session.close();
    rmSync(directory, { recursive: true, force: true });
  }
});
