import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { firstUserText, startFakeModel, toolResultRounds } from '../../../src/testing/index.ts';
import { BIN } from '../../e2e/muster.ts';
import { needs } from '../../needs.ts';

const TESTS = join(import.meta.dirname, 'python');
const AGENT = resolve(import.meta.dirname, '../../../integrations/harbor');
const INSTRUCTION = '- Write "it\'s $HOME"\nand `done`.';

it.runIf(needs('python3', 'python3'))(
  'runs as an agent of Harbor and of Terminal-Bench',
  async () => {
    const place = mkdtempSync(join(tmpdir(), 'muster-harbor-'));
    const model = await startFakeModel({
      script: (request) => ({
        usage: { input: 1000, output: 100, cacheRead: 400, cacheWrite: 100, reasoning: 0 },
        ...(toolResultRounds(request) > 0
          ? { text: 'Done.' }
          : {
              toolCalls: [
                writeCall(
                  request.tools.map(({ name }) => name),
                  firstUserText(request),
                ),
              ],
            }),
      }),
    });
    try {
      writeFileSync(join(place, 'muster'), `#!/bin/sh\nexec "${process.execPath}" "${BIN}" "$@"\n`);
      chmodSync(join(place, 'muster'), 0o755);
      const { code, output } = await runPython({
        ...process.env,
        PATH: [place, dirname(process.execPath), process.env['PATH']].join(delimiter),
        PYTHONPATH: [AGENT, TESTS].join(delimiter),
        PYTHONDONTWRITEBYTECODE: '1',
        ANTHROPIC_API_KEY: 'key',
        ANTHROPIC_BASE_URL: model.url,
        OPENAI_API_KEY: 'another key',
      });
      expect(output).toContain('Ran 6 tests');
      expect({ code, output: code === 0 ? '' : output }).toEqual({ code: 0, output: '' });
    } finally {
      await model.close();
      rmSync(place, { recursive: true, force: true });
    }
  },
);

/** Writes the instruction into a file, in Muster's form of tools or that of OpenAI's models. */
function writeCall(offered: readonly string[], prompt: string) {
  const content = prompt.includes(INSTRUCTION) ? INSTRUCTION : prompt;
  if (offered.includes('Write')) {
    return { name: 'Write', input: { file_path: 'out.txt', content } };
  }
  const lines = content.split('\n').map((line) => `+${line}`);
  const patch = ['*** Begin Patch', '*** Add File: out.txt', ...lines, '*** End Patch', ''];
  return { name: 'apply_patch', input: { patch: patch.join('\n') } };
}

async function runPython(env: NodeJS.ProcessEnv): Promise<{ code: number | null; output: string }> {
  const child = spawn('python3', ['-m', 'unittest', '-v', 'test_muster_agent'], {
    cwd: TESTS,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const keep = (chunk: Buffer) => {
    output += chunk.toString('utf8');
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  return new Promise((settle, reject) => {
    child.once('error', reject);
    child.once('close', (code) => settle({ code, output }));
  });
}
