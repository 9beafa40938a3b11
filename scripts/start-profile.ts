import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startFakeModel, type Rule } from '../src/testing/index.ts';
import type { CalledFunctions } from './eager-functions.ts';

const PROTOCOLS = ['anthropic', 'chat', 'responses', 'google'] as const;
const PATIENCE_MS = 60_000;
const TASK = {
  description: 'read the notes',
  prompt: 'Read notes.txt.',
  subagent_type: 'Explore',
};
const PROMPT = 'Have the notes read.';
/** So long that all that is prepared beside a request is ready before its answer: builds of one commit are the same. */
const PAUSE = { firstTokenMs: 400 };
/** An answer that a child gives, who reads a file for it. */
const SCRIPT: readonly Rule[] = [
  {
    when: { promptIncludes: TASK.prompt, toolResults: 0 },
    answer: { ...PAUSE, toolCalls: [{ name: 'Read', input: { file_path: 'notes.txt' } }] },
  },
  { when: { promptIncludes: TASK.prompt }, answer: { ...PAUSE, text: 'It says hello.' } },
  {
    when: { promptIncludes: PROMPT, toolResults: 0 },
    answer: { ...PAUSE, toolCalls: [{ name: 'Task', input: TASK }] },
  },
  { when: { promptIncludes: PROMPT }, answer: { ...PAUSE, text: 'Hello.' } },
];

/**
 * What the built program calls between its start and the end of a first delegated answer, of each protocol.
 * By path of its files. Throws where a run fails: what was built does not work.
 */
export async function profileStart(program: string): Promise<ReadonlyMap<string, CalledFunctions>> {
  const home = mkdtempSync(join(tmpdir(), 'muster-profile-'));
  const workspace = join(home, 'workspace');
  const coverage = join(home, 'coverage');
  mkdirSync(workspace);
  writeFileSync(join(workspace, 'notes.txt'), 'Hello.\n');
  const model = await startFakeModel({ script: SCRIPT });
  try {
    for (const protocol of PROTOCOLS) {
      const env = { HOME: home, NODE_V8_COVERAGE: coverage, ...model.env(protocol) };
      const options = { cwd: workspace, env, timeout: PATIENCE_MS };
      const run = promisify(execFile)(process.execPath, [program, '-p', PROMPT], options);
      // It would wait for more of the prompt.
      run.child.stdin?.end();
      await run;
    }
    return calledIn(coverage);
  } finally {
    await model.close();
    rmSync(home, { recursive: true, force: true });
  }
}

interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      /** The first is the function itself. */
      readonly ranges: readonly { startOffset: number; endOffset: number; count: number }[];
    }[];
  }[];
}

function calledIn(directory: string): ReadonlyMap<string, CalledFunctions> {
  const called = new Map<string, Set<string>>();
  for (const name of readdirSync(directory)) {
    const { result }: Coverage = JSON.parse(readFileSync(join(directory, name), 'utf8'));
    for (const { url, functions } of result) {
      if (!url.startsWith('file:')) continue;
      const path = fileURLToPath(url);
      const ofFile = called.get(path) ?? new Set();
      called.set(path, ofFile);
      for (const { ranges } of functions) {
        const [whole] = ranges;
        if (whole === undefined || whole.count === 0) continue;
        ofFile.add(`${whole.startOffset}:${whole.endOffset}`);
      }
    }
  }
  return called;
}
