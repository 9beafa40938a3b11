import type { JsonObject } from '../base/json.ts';

/** A program that serves a language. */
export interface ServerProgramRow {
  readonly program: string;
  readonly args: readonly string[];
  /** True if the server runs code of the project, so that the user must trust the project. */
  readonly runsProjectCode?: true;
  /**
   * A file that must exist, either below the project or, given relative to the directory of the program's real path,
   * beside the program. Default: the program is enough.
   */
  readonly needs?: { readonly inProject?: string; readonly besideProgram: string };
  readonly initializationOptions?: JsonObject;
  /** The answers to requests for settings, by section. */
  readonly settings?: JsonObject;
  /** True if the server must be told which files of the project change on the disk. */
  readonly needsFileEvents?: true;
  /** The way to the problems of a file, for a server that does not report the end of a check. */
  readonly problemsBy?: 'tsserver';
}

/** A language with the servers that Muster knows for it. */
export interface LanguageRow {
  /** The name of the language in the configuration and in messages. */
  readonly language: string;
  /** The endings of its files, each with the language id of the protocol. */
  readonly endings: Readonly<Record<string, string>>;
  /** The files that mark the root directory of a project. */
  readonly rootMarkers: readonly string[];
  /**
   * The directory that a server gets as its root: the root of the workspace, or the nearest or the outermost directory
   * above a file that contains a marker.
   */
  readonly root: 'workspace' | 'nearest' | 'outermost';
  /** The servers in the order of preference. */
  readonly servers: readonly ServerProgramRow[];
}

/** The languages for which Muster starts servers that it finds. */
export const LANGUAGES: readonly LanguageRow[] = [
  {
    language: 'typescript',
    endings: {
      '.ts': 'typescript',
      '.mts': 'typescript',
      '.cts': 'typescript',
      '.tsx': 'typescriptreact',
      '.js': 'javascript',
      '.mjs': 'javascript',
      '.cjs': 'javascript',
      '.jsx': 'javascriptreact',
    },
    rootMarkers: ['tsconfig.json', 'jsconfig.json', 'package.json'],
    root: 'workspace',
    servers: [
      // The compiler is a server from version 7 on. Older versions lack this file.
      {
        program: 'tsc',
        args: ['--lsp', '--stdio'],
        needs: { besideProgram: '../lib/getExePath.js' },
        needsFileEvents: true,
      },
      {
        program: 'typescript-language-server',
        args: ['--stdio'],
        // It runs the compiler of the project, and the plugins that its configuration names.
        runsProjectCode: true,
        needs: {
          inProject: 'node_modules/typescript/lib/tsserver.js',
          besideProgram: '../../typescript/lib/tsserver.js',
        },
        initializationOptions: { disableAutomaticTypingAcquisition: true },
        problemsBy: 'tsserver',
      },
    ],
  },
  {
    language: 'python',
    endings: { '.py': 'python', '.pyi': 'python' },
    rootMarkers: [
      'pyproject.toml',
      'setup.py',
      'setup.cfg',
      'requirements.txt',
      'pyrightconfig.json',
    ],
    root: 'workspace',
    servers: [
      { program: 'pyright-langserver', args: ['--stdio'], needsFileEvents: true },
      { program: 'basedpyright-langserver', args: ['--stdio'], needsFileEvents: true },
      { program: 'pylsp', args: [], runsProjectCode: true },
    ],
  },
  {
    language: 'go',
    endings: { '.go': 'go' },
    rootMarkers: ['go.work', 'go.mod'],
    root: 'nearest',
    servers: [{ program: 'gopls', args: [], needsFileEvents: true }],
  },
  {
    language: 'rust',
    endings: { '.rs': 'rust' },
    rootMarkers: ['Cargo.toml'],
    root: 'outermost',
    servers: [
      {
        program: 'rust-analyzer',
        args: [],
        // It runs build scripts and procedural macros.
        runsProjectCode: true,
        // `cargo check` writes into the project, which the server cannot.
        initializationOptions: { checkOnSave: false, files: { watcher: 'server' } },
      },
    ],
  },
  {
    language: 'cpp',
    endings: {
      '.c': 'c',
      '.h': 'cpp',
      '.cc': 'cpp',
      '.cpp': 'cpp',
      '.cxx': 'cpp',
      '.hh': 'cpp',
      '.hpp': 'cpp',
      '.hxx': 'cpp',
    },
    rootMarkers: ['compile_commands.json', 'compile_flags.txt', '.clangd', 'CMakeLists.txt'],
    root: 'workspace',
    servers: [{ program: 'clangd', args: ['--background-index=false', '--log=error'] }],
  },
  {
    language: 'java',
    endings: { '.java': 'java' },
    rootMarkers: ['pom.xml', 'build.gradle', 'build.gradle.kts', 'settings.gradle', '.project'],
    root: 'outermost',
    servers: [
      {
        program: 'jdtls',
        args: [],
        // It runs the build of the project.
        runsProjectCode: true,
        needsFileEvents: true,
      },
    ],
  },
];
