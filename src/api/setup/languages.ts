import { UsageError } from '../../base/errors.ts';
import type { LoadedConfig } from '../../config/load.ts';
import {
  addConfiguredServers,
  addPluginServers,
  isServerEntry,
  type PluginServerRow,
} from '../../languages/configured-servers.ts';
import { hasLanguageServer } from '../../languages/find-server.ts';
import type { Languages } from '../../languages/open-languages.ts';
import type { StartProgram } from '../../languages/start-program.ts';
import { findDeniedPaths } from '../../policy/denied-paths.ts';
import type { RuleSet } from '../../protocol/permission.ts';
import type { Environment } from '../../sys/env.ts';
import type { WorkspaceChanges } from '../../sys/files/changes/workspace-changes.ts';
import { toRealPath } from '../../sys/files/real-path.ts';
import { buildCommandEnvironment } from '../../sys/processes/command-environment.ts';
import { startServerProgram } from '../../sys/processes/server-process.ts';
import type { Sandbox } from '../../sys/sandbox/sandbox.ts';
import { protectedFileNotes } from '../../tools/bash/sandbox-notes.ts';

/** The language servers, checkers and formatters of a session. */
export interface SessionLanguages {
  /** Loads them at their first use. Null if all of them are switched off. */
  readonly load: (() => Promise<Languages>) | null;
  /** True if a language server is installed for the workspace, so that the tool Code is offered. */
  readonly offersCode: boolean;
  /** Notes that a command may have changed files, so that servers read them again. */
  noteCommand(): void;
  /** Ends the servers that were started for a workspace, given by its directory, and waits for their ends. */
  endWorkspace(tree: string): Promise<void>;
  /** Ends all servers. */
  close(): Promise<void>;
}

/** The parts of a session that language servers need. */
interface LanguageParts {
  readonly loaded: Pick<LoadedConfig, 'config' | 'rules'>;
  readonly environment: Environment;
  /** The user's home directory. */
  readonly home: string;
  /** The workspace roots. Absolute, without links. */
  readonly roots: readonly string[];
  /** The language servers of the active plugins. */
  readonly pluginServers: readonly PluginServerRow[];
  readonly sandbox: Sandbox;
  /** True if the user trusts everything of the project for this run. */
  readonly trustsProject: boolean;
  readonly onNotice: (line: string) => void;
  /** Loads the part that finds changes of files. */
  readonly changes: () => Promise<WorkspaceChanges>;
}

/**
 * Prepares the language servers of a session. Nothing is loaded or started. Throws UsageError for a wrong entry of
 * `code.servers`.
 */
export function openSessionLanguages(parts: LanguageParts): SessionLanguages {
  const { loaded, environment, home, roots, changes } = parts;
  const { code, sandbox: sandboxing } = loaded.config;
  const wrong = code.servers.find((entry) => !isServerEntry(entry));
  if (wrong !== undefined) {
    throw new UsageError(
      `code.servers: ${JSON.stringify(wrong)} is no server; write LANGUAGE=COMMAND with one of the languages typescript, python, go, rust, cpp and java, or .ENDING=COMMAND`,
    );
  }
  if (!code.feedback && !code.format) {
    return {
      load: null,
      offersCode: false,
      noteCommand: () => {},
      endWorkspace: () => Promise.resolve(),
      close: () => Promise.resolve(),
    };
  }
  const search = {
    path: environment['PATH'] ?? '',
    roots,
    trustsProject: parts.trustsProject || code.projectPrograms,
    languages: addPluginServers(parts.pluginServers, addConfiguredServers(code.servers)),
  };
  const start = createProgramStarter({
    ...parts,
    home: toRealPath(home),
    rules: loaded.rules,
    network: sandboxing.network,
    trustsProject: search.trustsProject,
  });
  let opened: Promise<Languages> | null = null;
  return {
    load: () =>
      (opened ??= import('../../languages/open-languages.ts').then(({ openLanguages }) =>
        openLanguages({ ...code, search, limits: code, start, changes }),
      )),
    offersCode: code.feedback && hasLanguageServer(search),
    noteCommand: () => void opened?.then((languages) => languages.noteCommand()),
    endWorkspace: async (tree) => {
      await (await opened)?.endWorkspace(tree);
    },
    close: async () => {
      await (await opened)?.close();
    },
  };
}

/** The parts that decide what the programs may use. */
interface StarterParts extends Pick<
  LanguageParts,
  'sandbox' | 'environment' | 'trustsProject' | 'onNotice'
> {
  /** Absolute, without links. */
  readonly home: string;
  readonly rules: RuleSet;
  readonly network: boolean;
}

/**
 * Creates the starter of language servers, checkers and formatters. They run in the sandbox. Servers and formatters can
 * change nothing but their temporary directory, and without a sandbox they run only for a trusted project. Checkers are
 * commands of the user, and can do what the commands of tasks can.
 */
export function createProgramStarter(parts: StarterParts): StartProgram {
  const { sandbox, environment, home, rules, network, trustsProject, onNotice } = parts;
  return async ({ name, argv, cwd, roots, access }) => {
    const state = await sandbox.state();
    const { maxProcesses } = sandbox;
    const env = buildCommandEnvironment(environment, {
      git: { access, confined: state.on },
      network: network || !state.on,
    });
    if (!state.on) {
      const isAllowed = state.instead === 'container' || trustsProject || access === 'workspace';
      if (!isAllowed) {
        throw new Error(`there is no sandbox (${state.because}), and the project is not trusted`);
      }
      const [file, ...args] = argv;
      return startServerProgram({ file, args, cwd, env, maxProcesses });
    }
    const denied = findDeniedPaths({ rules, roots }, { home });
    const confined = sandbox.confine({
      argv,
      cwd,
      env,
      confinement: { access, roots, network, denied },
      stderr: 'command',
    });
    const { file, args, monitored, startCheck, settle, release } = confined;
    const program = startServerProgram({
      file,
      args,
      cwd,
      env: confined.env,
      monitored,
      startCheck,
      maxProcesses,
    });
    const settleAfterEnd = async (): Promise<void> => {
      await program.ended;
      const notes =
        access === 'workspace' ? protectedFileNotes(await settle(), { cwd, roots }) : [];
      for (const note of notes) onNotice(`${name}: ${note}`);
      release();
    };
    const settled = settleAfterEnd();
    const end = async (): Promise<void> => {
      await program.end();
      await settled;
    };
    return { ...program, end };
  };
}
