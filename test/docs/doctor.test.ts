import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { runMuster, Sandbox } from '../e2e/muster.ts';
import { startGateway, startProbedModel } from '../model/probe/probed-server.ts';

const page = readFileSync(resolve(import.meta.dirname, '../../docs/doctor.md'), 'utf8');

/** The output of a command in the page. */
function transcript(command: string): string {
  const [, rest = ''] = page.split(`$ ${command}\n`);
  return rest.slice(0, rest.indexOf('```'));
}

/** A text without what differs from run to run and from machine to machine. */
function steady(text: string): readonly string[] {
  return text.split('\n').map((line) =>
    line
      .replaceAll(/\d+(?:\.\d+)? (?:ms|s)\b/g, 'N ms')
      .replaceAll(/127\.0\.0\.1:\d+/g, 'HOST')
      .replaceAll(/\/\S*(?=\/\.config\/muster)/g, '/home')
      .trimEnd(),
  );
}

const MODELS = [
  { id: 'qwen3-32b', max_model_len: 65_536 },
  { id: 'qwen3-8b', max_model_len: 32_768 },
  { id: 'bge-m3' },
];

it('the page shows the real output of muster doctor --provider', async () => {
  const model = await startProbedModel({
    protocols: ['chat'],
    chunkMs: 12,
    maxCalls: 1,
    images: 'refused',
    strict: { refusedParameters: ['stream_options'] },
  });
  await using server = await startGateway(model.url, {
    map: (path) => (path === '/v1/models' ? null : path),
    page: [200, JSON.stringify({ object: 'list', data: MODELS })],
  });
  using sandbox = new Sandbox();
  const run = await runMuster(sandbox, ['doctor', '--provider', server.url]);
  await model.close();
  expect([run.code, run.stderr]).toEqual([0, '']);
  const shown = steady(transcript('muster doctor --provider http://127.0.0.1:8080'));
  const real = steady(run.stdout);
  // A slow machine gets no long prompt.
  const isLong = (line: string): boolean => /^ok +long prompt|^\d+ requests/.test(line);
  expect(real.filter((line) => !isLong(line))).toEqual(shown.filter((line) => !isLong(line)));
});

it('the page shows the checks of muster doctor', async () => {
  using sandbox = new Sandbox();
  const file = join(sandbox.home, '.config/muster/config.toml');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(
    file,
    '[models]\ndefault = "local/qwen3-32b"\n[models.providers.local]\nbase_url = "http://127.0.0.1:9/v1"\n',
  );
  const run = await runMuster(sandbox, ['doctor', '--json']);
  const { checks } = JSON.parse(run.stdout) as {
    readonly checks: readonly { readonly name: string; readonly detail: string }[];
  };
  const shown = transcript('muster doctor');
  for (const { name } of checks) expect(shown).toMatch(new RegExp(`^ok +${name} `, 'm'));
  const steadyNames = new Set(['config', 'provider', 'model', 'agents']);
  for (const { detail } of checks.filter((check) => steadyNames.has(check.name))) {
    expect(steady(shown).join('\n')).toContain(steady(detail).join('\n'));
  }
  expect(shown).toContain('\nnext: everything is ready: start a conversation with muster, or ask');
});
