import { expect, it } from 'vitest';
import { firstUserText } from '../../src/testing/index.ts';
import { ROOT, siblingPrompt } from './play.ts';
import { openWorld } from './world.ts';

const CHILDREN = Array.from({ length: 32 }, (_, index) => siblingPrompt(`c${index}`));
/** The main agent's two, both answered. */
const ROOT_REQUESTS = 2;

it('32 children share the retries of their tree if the server fails every request', async () => {
  await using world = await openWorld({
    protocol: 'anthropic',
    settings: { retries: 6, maxParallel: 32 },
    script(request) {
      if (!firstUserText(request).includes(ROOT)) return { fault: { kind: 'status', status: 500 } };
      if (request.messages.length > 1) return { text: 'none came back' };
      const input = (prompt: string) => ({ description: 'a part', prompt });
      return { toolCalls: CHILDREN.map((prompt) => ({ name: 'Task', input: input(prompt) })) };
    },
  });
  const root = await world.run(ROOT);
  const states = world.states();
  const ends = CHILDREN.map((prompt) => states.get(prompt)?.end);
  const total = world.fake.requests.length;
  const retries = total - CHILDREN.length - ROOT_REQUESTS;
  expect(root.status).toBe('completed');
  expect(ends.map((end) => end?.status)).toEqual(CHILDREN.map(() => 'failed'));
  // Who is told of the limit of the tree, and not of its own request's, did not use that up.
  const spent = ends.filter((end) => end?.because.includes('whole task tree'));
  expect(spent.length).toBeGreaterThan(CHILDREN.length - 4);
  expect(retries).toBeGreaterThan(0);
  expect(retries).toBeLessThanOrEqual(10 + total / 5);
});
