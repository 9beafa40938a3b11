// A model of your own: anything that answers a request with a stream of parts.
import { createMuster, type ModelPort } from 'muster-agent';

const parrot: ModelPort = {
  async *stream({ messages }) {
    const last = messages.at(-1);
    const text = last?.role === 'user' ? `You said: ${last.content.at(-1)?.text}` : 'Go on.';
    yield { type: 'accepted' };
    yield { type: 'text_delta', text };
    yield {
      type: 'finished',
      message: { role: 'assistant', content: [{ type: 'text', text }] },
      usage: { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, reasoning: 0 },
      reason: 'stop',
    };
  },
};

await using muster = await createMuster({ model: parrot });
console.log((await muster.run('Hello.')).output);
