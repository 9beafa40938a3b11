import { statSync } from 'node:fs';
import { MusterError } from '../../base/errors.ts';
import { suggestNames } from '../../base/name-suggestions.ts';
import { escapeLine } from '../../config/message-text.ts';
import { isArchiveName } from '../../plugins/fetch-files.ts';
import {
  readMarketplace,
  type Marketplace,
  type MarketplaceEntry,
} from '../../plugins/marketplace.ts';
import { isPluginName, NO_MARKETPLACE } from '../../plugins/plugin-paths.ts';
import { describePluginProblem } from '../../plugins/plugin-problem.ts';
import { MARKETPLACE_RECORDS, type MarketplaceRecord } from '../../plugins/plugin-records.ts';
import {
  parseGitHubRepository,
  parseSource,
  type PluginSource,
  type SourceReading,
} from '../../plugins/plugin-source.ts';
import { toAbsolutePath } from '../../sys/files/paths.ts';
import { openApprovalList } from '../../trust/approval-list.ts';
import type { StateOptions } from '../../trust/state-directory.ts';

/** A source and the marketplace that names it. */
export interface FoundSource {
  readonly source: PluginSource;
  /** The name of the marketplace, or `direct`. */
  readonly marketplace: string;
  readonly entry: MarketplaceEntry | null;
}

const PLUGIN_AT_MARKETPLACE = /^([^@/]+)@([^@/]+)$/;

/**
 * Finds the source that a person has named: `NAME@MARKETPLACE`, a name in any marketplace, a path, an address of a git
 * repository, `OWNER/REPOSITORY` or `npm:PACKAGE`. Throws MusterError if there is none.
 */
export function findPluginSource(text: string, state: StateOptions): FoundSource {
  const [, name, marketplace] = PLUGIN_AT_MARKETPLACE.exec(text) ?? [];
  if (isPluginName(name) && isPluginName(marketplace)) {
    return findInMarketplace(name, marketplace, state);
  }
  const source = findDirectSource(text, state);
  if (source !== null) return { source, marketplace: NO_MARKETPLACE, entry: null };
  return findByName(text, state);
}

/** Finds a source that stands for itself. Returns null for a text that can only be a name. */
export function findDirectSource(text: string, { cwd, home }: StateOptions): PluginSource | null {
  const parsed = parseSource(text);
  if (parsed !== null) return requireSource(text, parsed);
  const path = toAbsolutePath(text, cwd, home);
  const stats = statSync(path, { throwIfNoEntry: false });
  const isPath = /^[.~/]/.test(text);
  if (stats?.isDirectory() === true && (isPath || text.includes('/'))) {
    return { kind: 'directory', path };
  }
  if (stats?.isFile() === true && isArchiveName(path)) return { kind: 'archive', path };
  const repository = isPath ? null : parseGitHubRepository(text);
  if (repository !== null) return requireSource(text, repository);
  if (!isPath && !text.includes('/')) return null;
  throw new MusterError(
    'NOT_FOUND',
    `there is neither a directory nor an archive (.tgz) ${escapeLine(path)}`,
  );
}

function requireSource(text: string, reading: SourceReading): PluginSource {
  if (reading.ok) return reading.source;
  throw new MusterError('INVALID_PARAM', `${escapeLine(text)} is no source: ${reading.reason}`);
}

function findInMarketplace(name: string, marketplace: string, state: StateOptions): FoundSource {
  if (marketplace === NO_MARKETPLACE) {
    const message = `${name}@${NO_MARKETPLACE} comes from no marketplace: name its source, or run muster plugin update ${name}@${NO_MARKETPLACE}`;
    throw new MusterError('INVALID_PARAM', message);
  }
  const record = requireMarketplace(marketplace, state);
  const { entries } = openMarketplace(record);
  const entry = entries.find((each) => each.name === name);
  if (entry !== undefined) return requireEntrySource(entry, marketplace);
  const similar = suggestNames(
    name,
    entries.map((each) => each.name),
  );
  const hint =
    similar.length === 0
      ? `see muster plugin marketplace list ${marketplace}`
      : `did you mean ${similar.join(' or ')}?`;
  throw new MusterError(
    'NOT_FOUND',
    `the marketplace ${marketplace} has no plugin ${name}: ${hint}`,
  );
}

/** Finds a plugin by its name alone in all marketplaces. */
function findByName(name: string, state: StateOptions): FoundSource {
  const records = openApprovalList(state, MARKETPLACE_RECORDS).all();
  const found = records.flatMap((record) => {
    const entry = openMarketplace(record).entries.find((each) => each.name === name);
    return entry === undefined ? [] : [{ entry, marketplace: record.name }];
  });
  const [first] = found;
  if (first !== undefined && found.length === 1) {
    return requireEntrySource(first.entry, first.marketplace);
  }
  const shown = escapeLine(name);
  const message =
    first === undefined
      ? `${shown} is neither a path nor a plugin of a marketplace; write a directory as ./${shown}, and see muster plugin marketplace list`
      : `several marketplaces have a plugin ${shown}: ${found.map(({ marketplace }) => `${shown}@${marketplace}`).join(', ')}`;
  throw new MusterError('NOT_FOUND', message);
}

function requireEntrySource(entry: MarketplaceEntry, marketplace: string): FoundSource {
  const { source, name } = entry;
  if (source !== null) return { source, marketplace, entry };
  const message = `${name}@${marketplace} cannot be installed, because its source cannot be used: see muster plugin marketplace list ${marketplace}`;
  throw new MusterError('INVALID_PARAM', message);
}

/** Returns the record of a marketplace. Throws MusterError if there is none. */
export function requireMarketplace(name: string, state: StateOptions): MarketplaceRecord {
  const records = openApprovalList(state, MARKETPLACE_RECORDS).all();
  const record = records.find((each) => each.name === name);
  if (record !== undefined) return record;
  const similar = suggestNames(
    name,
    records.map((each) => each.name),
  );
  const hint =
    similar.length === 0
      ? 'see muster plugin marketplace list'
      : `did you mean ${similar.join(' or ')}?`;
  throw new MusterError('NOT_FOUND', `there is no marketplace ${escapeLine(name)}: ${hint}`);
}

/** Reads the content of a marketplace from its record. Throws MusterError if it has an error. */
export function openMarketplace({ text, source, commit }: MarketplaceRecord): Marketplace {
  const { marketplace, problems } = readMarketplace(text, { source, commit });
  if (marketplace !== null) return marketplace;
  throw new MusterError('INVALID_PARAM', problems.map(describePluginProblem).join('; '));
}
