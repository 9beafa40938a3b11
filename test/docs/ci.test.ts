import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import {
  firstUserText,
  startFakeModel,
  toolResultRounds,
  type Answer,
  type FakeModel,
  type RecordedRequest,
} from '../../src/testing/index.ts';
import { Sandbox } from '../e2e/muster.ts';
import { bash } from '../e2e/world.ts';
import { needs } from '../needs.ts';
import { expectNoViolations } from '../no-violations.ts';
import { answerByDelegating, RETRY_FILE } from './delegation.ts';
import { expectShown, findBlocks, findTranscripts, readPage, runInShell } from './page.ts';

const page = readPage('docs/ci.md');
const [withoutKey, tests, refusals, limit, readOnly, ...others] = findTranscripts(page);
const [gitHub = '', gitLab = ''] = findBlocks(page, 'yaml');

function answer(request: RecordedRequest): Answer {
  const text = firstUserText(request);
  if (text.includes('Review this change')) {
    const isSeen = text.includes('RETRY_LIMIT = 5');
    return { text: isSeen ? 'No faults.' : 'The change is missing.' };
  }
  if (!text.includes('Run the tests')) return answerByDelegating(request);
  return toolResultRounds(request) === 0
    ? { toolCalls: [bash('npm test')] }
    : { text: 'The tests may not run.' };
}

it('docs/ci.md shows the real output of its commands', async () => {
  const model = await startFakeModel({ script: answer });
  using sandbox = new Sandbox(RETRY_FILE);
  expect(others).toEqual([]);
  const missing = await runInShell(sandbox, withoutKey!.command);
  expectShown(missing.output, withoutKey!.shown);
  for (const { command, shown } of [tests!, refusals!, limit!]) {
    const { output } = await runInShell(sandbox, command, model.env('anthropic'));
    // The estimate of the next request changes with each prompt.
    const steady = (line: string) => line.replace(/up to [\d.]+ needed/, 'up to N needed');
    expectShown(steady(output), shown.map(steady));
  }
  await model.close();
  expectNoViolations(model);
});

it.runIf(process.platform === 'linux' && needs('bwrap', 'bubblewrap'))(
  'docs/ci.md shows what a run says on a read-only file system',
  async () => {
    const model = await startFakeModel({ script: answer });
    using sandbox = new Sandbox(RETRY_FILE);
    await runInShell(sandbox, 'true');
    const line = `bwrap --ro-bind / / --dev /dev --proc /proc -- ${readOnly!.command}`;
    const env = { ...model.env('anthropic'), MUSTER_DATA_DIR: '' };
    const { output } = await runInShell(sandbox, line, env);
    expectShown(output.replaceAll(sandbox.home, '/home/ci'), readOnly!.shown);
    await model.close();
    expectNoViolations(model);
  },
);

/** A repository with a change after its first commit, and an `npm` that installs nothing. */
async function createRepository(sandbox: Sandbox): Promise<string> {
  const programs = join(sandbox.root, 'bin');
  mkdirSync(programs);
  writeFileSync(join(programs, 'npm'), '#!/bin/sh\n[ "$*" = "install -g muster-agent" ]\n', {
    mode: 0o755,
  });
  const author = '-c user.name=a -c user.email=a@example.com';
  const commit = `git add . && git ${author} commit -qm "A change"`;
  const change = 'echo "export const RETRY_LIMIT = 5;" > src/retry.ts';
  const line = `git init -q && ${commit} && git rev-parse HEAD && ${change} && ${commit}`;
  return (await runInShell(sandbox, line)).output.trim();
}

async function runSteps(
  sandbox: Sandbox,
  steps: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<string> {
  let last = '';
  for (const step of steps) {
    const { code, output } = await runInShell(sandbox, `set -e\n${step}`, env);
    expect({ step, code, output }).toEqual({ step, code: 0, output });
    last = output;
  }
  return last;
}

async function inRepository(
  run: (sandbox: Sandbox, base: string, model: FakeModel) => Promise<void>,
): Promise<void> {
  const model = await startFakeModel({ script: answer });
  using sandbox = new Sandbox(RETRY_FILE);
  await run(sandbox, await createRepository(sandbox), model);
  await model.close();
  expectNoViolations(model);
}

it('the workflow for GitHub Actions runs', () =>
  inRepository(async (sandbox, base, model) => {
    const workflow = parse(gitHub) as {
      readonly jobs: {
        readonly review: {
          readonly steps: readonly {
            readonly run?: string;
            readonly env?: Readonly<Record<string, string>>;
          }[];
        };
      };
    };
    const { steps } = workflow.jobs.review;
    expect(steps.flatMap(({ env = {} }) => Object.values(env))).toEqual([
      '${{ secrets.ANTHROPIC_API_KEY }}',
      '${{ github.event.pull_request.base.sha }}',
    ]);
    const summary = join(sandbox.root, 'summary.md');
    const env = { ...model.env('anthropic'), BASE: base, GITHUB_STEP_SUMMARY: summary };
    const commands = steps.flatMap(({ run }) => (run === undefined ? [] : [run]));
    expect(commands.length).toBe(2);
    await runSteps(sandbox, commands, env);
    expect(readFileSync(summary, 'utf8')).toBe('No faults.\n');
  }));

it('the job for GitLab CI runs', () =>
  inRepository(async (sandbox, base, model) => {
    const { review } = parse(gitLab) as { readonly review: { readonly script: readonly string[] } };
    const env = { ...model.env('anthropic'), CI_MERGE_REQUEST_DIFF_BASE_SHA: base };
    expect(await runSteps(sandbox, review.script, env)).toBe('No faults.\n');
  }));
