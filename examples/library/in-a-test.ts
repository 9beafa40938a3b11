// A test of your agents without a key, a network or a cost: a fake model answers what the test says.
import assert from 'node:assert/strict';
import { createMuster } from 'muster-agent';
import { startFakeModel, toolResultRounds } from 'muster-agent/testing';

const model = await startFakeModel({
  script: (request) =>
    toolResultRounds(request) === 0
      ? { toolCalls: [{ name: 'LS', input: { path: '.' } }] }
      : { text: 'There are files.' },
});
await using muster = await createMuster({
  model: 'anthropic/claude-sonnet-4-5',
  environment: model.env('anthropic'),
});
const { output, data } = await muster.run('What is here?');
assert.equal(output, 'There are files.');
assert.deepEqual(data.tool_summary, [{ tool: 'LS', count: 1 }]);
assert.deepEqual(model.violations, []);
await model.close();
console.log('passed');
