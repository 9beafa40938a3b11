import { expect } from 'vitest';
import { waitUntilPasses } from '../wait-until-passes.ts';
import { logIn, StreamClient, getJson, type PageServer } from '../front/web/client.ts';
import {
  API_PATHS,
  type ClosedQuestion,
  type Overview,
  type TaskRow,
  type WebQuestion,
} from '../../src/front/web/wire.ts';
import type { Running } from './muster.ts';
import type { World } from './world.ts';

/** A built program that serves the page. */
export interface WebServer extends PageServer {
  readonly running: Running;
}

/** Starts the built program on a port of its own. Resolves when it listens. */
export async function startWebServer(
  world: World,
  args: readonly string[] = [],
): Promise<WebServer> {
  const running = world.start(['web', '--port', '0', ...args]);
  await waitUntilPasses(() => expect(running.output()).toMatch(/^http:.*\n/));
  return { ...(await logIn(running.output().trim())), running };
}

/** Ends a server so that it cannot say a word. */
export async function killServer({ running }: WebServer): Promise<void> {
  running.process.kill('SIGKILL');
  await running.finished;
}

/** What a page shows, which follows the changes over any number of connections and servers. */
export class Follower {
  readonly rows = new Map<string, TaskRow>();
  readonly questions = new Map<string, WebQuestion>();
  readonly closed: ClosedQuestion[] = [];
  /** The number of the last change of each server that was read. */
  readonly #read = new Map<string, number>();
  #cursor = '';
  stream: StreamClient | null = null;

  /** Connects as a page does: where it was or, after a reset, with a new overview. */
  async connect(server: PageServer): Promise<void> {
    this.stream?.cut();
    if (this.#cursor === '') await this.#load(server);
    const stream = await StreamClient.open(server, API_PATHS.changes, this.#cursor);
    this.stream = stream;
    stream.onMessage(({ event, id, data }) => {
      if (this.stream !== stream) return;
      if (event === 'reset') {
        this.#cursor = '';
        return;
      }
      this.#follow(id ?? '');
      if (event === 'rows') for (const row of data as TaskRow[]) this.rows.set(row.id, row);
      if (event === 'gone') for (const each of data as string[]) this.rows.delete(each);
      if (event === 'question') {
        const question = data as WebQuestion;
        this.questions.set(question.question.id, question);
      }
      if (event === 'closed') {
        const end = data as ClosedQuestion;
        this.closed.push(end);
        this.questions.delete(end.id);
      }
    });
    if (this.#cursor === '') await this.connect(server);
  }

  /** Checks that a change is the next one after the last that was read, and notes it. */
  #follow(cursor: string): void {
    const [run = '', number] = cursor.split(':');
    const last = this.#read.get(run);
    if (last !== undefined) expect(Number(number)).toBe(last + 1);
    this.#read.set(run, Number(number));
    this.#cursor = cursor;
  }

  async #load(server: PageServer): Promise<void> {
    const { cursor, tasks, questions } = await getJson<Overview>(server, API_PATHS.overview);
    this.rows.clear();
    for (const row of tasks) this.rows.set(row.id, row);
    this.questions.clear();
    for (const question of questions) this.questions.set(question.question.id, question);
    const [run = '', number] = cursor.split(':');
    this.#read.set(run, Number(number));
    this.#cursor = cursor;
  }
}
