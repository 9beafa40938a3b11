// Keeps the logs of tasks in SQLite instead of in files: another process, or after a crash this one, continues a conversation.
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { createMuster, MusterError, type StorePort, type TaskEvent } from 'muster-agent';
import { storeContract } from 'muster-agent/testing';

function openStore(path: string): StorePort {
  const db = new DatabaseSync(path);
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA busy_timeout = 5000;
    CREATE TABLE IF NOT EXISTS task (id TEXT PRIMARY KEY, root TEXT, parent TEXT, epoch INT DEFAULT 1, cancelled INT DEFAULT 0);
    CREATE TABLE IF NOT EXISTS event (task TEXT, seq INT, json TEXT, PRIMARY KEY (task, seq));
    CREATE TABLE IF NOT EXISTS content (hash TEXT PRIMARY KEY, bytes BLOB)`);
  const count = (id: string) =>
    Number(db.prepare('SELECT count(*) AS n FROM event WHERE task = ?').get(id)?.['n']);
  const find = (id: string) => {
    const task = db.prepare('SELECT epoch, cancelled FROM task WHERE id = ?').get(id);
    if (task === undefined) throw new MusterError('NOT_FOUND', `there is no task ${id}`);
    return task;
  };
  const inTransaction = <T>(work: () => T): T => {
    db.exec('BEGIN IMMEDIATE');
    try {
      const result = work();
      db.exec('COMMIT');
      return result;
    } catch (error) {
      db.exec('ROLLBACK');
      throw error;
    }
  };
  return {
    async create({ id, root, parent }) {
      const add = db.prepare('INSERT OR IGNORE INTO task (id, root, parent) VALUES (?, ?, ?)');
      if (add.run(id, root, parent).changes === 0)
        throw new MusterError('CONFLICT', `task ${id} exists`);
    },
    async claim(id) {
      find(id);
      const next = db.prepare(
        'UPDATE task SET epoch = epoch + 1, cancelled = 0 WHERE id = ? RETURNING epoch',
      );
      return { epoch: Number(next.get(id)?.['epoch']) };
    },
    async append(id, epoch, events) {
      return inTransaction(() => {
        const task = find(id);
        if (task['epoch'] !== epoch)
          throw new MusterError('CONFLICT', `task ${id} has another owner`);
        const stored = db.prepare('SELECT json FROM event WHERE task = ? AND seq = ?');
        const add = db.prepare('INSERT INTO event VALUES (?, ?, ?)');
        for (const event of events) {
          const json = JSON.stringify(event);
          if (stored.get(id, event.seq)?.['json'] === json) continue; // The call is repeated.
          if (event.seq !== count(id))
            throw new MusterError(
              'CONFLICT',
              `event ${event.seq} of task ${id} is not the next one`,
            );
          add.run(id, event.seq, json);
        }
        return { cancelRequested: task['cancelled'] === 1 };
      });
    },
    async *watch(id, { fromSeq, follow, signal }) {
      find(id);
      const read = db.prepare(
        'SELECT json FROM event WHERE task = ? AND seq >= ? ORDER BY seq LIMIT 100',
      );
      let next = fromSeq;
      for (;;) {
        if (signal?.aborted) return;
        const rows = read.all(id, next);
        next += rows.length;
        for (const { json } of rows) yield JSON.parse(String(json)) as TaskEvent;
        if (rows.length > 0) continue;
        if (!follow) return;
        await sleep(100);
      }
    },
    async requestCancel(id) {
      find(id);
      db.prepare('UPDATE task SET cancelled = 1 WHERE id = ?').run(id);
    },
    async list(root) {
      const rows = db.prepare('SELECT id, root, parent FROM task WHERE root = ?').all(root);
      return rows.map(({ id, parent }) => ({
        id: String(id),
        root,
        parent: parent === null ? null : String(parent),
      }));
    },
    async putBlob(hash, content) {
      db.prepare('INSERT OR IGNORE INTO content VALUES (?, ?)').run(hash, content);
    },
    async getBlob(hash) {
      const bytes = db.prepare('SELECT bytes FROM content WHERE hash = ?').get(hash)?.['bytes'];
      return bytes instanceof Uint8Array ? bytes : null;
    },
  };
}

const store = openStore('tasks.db');
// The rules that a store must follow: run them in your tests.
for (const { run } of storeContract(() => store)) await run();

const options = { model: 'anthropic/claude-sonnet-4-5', environment: process.env, store };
let id: string;
{
  await using muster = await createMuster(options);
  const run = muster.run('What is here?');
  id = run.id;
  console.log((await run).output);
}
await using muster = await createMuster({ ...options, store: openStore('tasks.db') });
console.log((await muster.resume(id, 'And how many?')).output);
