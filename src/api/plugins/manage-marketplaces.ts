import { MusterError } from '../../base/errors.ts';
import { escapeLine } from '../../config/message-text.ts';
import { fetchFiles } from '../../plugins/fetch-files.ts';
import {
  MARKETPLACE_FILE,
  MAX_MARKETPLACE_BYTES,
  readMarketplace,
} from '../../plugins/marketplace.ts';
import { readPluginText, type PluginFile } from '../../plugins/plugin-files.ts';
import { describePluginProblem } from '../../plugins/plugin-problem.ts';
import {
  MARKETPLACE_RECORDS,
  PLUGIN_RECORDS,
  pluginId,
  type MarketplaceRecord,
} from '../../plugins/plugin-records.ts';
import { describePluginSource, type PluginSource } from '../../plugins/plugin-source.ts';
import { openApprovalList } from '../../trust/approval-list.ts';
import type { StateOptions } from '../../trust/state-directory.ts';
import { findDirectSource, openMarketplace, requireMarketplace } from './find-source.ts';

/** A marketplace, for people. */
export interface MarketplaceRow {
  readonly name: string;
  readonly source: string;
  readonly commit: string | null;
  readonly updatedOn: string;
  /** The number of its plugins. */
  readonly plugins: number;
}

/** A marketplace with its plugins. */
export interface MarketplaceDetails extends Omit<MarketplaceRow, 'plugins'> {
  readonly description: string | null;
  readonly plugins: readonly {
    readonly name: string;
    readonly version: string | null;
    readonly description: string | null;
    /** The place of its files. Null if it cannot be used. */
    readonly source: string | null;
  }[];
  /** The problems of its file, one per line. */
  readonly problems: readonly string[];
}

/**
 * Reads a marketplace and remembers it. Nothing is installed from it. Throws MusterError if it cannot be read, or if there
 * is another marketplace of its name.
 */
export async function addMarketplace(
  text: string,
  state: StateOptions,
  signal: AbortSignal,
): Promise<MarketplaceDetails> {
  const source = findDirectSource(text, state);
  if (source === null || source.kind === 'archive' || source.kind === 'npm') {
    const message = `${escapeLine(text)} is no source of a marketplace: name a directory (./${escapeLine(text)}), a git repository, or OWNER/REPOSITORY`;
    throw new MusterError('INVALID_PARAM', message);
  }
  const record = await fetchMarketplace(source, state, signal);
  openApprovalList(state, MARKETPLACE_RECORDS).update(record.name, (present) => {
    if (
      present === undefined ||
      describePluginSource(present.source) === describePluginSource(source)
    ) {
      return record;
    }
    const message = `there is a marketplace ${record.name} from ${describePluginSource(present.source)} already. Remove it first: muster plugin marketplace remove ${record.name}`;
    throw new MusterError('CONFLICT', message);
  });
  return describeMarketplace(record);
}

/** Reads a marketplace again. Installed plugins stay as they are. Throws MusterError. */
export async function updateMarketplace(
  name: string,
  state: StateOptions,
  signal: AbortSignal,
): Promise<MarketplaceDetails> {
  const { source } = requireMarketplace(name, state);
  const record = await fetchMarketplace(source, state, signal);
  if (record.name !== name) {
    const message = `the marketplace at ${describePluginSource(source)} is named ${record.name} now, and no longer ${name}. Remove it and add it again`;
    throw new MusterError('CONFLICT', message);
  }
  openApprovalList(state, MARKETPLACE_RECORDS).add([record]);
  return describeMarketplace(record);
}

async function fetchMarketplace(
  source: PluginSource,
  state: StateOptions,
  signal: AbortSignal,
): Promise<MarketplaceRecord> {
  const { environment, cwd: project } = state;
  // Only the file is read, because the repository may hold many plugins.
  const { files, commit } = await fetchFiles(toFileDirectory(source), {
    environment,
    project,
    signal,
  });
  const text = readMarketplaceText(files, source);
  const { marketplace, problems } = readMarketplace(text, { source, commit });
  if (marketplace === null) {
    const reasons = problems.map(describePluginProblem).join('; ');
    throw new MusterError(
      'INVALID_PARAM',
      `${describePluginSource(source)} is no marketplace: ${reasons}`,
    );
  }
  return { name: marketplace.name, source, commit, text, updatedOn: new Date().toISOString() };
}

const [FILE_DIRECTORY = '', FILE_NAME = ''] = MARKETPLACE_FILE.split('/');

function toFileDirectory(source: PluginSource): PluginSource {
  switch (source.kind) {
    case 'directory':
      return { ...source, path: `${source.path}/${FILE_DIRECTORY}` };
    case 'git': {
      const { directory } = source;
      const path = directory === '' ? FILE_DIRECTORY : `${directory}/${FILE_DIRECTORY}`;
      return { ...source, directory: path };
    }
    case 'archive':
    case 'npm':
      return source;
  }
}

function readMarketplaceText(files: readonly PluginFile[], source: PluginSource): string {
  const text = readPluginText(files, FILE_NAME);
  if (text === null) {
    const message = `${describePluginSource(source)} is no marketplace: it has no ${MARKETPLACE_FILE}`;
    throw new MusterError('INVALID_PARAM', message);
  }
  if (Buffer.byteLength(text) <= MAX_MARKETPLACE_BYTES) return text;
  const limit = `${MAX_MARKETPLACE_BYTES / 1024 / 1024} MB`;
  throw new MusterError(
    'LIMIT_EXCEEDED',
    `${MARKETPLACE_FILE} of ${describePluginSource(source)} is larger than ${limit}. This limit cannot be changed`,
  );
}

/** Lists the marketplaces, sorted by name. */
export function listMarketplaces(state: StateOptions): readonly MarketplaceRow[] {
  return openApprovalList(state, MARKETPLACE_RECORDS)
    .all()
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map((record) => {
      const { name, source, commit, updatedOn } = record;
      const plugins = openMarketplace(record).entries.length;
      return { name, source: describePluginSource(source), commit, updatedOn, plugins };
    });
}

/** Describes a marketplace. Throws MusterError if there is none of this name. */
export function showMarketplace(name: string, state: StateOptions): MarketplaceDetails {
  return describeMarketplace(requireMarketplace(name, state));
}

function describeMarketplace(record: MarketplaceRecord): MarketplaceDetails {
  const { name, source, commit, updatedOn, text } = record;
  const { description, entries } = openMarketplace(record);
  return {
    name,
    source: describePluginSource(source),
    commit,
    updatedOn,
    description,
    plugins: entries.map((entry) => ({
      name: entry.name,
      version: entry.version,
      description: entry.description,
      source: entry.source === null ? null : describePluginSource(entry.source),
    })),
    problems: readMarketplace(text, record).problems.map(describePluginProblem),
  };
}

/**
 * Forgets a marketplace. Throws MusterError if there is none of this name, or if plugins from it are installed.
 */
export function removeMarketplace(name: string, state: StateOptions): void {
  requireMarketplace(name, state);
  const installed = openApprovalList(state, PLUGIN_RECORDS)
    .all()
    .filter(({ marketplace }) => marketplace === name)
    .map(pluginId);
  if (installed.length > 0) {
    const message = `plugins from the marketplace ${name} are installed: ${installed.join(', ')}. Remove them first: muster plugin remove`;
    throw new MusterError('CONFLICT', message);
  }
  openApprovalList(state, MARKETPLACE_RECORDS).remove((each) => each.name === name);
}
