import { isAbsolute } from 'node:path';
import type { JsonObject } from '../base/json.ts';
import { LANGUAGES, type LanguageRow, type ServerProgramRow } from './server-table.ts';

/** A configured server: `python=pylsp`, or `.zig=zls` for a language that Muster does not know. */
const ENTRY = /^(?<key>\.?[\w+#-]+)=(?<command>\S.*)$/;

/** Tells whether an item of `code.servers` can be read. */
export function isServerEntry(item: string): boolean {
  const { key = '', command = '' } = ENTRY.exec(item)?.groups ?? {};
  const [program = ''] = command.trim().split(/\s+/);
  const isKnown = key.startsWith('.') || LANGUAGES.some(({ language }) => language === key);
  return isKnown && (isAbsolute(program) || !program.includes('/')) && program !== '';
}

/** Returns the languages with the configured servers in place of the known ones. */
export function addConfiguredServers(entries: readonly string[]): readonly LanguageRow[] {
  const configured = entries.flatMap((entry): readonly LanguageRow[] => {
    const { key = '', command = '' } = ENTRY.exec(entry)?.groups ?? {};
    const [program = '', ...args] = command.trim().split(/\s+/);
    // The protocol leaves it to the client to watch files, and most servers rely on that.
    const servers = [{ program, args, needsFileEvents: true as const }];
    const known = LANGUAGES.find(({ language }) => language === key);
    if (known !== undefined) return [{ ...known, servers }];
    const name = key.slice(1);
    const endings = { [key.toLowerCase()]: name };
    return [{ language: name, endings, rootMarkers: ['.'], root: 'workspace', servers }];
  });
  return [...configured, ...LANGUAGES];
}

/** A language server of a plugin. */
export interface PluginServerRow {
  /** The name of the server in its plugin. */
  readonly name: string;
  /** A name that is searched in PATH, or an absolute path. */
  readonly program: string;
  readonly args: readonly string[];
  /** The endings of its files, each with the language id of the protocol. */
  readonly endings: Readonly<Record<string, string>>;
  readonly initializationOptions: JsonObject | null;
  readonly settings: JsonObject | null;
}

/**
 * Returns the languages with the servers of plugins: after the other servers of a language, so that one of them serves the
 * language if it is installed, and for further languages.
 */
export function addPluginServers(
  servers: readonly PluginServerRow[],
  languages: readonly LanguageRow[],
): readonly LanguageRow[] {
  return servers.reduce(addPluginServer, languages);
}

function addPluginServer(
  languages: readonly LanguageRow[],
  { name, program, args, endings, initializationOptions, settings }: PluginServerRow,
): readonly LanguageRow[] {
  const server: ServerProgramRow = {
    program,
    args,
    needsFileEvents: true,
    ...(initializationOptions === null ? {} : { initializationOptions }),
    ...(settings === null ? {} : { settings }),
  };
  const serves = (row: LanguageRow): boolean =>
    Object.keys(endings).some((ending) => Object.hasOwn(row.endings, ending));
  const extended = languages.map((row) =>
    serves(row) ? { ...row, servers: [...row.servers, server] } : row,
  );
  const others = Object.entries(endings).filter(([ending]) => {
    return !languages.some((row) => Object.hasOwn(row.endings, ending));
  });
  if (others.length === 0) return extended;
  const row: LanguageRow = {
    language: name,
    endings: Object.fromEntries(others),
    rootMarkers: ['.'],
    root: 'workspace',
    servers: [server],
  };
  return [...extended, row];
}
