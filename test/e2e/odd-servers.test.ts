import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { serve, sse } from '../model/adapters/support.ts';
import { envelopeOf, runMuster, Sandbox } from './muster.ts';

function configure(sandbox: Sandbox, url: string, more = ''): void {
  const directory = join(sandbox.home, '.config/muster');
  mkdirSync(directory, { recursive: true });
  writeFileSync(
    join(directory, 'config.toml'),
    `[models]\ndefault = "odd/qwen3"\n[models.providers.odd]\nbase_url = "${url}/v1"\n${more}`,
  );
}

const ANSWER = sse([
  { choices: [{ index: 0, delta: { content: '<think>\nHm.\n</think>\n\nAll is well.' } }] },
]);

it('repairs of an answer are in the log, and doctor names the server', async () => {
  using sandbox = new Sandbox();
  await using server = await serve((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(ANSWER);
  });
  configure(sandbox, server.url);
  const run = await runMuster(sandbox, ['-p', 'go', '--output-format', 'json']);
  expect([run.code, run.stderr]).toEqual([0, '']);
  const { data } = envelopeOf(run);
  expect(data.result).toBe('All is well.');
  const log = await runMuster(sandbox, ['tasks', 'log', data.task_id]);
  expect(log.stdout).toMatch(
    /turn\.ended .* repaired: thinking_in_text × 1, missing_finish_reason × 1, missing_usage × 1$/m,
  );
  const doctor = await runMuster(sandbox, ['doctor']);
  expect(doctor.stdout).toMatch(
    /^ok +answers +odd\/qwen3: repaired: the text of the answer contained thinking × 1; the answer ended without a finish reason × 1; /m,
  );
});

it('fields that the user has switched off for a server are not sent to it', async () => {
  using sandbox = new Sandbox();
  await using server = await serve((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(ANSWER);
  });
  configure(sandbox, server.url, 'omit = ["stream_options", "system_role"]\n');
  const run = await runMuster(sandbox, ['-p', 'go']);
  expect([run.code, run.stdout, run.stderr]).toEqual([0, 'All is well.\n', '']);
  expect(server.requests).toHaveLength(1);
  const sent = JSON.parse(server.requests[0]?.body ?? '') as {
    messages: readonly { readonly role: string }[];
  };
  expect(sent).not.toHaveProperty('stream_options');
  expect(sent.messages.map(({ role }) => role)).toEqual(['user']);
});

it('an error inside a stream does not leave half an answer as the result', async () => {
  using sandbox = new Sandbox();
  const half = sse([{ choices: [{ index: 0, delta: { content: 'half' } }] }]);
  await using server = await serve((response, _seen, index) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(index === 0 ? `${half}error: {"code":500,"message":"slot failed"}\n\n` : ANSWER);
  });
  configure(sandbox, server.url);
  const run = await runMuster(sandbox, ['-p', 'go']);
  expect([run.code, run.stdout]).toEqual([0, 'All is well.\n']);
  expect(server.requests).toHaveLength(2);
});
