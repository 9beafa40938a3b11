import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { RequestLogEntry } from '../../src/testing/request-log.ts';
import type { Violation } from '../../src/testing/strict/rule.ts';
import { CODECS } from '../../src/testing/wire/codecs.ts';
import type { Told } from './acknowledged.ts';

/** The log of a fake server that serves many runs, told apart by the key they come with. */
export class RequestLog {
  readonly #fd: number;
  readonly #byKey = new Map<string, Told[]>();
  readonly #violations: Violation[] = [];
  #read = 0;
  #rest = '';

  constructor(path: string) {
    this.#fd = openSync(path, 'r');
  }

  /** What each request of that run told the model, as far as the server has written it down. */
  of(key: string): readonly Told[] {
    this.#refresh();
    return this.#byKey.get(key) ?? [];
  }

  /** The rules of its vendor that requests have broken so far. */
  get violations(): readonly Violation[] {
    this.#refresh();
    return this.#violations;
  }

  close(): void {
    closeSync(this.#fd);
  }

  #refresh(): void {
    const bytes = Buffer.alloc(fstatSync(this.#fd).size - this.#read);
    this.#read += readSync(this.#fd, bytes, 0, bytes.length, this.#read);
    // The server writes ASCII and whole lines, but a line may come in pieces.
    const lines = (this.#rest + bytes.toString('utf8')).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#add(JSON.parse(line));
  }

  #add(entry: RequestLogEntry): void {
    if (entry.event === 'ended') this.#violations.push(...entry.outcome.violations);
    if (entry.event !== 'received') return;
    const key = String(entry.headers['x-api-key']);
    const { systemParts, tools, messages } = CODECS[entry.protocol].parse(
      JSON.parse(entry.body),
      entry.path,
    );
    const told = { system: systemParts, tools: tools.map((tool) => tool.name), messages };
    this.#byKey.set(key, [...(this.#byKey.get(key) ?? []), told]);
  }
}
