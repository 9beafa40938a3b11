import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openLanguages } from '../../../src/languages/open-languages.ts';
import { LANGUAGES } from '../../../src/languages/server-table.ts';
import { WorkspaceChanges } from '../../../src/sys/files/changes/workspace-changes.ts';
import { startServerProgram } from '../../../src/sys/processes/server-process.ts';
import { needs } from '../../needs.ts';

const PROGRAMS = resolve(import.meta.dirname, '../../../node_modules/.bin');
const PATH = `${PROGRAMS}:${dirname(process.execPath)}:/usr/bin:/bin`;
const LIMITS = { checkSeconds: 60, startSeconds: 120, commandSeconds: 60, formatSeconds: 60 };

/** A project with a real language server, whose starts are counted. */
class Project implements AsyncDisposable {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'muster-project-')));
  private readonly changes = new WorkspaceChanges({ excluded: [], now: Date.now });
  startCount = 0;
  private readonly languages = openLanguages({
    search: { path: PATH, roots: [this.root], trustsProject: false, languages: LANGUAGES },
    limits: LIMITS,
    start: ({ argv: [file, ...args], cwd }) => {
      this.startCount += 1;
      const env = { PATH, HOME: this.root };
      return Promise.resolve(startServerProgram({ file, args, cwd, env }));
    },
    changes: () => Promise.resolve(this.changes),
    feedback: true,
    format: false,
    check: [],
  });

  constructor(files: Readonly<Record<string, string>>) {
    for (const [name, text] of Object.entries(files)) this.write(name, text);
  }

  path(name: string): string {
    return join(this.root, name);
  }

  write(name: string, text: string): void {
    mkdirSync(dirname(this.path(name)), { recursive: true });
    writeFileSync(this.path(name), text);
  }

  /** Runs a command as a task does, of which servers are told nothing else. */
  command(line: string): void {
    execFileSync('/bin/bash', ['-c', line], { cwd: this.root, stdio: 'ignore' });
    this.languages.noteCommand();
  }

  async listProblems(name: string): Promise<string> {
    const listed = await this.languages.listProblems(this.path(name), this.call());
    return listed.ok ? listed.text : listed.problem;
  }

  async rename(name: string, symbol: string, newName: string) {
    const asked = { path: this.path(name), symbol, line: null, newName };
    return await this.languages.planRename(asked, this.call());
  }

  /** Changes a file as a call does. Returns the new problems. */
  async change(name: string, before: string | null, after: string): Promise<string> {
    const path = this.path(name);
    const check = await this.languages.beginChange([path], this.call());
    this.write(name, after);
    const kind = before === null ? 'created' : 'changed';
    const contents = [{ path, before, after }];
    const found = await check.findNewProblems({ contents, events: [{ path, kind }] });
    expect(found.notes).toEqual([]);
    return found.problems;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.languages.close();
    this.changes.close();
    rmSync(this.root, { recursive: true });
  }

  private call() {
    const { root } = this;
    const { signal } = new AbortController();
    return { cwd: root, roots: [root], signal, isReadable: () => true };
  }
}

/** A project of two files, of which the first one uses the second one. */
interface Example {
  readonly server: string;
  readonly debianPackage?: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly user: readonly [name: string, text: string];
  readonly used: readonly [name: string, text: string];
  /** A text of the used file with which the user has a problem, and a part of the problem. */
  readonly wrong: readonly [text: string, problem: string];
}

const EXAMPLES: readonly Example[] = [
  {
    server: 'tsc',
    settings: {
      'tsconfig.json':
        '{"compilerOptions":{"strict":true,"noEmit":true,"module":"nodenext","types":[]}}\n',
    },
    user: ['src/(x) @y/a.ts', 'import { b } from "./b.js";\nexport const a: number = b;\n'],
    used: ['src/(x) @y/b.ts', 'export const b = 1;\n'],
    wrong: ['export const b = "text";\n', "Type 'string' is not assignable"],
  },
  {
    server: 'pyright-langserver',
    settings: { 'pyproject.toml': '[project]\nname = "x"\n' },
    user: ['src/(x) @y/a.py', 'from b import b\na: int = b\n'],
    used: ['src/(x) @y/b.py', 'b: int = 1\n'],
    wrong: ['b: str = "text"\n', 'is not assignable to declared type "int"'],
  },
  {
    server: 'gopls',
    debianPackage: 'gopls',
    settings: { 'go.mod': 'module x\n\ngo 1.19\n' },
    user: ['src/x/a.go', 'package x\n\nvar A int = B\n'],
    used: ['src/x/b.go', 'package x\n\nvar B int = 1\n'],
    wrong: ['package x\n\nvar B string = "text"\n', 'cannot use B'],
  },
  {
    server: 'clangd',
    debianPackage: 'clangd',
    settings: { 'compile_flags.txt': '\n' },
    user: ['src/(x) @y/a.cpp', '#include "b.h"\nint a = b;\n'],
    used: ['src/(x) @y/b.h', 'inline int b = 1;\n'],
    wrong: ['inline const char* b = "text";\n', 'Cannot initialize a variable'],
  },
];

describe.each(EXAMPLES)('$server', ({ server, debianPackage, settings, user, used, wrong }) => {
  const canRun = debianPackage === undefined || needs(server, debianPackage);
  const [userName, userText] = user;
  const [usedName, usedText] = used;
  const [wrongText, problem] = wrong;
  const directory = dirname(usedName);

  it.runIf(canRun)('notices what commands change, and is not started anew', async () => {
    await using project = new Project({ ...settings, [userName]: userText, [usedName]: usedText });
    expect(await project.listProblems(userName)).toBe(`No problems (${server}).`);
    project.command(`cat > '${usedName}' <<'EOF'\n${wrongText}EOF`);
    expect(await project.listProblems(userName)).toContain(problem);
    project.command(`rm '${usedName}'`);
    expect(await project.listProblems(userName)).toMatch(/^Problems in /);
    project.command(`cat > '${usedName}' <<'EOF'\n${usedText}EOF`);
    expect(await project.listProblems(userName)).toBe(`No problems (${server}).`);
    project.command(`mv '${directory}' aside; mkdir -p '${directory}'; mv aside/* '${directory}'`);
    expect(await project.listProblems(userName)).toBe(`No problems (${server}).`);
    expect(project.startCount).toBe(1);
  });

  it.runIf(canRun)(
    'reports no problem that a command has caused as one of the next change',
    async () => {
      await using project = new Project({
        ...settings,
        [userName]: userText,
        [usedName]: usedText,
      });
      expect(await project.change(userName, userText, `${userText}\n`)).toBe('');
      expect(await project.change(userName, `${userText}\n`, userText)).toBe('');
      project.command(`cat > '${usedName}' <<'EOF'\n${wrongText}EOF`);
      // The command has caused the problem, and not this change.
      expect(await project.change(userName, userText, `${userText}\n`)).toBe('');
      expect(project.startCount).toBe(1);
    },
  );
});

it('a rename in files with the mark of the byte order and other line ends fits their text', async () => {
  const first = 'export function add(a: number): number {\r\n  return a;\r\n}\r\n';
  await using project = new Project({
    'tsconfig.json': '{"compilerOptions":{"noEmit":true,"module":"nodenext","types":[]}}\n',
    'a.ts': `\uFEFF${first}`,
    'b.ts': '\uFEFFimport { add } from "./a.js"; add(1);\r\nadd(2);\r\n',
  });
  expect(await project.rename('a.ts', 'add', 'sum')).toEqual({
    ok: true,
    files: [
      {
        path: project.path('a.ts'),
        before: `\uFEFF${first}`,
        after: `\uFEFF${first.replace('add', 'sum')}`,
      },
      {
        path: project.path('b.ts'),
        before: '\uFEFFimport { add } from "./a.js"; add(1);\r\nadd(2);\r\n',
        after: '\uFEFFimport { sum } from "./a.js"; sum(1);\r\nsum(2);\r\n',
      },
    ],
  });
});
