import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isInside } from '../base/path-inside.ts';
import type { FileEvent } from '../protocol/languages.ts';
import {
  findLanguage,
  findLanguageServer,
  findProjectRoot,
  languageIdOf,
  type ProgramSearch,
} from './find-server.ts';
import type { ProjectChanges } from './project-changes.ts';
import { ServerSlot } from './server-slot.ts';
import type { StartProgram } from './start-program.ts';

/** The maximum number of servers that run at a time. */
const MAX_SERVERS = 8;

/** The parts that language servers need from outside. */
export interface LanguageServerParts {
  readonly search: ProgramSearch;
  readonly start: StartProgram;
  readonly changes: ProjectChanges;
}

/** The language servers of the process, one for each program, project, and set of roots that it may see. */
export class LanguageServers {
  private readonly parts: LanguageServerParts;
  private readonly slots = new Map<string, ServerSlot>();

  constructor(parts: LanguageServerParts) {
    this.parts = parts;
    parts.changes.listen({
      found: (event) => this.noteEvents([event]),
      unknown: () => {
        for (const slot of this.slots.values()) slot.noteUnknownChanges();
      },
    });
  }

  /**
   * Finds the server for a file. Returns null if there is none.
   *
   * @param roots the roots of the task, one of which contains the file
   */
  find(path: string, roots: readonly string[]): ServerSlot | null {
    const { search, start, changes } = this.parts;
    const language = findLanguage(path, search);
    if (language === undefined) return null;
    const directory = dirname(path);
    const found = findLanguageServer(language, { directory, roots }, search);
    if (found === undefined) return null;
    const root = findProjectRoot(language, directory, roots);
    const { row, file } = found;
    const key = JSON.stringify([file, root, roots]);
    const known = this.slots.get(key);
    if (known !== undefined) return known;
    const slot = new ServerSlot({
      found,
      root,
      roots,
      start: () =>
        start({
          name: row.program,
          argv: [file, ...row.args],
          cwd: root,
          roots,
          access: 'read-only',
        }),
      makeRoom: () => this.makeRoom(),
      findChanges: (signal) => changes.find(roots, signal),
    });
    this.slots.set(key, slot);
    return slot;
  }

  /** Notes that a command may have changed files. */
  noteCommand(): void {
    for (const slot of this.slots.values()) slot.noteCommand();
  }

  /** Notes changes of files, of which the running servers are told at their next use. */
  noteEvents(events: readonly FileEvent[]): void {
    for (const { pending } of this.slots.values()) {
      for (const event of events) pending?.add(event);
    }
  }

  /** Returns the language id of a file that has a server. */
  languageId(path: string): string {
    const language = findLanguage(path, this.parts.search);
    return language === undefined ? 'plaintext' : languageIdOf(path, language);
  }

  /**
   * Finds the server for questions about a project that name no file. Returns null if there is none.
   *
   * @param directory a directory of the project
   */
  findForDirectory(directory: string, roots: readonly string[]): ServerSlot | null {
    const running = [...this.slots.values()].find(
      (slot) => slot.isRunning && roots.includes(slot.root),
    );
    if (running !== undefined) return running;
    for (const { endings, rootMarkers } of this.parts.search.languages) {
      const [ending] = Object.keys(endings);
      const isUsed = rootMarkers.some((marker) => existsSync(join(directory, marker)));
      const slot = isUsed ? this.find(join(directory, `any${ending ?? ''}`), roots) : null;
      if (slot !== null) return slot;
    }
    return null;
  }

  /** Ends the servers whose roots lie in a directory, and forgets them. Waits for their ends. */
  async endBelow(directory: string): Promise<void> {
    const ended = [...this.slots].filter(([, { roots }]) =>
      roots.some((root) => isInside(directory, root)),
    );
    for (const [key] of ended) this.slots.delete(key);
    await Promise.all(ended.map(([, slot]) => slot.close()));
  }

  /** Ends all servers. */
  async close(): Promise<void> {
    await Promise.all(Array.from(this.slots.values(), (slot) => slot.close()));
  }

  /** Ends the server that was not used for the longest time, if too many run. */
  private makeRoom(): Promise<void> | string {
    const running = [...this.slots.values()].filter(({ isRunning }) => isRunning);
    if (running.length < MAX_SERVERS) return Promise.resolve();
    const [oldest] = running
      .filter(({ isIdle }) => isIdle)
      .toSorted((a, b) => a.lastUse - b.lastUse);
    return oldest?.stop() ?? `${MAX_SERVERS} other language servers are at work, the maximum`;
  }
}
