import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { writeConversation } from '../../../../src/front/tui/terminal/export-conversation.ts';
import type { EventBody } from '../../../../src/protocol/events/event.ts';
import { openFileStore } from '../../../../src/store/file-store.ts';
import { openMemoryStore } from '../../../../src/store/memory-store.ts';
import type { TaskStore } from '../../../../src/store/task-store.ts';
import { canMount, smallDisk } from '../../../small-disk.ts';
import { taskEnded, taskSpec, turnEnded } from '../../../store/fixture-data.ts';
import { tempDirectory } from '../../../sys/temp.ts';

const BIG_LOG = fileURLToPath(new URL('export-big-log.ts', import.meta.url));
const MAIN = 'mainmain0001';
const CHILD = 'childchild01';

function message(id: string, text: string): EventBody {
  return { type: 'input.queued', input: { id, kind: 'message', from: 'user', text } };
}

function answer(text: string): EventBody {
  return turnEnded({ message: { role: 'assistant', content: [{ type: 'text', text }] } });
}

function created(child: string): EventBody {
  const fields = { callId: `call-${child}`, background: false, description: 'find it' };
  return { type: 'child.created', child, ...fields } as EventBody;
}

function write(store: TaskStore, id: string, bodies: readonly EventBody[]): void {
  const isMain = id === MAIN;
  const description = isMain ? 'Read it' : `find </details> ${id}`;
  const log = store.create(taskSpec(id, { prompt: `prompt of ${id}`, description }));
  log.append([...bodies, taskEnded()]);
  log.close();
}

/** A conversation with a child, a grandchild, and a child whose log is gone. */
function family(): TaskStore {
  const store = openMemoryStore();
  write(store, MAIN, [created(CHILD), answer('from main'), created('gonegone0001')]);
  write(store, CHILD, [answer('from child'), created('grandchild01')]);
  write(store, 'grandchild01', [answer('from grandchild'), created(MAIN)]);
  return store;
}

async function exported(
  store: TaskStore,
  name: string,
  withTasks = false,
): Promise<{ readonly text: string; readonly tasks: number }> {
  const path = join(tempDirectory(), name);
  const { bytes, tasks } = await writeConversation(store, { task: MAIN, path, withTasks });
  expect([statSync(path).size, statSync(path).mode & 0o777]).toEqual([bytes, 0o600]);
  return { text: readFileSync(path, 'utf8'), tasks };
}

describe('an exported conversation', () => {
  it('leaves out what was taken back, by an undo or before it was sent', async () => {
    const store = openMemoryStore();
    write(store, MAIN, [
      message('one', 'kept'),
      message('two', 'taken back'),
      { type: 'input.withdrawn', ids: ['two'] },
      answer('kept answer'),
    ]);
    const log = store.claim(MAIN);
    const [undone] = log.append([message('three', 'undone')]);
    const rewound = { undoes: null, stint: 2, turns: 1, end: 'completed', dropped: [], files: [] };
    log.append([{ type: 'task.rewound', to: (undone?.seq ?? 0) - 1, ...rewound } as EventBody]);
    log.close();
    const { text } = await exported(store, 'out.md');
    expect(text).toBe(
      `# Read it\n\n## User\n\nprompt of ${MAIN}\n\n## User\n\nkept\n\n## Answer\n\nkept answer\n\n`,
    );
  });

  it('counts the tasks that it started, without their conversations', async () => {
    const { text, tasks } = await exported(family(), 'out.md');
    expect(tasks).toBe(2);
    expect(text).not.toContain('from child');
  });

  it('holds the conversations of all tasks below as nested sections, each once', async () => {
    const { text, tasks } = await exported(family(), 'out.md', true);
    expect(tasks).toBe(4);
    expect(text).toBe(
      [
        '# Read it',
        `## User\n\nprompt of ${MAIN}`,
        `### Task childchi, Explore: find </details> ${CHILD}`,
        `#### User\n\nprompt of ${CHILD}`,
        '#### Answer\n\nfrom child',
        '##### Task grandchi, Explore: find </details> grandchild01',
        '###### User\n\nprompt of grandchild01',
        '###### Answer\n\nfrom grandchild',
        '(End of: Task grandchi, Explore: find </details> grandchild01)',
        `(End of: Task childchi, Explore: find </details> ${CHILD})`,
        '## Answer\n\nfrom main',
        '### Task gonegone: its log is not here any more',
        '(End of: Task gonegone: its log is not here any more)',
        '',
      ].join('\n\n'),
    );
  });

  it('is a page whose sections can be folded, and that no text can leave', async () => {
    const { text } = await exported(family(), 'out.html', true);
    expect(text.match(/<details>/g)).toHaveLength(3);
    expect(text.match(/<\/details>/g)).toHaveLength(3);
    expect(text).toContain('<summary>Task childchi, Explore: find &lt;/details&gt; childchild01');
    expect(text.endsWith('</details>\n</body>\n</html>\n')).toBe(true);
  });

  it('replaces no file', async () => {
    const path = join(tempDirectory(), 'out.md');
    const request = { task: MAIN, path, withTasks: false };
    await writeConversation(family(), request);
    const before = readFileSync(path);
    await expect(writeConversation(family(), request)).rejects.toThrow(
      `${path} exists: /export with another name`,
    );
    expect(readFileSync(path)).toEqual(before);
  });

  it.runIf(canMount)('is one clear error on a disk that is full, and leaves no file', async () => {
    const store = openMemoryStore();
    write(store, MAIN, [answer('x'.repeat(150_000))]);
    const path = join(smallDisk(100), 'out.md');
    await expect(writeConversation(store, { task: MAIN, path, withTasks: false })).rejects.toThrow(
      `${path} cannot be written: no space left on the device`,
    );
    expect(existsSync(path)).toBe(false);
  });

  it('of 100 MB is written in little memory', { timeout: 120_000 }, async () => {
    const dataDir = tempDirectory();
    const store = openFileStore({ dataDir, durability: 'fast' });
    const log = store.create(taskSpec(MAIN));
    for (let at = 0; at < 1_000; at += 1) log.append([answer(`${at} ${'x'.repeat(100_000)}`)]);
    log.close();
    await store.close();
    const path = join(tempDirectory(), 'out.md');
    const args = ['--max-old-space-size=48', BIG_LOG, dataDir, MAIN, path];
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
    expect(statSync(path).size).toBeGreaterThan(100_000_000);
  });
});
