import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { Deadlines } from '../../../src/base/deadlines.ts';
import { createFileAccess } from '../../../src/engine/permissions/file-access.ts';
import { TaskProcess } from '../../../src/engine/process/task-process.ts';
import { NO_ACCESS } from '../../../src/protocol/permission.ts';
import type { AnyTool, ToolContext, ToolOutput } from '../../../src/protocol/tool.ts';
import { listenToOwnChanges } from '../../../src/sys/files/own-writes.ts';
import { hashContent } from '../../../src/sys/files/read-file.ts';
import { readTool } from '../../../src/tools/read/read.ts';
import { writeTool } from '../../../src/tools/write.ts';
import { bareContext, LIMITS, rightsIn, UNCONFINED } from './support.ts';

const directory = realpathSync(mkdtempSync(join(tmpdir(), 'muster-ports-')));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** A PNG image of one pixel. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const RIGHTS = rightsIn(directory);

/** Runs one call of one of Muster's own tools in a real process, with the access that it would be decided to have. */
async function runTool(
  tool: AnyTool,
  input: object,
  ports: Partial<ToolContext>,
): Promise<ToolOutput> {
  const process = new TaskProcess({
    taskId: 'task1234',
    limits: LIMITS,
    ...UNCONFINED,
    deadlines: new Deadlines(systemClock),
    onFailure: (error) => {
      throw error;
    },
  });
  const described = tool.describe?.(input, { cwd: directory }) ?? NO_ACCESS;
  const resolve = (paths: readonly string[]) =>
    paths.map((path) => ({ asked: path, real: path, insideRoots: true }));
  const access = createFileAccess({
    call: {
      tool: tool.name,
      kind: tool.kind,
      inToolSet: true,
      access: {
        ...described,
        reads: resolve(described.reads),
        writes: resolve(described.writes),
      },
    },
    rights: RIGHTS,
    home: '/nonexistent',
    stateDirectories: [],
  });
  const { signal } = new AbortController();
  const context = { ...bareContext(signal), ...access, cwd: directory, ...ports };
  const { basis } = access;
  const output = await process.run({ tool, input, basis, context, describeStop: () => 'x' });
  await process.end();
  return output;
}

describe('a call in the process of its task', () => {
  it('reports to Muster what it changes, before and after', async () => {
    const path = join(directory, 'a.txt');
    writeFileSync(path, 'old\n');
    const reported: string[] = [];
    const content = () => readFileSync(path, 'utf8').trim();
    const remove = listenToOwnChanges({
      before: (changed) => void reported.push(`before ${changed}: ${content()}`),
      after: (changed) => void reported.push(`after ${changed}: ${content()}`),
    });
    const former: string[] = [];
    const written: string[] = [];
    const hash = hashContent(Buffer.from('old\n'));
    const output = await runTool(
      writeTool,
      { file_path: path, content: 'new\n' },
      {
        files: {
          ...bareContext(new AbortController().signal).files,
          seen: () => hash,
          willWrite: (real, after) => void written.push(`${real} ${after}`),
        },
        keepFormer: async (bytes) => void former.push(bytes.toString()),
      },
    );
    remove();
    const after = hashContent(Buffer.from('new\n'));
    expect(output.facts?.changed).toEqual([{ path, before: hash, after }]);
    expect(reported).toEqual([`before ${path}: old`, `after ${path}: new`]);
    expect([former, written]).toEqual([['old\n'], [`${path} ${after}`]]);
  });

  it('adds an image through Muster, which stores it', async () => {
    const path = join(directory, 'a.png');
    writeFileSync(path, Buffer.from(PNG, 'base64'));
    const stored: (readonly [number, number])[] = [];
    const remembered: string[] = [];
    const output = await runTool(
      readTool,
      { file_path: path },
      {
        files: {
          ...bareContext(new AbortController().signal).files,
          remember: (real, hash) => void remembered.push(`${real} ${hash}`),
        },
        attach: {
          refusal: async () => null,
          add: async (details, bytes) => {
            stored.push([details.bytes, bytes.length]);
            return { ...details, blob: 'blob1', tokens: 7 };
          },
          addAgain: async () => null,
        },
      },
    );
    const size = Buffer.from(PNG, 'base64').length;
    expect(output.attachments).toEqual([
      { type: 'image/png', bytes: size, width: 1, height: 1, blob: 'blob1', tokens: 7 },
    ]);
    expect(stored).toEqual([[size, size]]);
    expect(remembered).toEqual([`${path} blob1`]);
  });
});
