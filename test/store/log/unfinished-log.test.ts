import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openFileStore } from '../../../src/store/file-store.ts';
import { taskSpec, warning } from '../fixture-data.ts';
import { tempDir } from '../fixtures.ts';
import { PowerLossFiles } from '../power-loss-files.ts';
import { fakeProcesses } from '../fake-processes.ts';
import { readLog } from '../read-log.ts';

const ID = 'task00000001';

describe('an unfinished log', () => {
  it('is replaced if it was cut before the end of its created event, and otherwise kept', () => {
    const writer = new PowerLossFiles();
    const processes = fakeProcesses({ pid: 7 });
    const first = openFileStore({ dataDir: '/data', durability: 'fast', files: writer, processes });
    first.create(taskSpec(ID));
    const whole = writer.readFile(`/data/tasks/${ID}.jsonl`);
    const created = whole.indexOf('\n', whole.indexOf('\n') + 1) + 1;
    for (let length = 0; length <= whole.length; length += 1) {
      const files = new PowerLossFiles();
      const store = openFileStore({ dataDir: '/data', durability: 'fast', files, processes });
      files.write(files.openNew(`/data/tasks/${ID}.jsonl`), whole.subarray(0, length));
      expect(store.exists(ID)).toBe(length >= created);
      if (length >= created) {
        expect(() => store.create(taskSpec(ID))).toThrow('there is already a task');
        continue;
      }
      const log = store.create(taskSpec(ID));
      log.append([warning('on')]);
      expect(readLog(store, ID)).toMatchObject({ events: { length: 3 }, problems: [] });
      expect([store.exists(ID), log.epoch, store.list().length]).toEqual([true, 1, 1]);
      const aside = `/data/tasks/${ID}.damaged`;
      if (length === 0) expect(files.stat(aside)).toBeUndefined();
      else expect(files.readFile(aside)).toEqual(whole.subarray(0, length));
    }
  });

  it('is not touched while its owner lives, nor by a Muster that is too old for it', () => {
    const files = new PowerLossFiles();
    const open = (pid: number) =>
      openFileStore({
        dataDir: '/data',
        durability: 'fast',
        files,
        processes: fakeProcesses({ pid }, new Map([[1, 100]])),
      });
    open(1).create(taskSpec(ID));
    const fd = files.openAppend(`/data/tasks/${ID}.jsonl`);
    files.truncate(fd, 10);
    expect(() => open(2).create(taskSpec(ID))).toThrow('is in use by process 1');
    const newer = 'other0000001';
    files.write(files.openNew(`/data/tasks/${newer}.jsonl`), Buffer.from('{"v":99}\n'));
    expect(() => open(2).create(taskSpec(newer))).toThrow('newer Muster');
  });

  it('keeps the lines that were moved to the file of damaged lines before', () => {
    const dataDir = tempDir();
    const store = openFileStore({ dataDir, durability: 'safe' });
    const path = join(dataDir, 'tasks', ID);
    writeFileSync(`${path}.damaged`, 'cut short');
    writeFileSync(`${path}.jsonl`, 'half');
    writeFileSync(`${path}.out`, 'said before');
    store.create(taskSpec(ID)).close();
    expect(readFileSync(`${path}.damaged`, 'utf8')).toBe('cut short\nhalf');
    expect(readFileSync(`${path}.out`, 'utf8')).toBe('said before');
    expect(existsSync(`${path}.lock`)).toBe(false);
  });
});
