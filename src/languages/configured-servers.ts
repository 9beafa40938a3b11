import { isAbsolute } from 'node:path';
import { LANGUAGES, type LanguageRow } from './server-table.ts';

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
