import { MusterError } from '../../base/errors.ts';
import { comparePlugins, type PluginDifference } from '../../plugins/compare-plugins.ts';
import { describePlugin } from '../../plugins/describe-plugin.ts';
import { fetchFiles } from '../../plugins/fetch-files.ts';
import type { PluginFormat } from '../../plugins/manifest.ts';
import { PluginCopies } from '../../plugins/plugin-copies.ts';
import { hashPluginFiles, type PluginFile } from '../../plugins/plugin-files.ts';
import { NO_MARKETPLACE } from '../../plugins/plugin-paths.ts';
import {
  hashApproval,
  PLUGIN_RECORDS,
  pluginId,
  type PluginRecord,
} from '../../plugins/plugin-records.ts';
import { describePluginSource, nameDirectory } from '../../plugins/plugin-source.ts';
import { toEntry } from '../../plugins/active-plugins.ts';
import { readPlugin } from '../../plugins/read-plugin.ts';
import { openApprovalList } from '../../trust/approval-list.ts';
import { approvalDirectory, type StateOptions } from '../../trust/state-directory.ts';
import { findPluginSource, type FoundSource } from './find-source.ts';
import { requirePlugin } from './manage-plugins.ts';

/** The facts that a person has to know before the files of a plugin are used. */
export interface PluginReview {
  /** `NAME@MARKETPLACE` */
  readonly id: string;
  readonly version: string | null;
  readonly description: string | null;
  readonly format: PluginFormat;
  readonly source: string;
  readonly commit: string | null;
  /** The SHA-256 hash of all files, and of the entry of the marketplace if the plugin comes from one. */
  readonly hash: string;
  readonly files: number;
  readonly bytes: number;
  /**
   * `new`: the plugin is not installed. `changed`: another version is installed. `installed`: exactly this is approved
   * already.
   */
  readonly state: 'new' | 'changed' | 'installed';
  /** A list of what it can do, one effect per line. The lines quote its files, so they must be escaped before they are printed. */
  readonly effects: readonly string[];
  /** The differences from the installed version. Null if none is installed, or if its files have changed. */
  readonly difference: PluginDifference | null;
}

/** A version of a plugin that can be installed. */
export interface PluginProposal {
  readonly review: PluginReview;
  /** Installs exactly the files of the review. Throws MusterError if that fails. */
  install(): void;
}

/** Fetches a plugin and describes what it can do. Nothing is installed. Throws MusterError. */
export async function proposePlugin(
  text: string,
  state: StateOptions,
  signal: AbortSignal,
): Promise<PluginProposal> {
  return await propose(findPluginSource(text, state), state, signal);
}

/**
 * Fetches an installed plugin again from its source, and compares it with the installed version. Nothing is installed.
 * Throws MusterError.
 */
export async function proposeUpdate(
  name: string,
  state: StateOptions,
  signal: AbortSignal,
): Promise<PluginProposal> {
  const record = requirePlugin(name, state);
  const found =
    record.marketplace === NO_MARKETPLACE
      ? { source: record.source, marketplace: NO_MARKETPLACE, entry: toEntry(record) }
      : findPluginSource(pluginId(record), state);
  const proposal = await propose(found, state, signal);
  if (proposal.review.id === pluginId(record)) return proposal;
  const message = `${describePluginSource(found.source)} holds the plugin ${proposal.review.id} now, and no longer ${pluginId(record)}. Install it under its new name, and remove the old one`;
  throw new MusterError('CONFLICT', message);
}

async function propose(
  { source, marketplace, entry }: FoundSource,
  state: StateOptions,
  signal: AbortSignal,
): Promise<PluginProposal> {
  const list = openApprovalList(state, PLUGIN_RECORDS);
  const copies = new PluginCopies(approvalDirectory(state));
  const { environment, cwd: project } = state;
  const { files, leftOut, commit } = await fetchFiles(source, { environment, project, signal });
  const plugin = readPlugin(files, {
    source: describePluginSource(source),
    entry,
    directory: nameDirectory(source),
  });
  const { name, version, description, format } = plugin.manifest;
  const approved = {
    hash: hashPluginFiles(files),
    entry: entry === null ? null : { fields: entry.fields, isStrict: entry.isStrict },
  };
  const hash = hashApproval(approved);
  const id = pluginId({ name, marketplace });
  const before = list.all().find((each) => pluginId(each) === id);
  const links = leftOut.map((path) => `! ${path}: it is a link and is not installed`);
  const effects = await describePlugin(plugin, files);
  const review: PluginReview = {
    id,
    version,
    description,
    format,
    source: describePluginSource(source),
    commit,
    hash,
    files: files.length,
    bytes: files.reduce((sum, { bytes }) => sum + bytes.length, 0),
    state: before === undefined ? 'new' : hashApproval(before) === hash ? 'installed' : 'changed',
    effects: [...effects, ...links],
    difference:
      before === undefined ? null : await compareWithInstalled(before, copies, { files, effects }),
  };
  const install = (): void => {
    const record = { name, marketplace, version, source, commit, ...approved };
    copies.write(record, files);
    let earlier: string | null = null;
    list.update(id, (present) => {
      earlier = present?.hash ?? null;
      const isEnabled = present?.isEnabled ?? true;
      return { ...record, isEnabled, approvedOn: new Date().toISOString() };
    });
    // A conversation that is running may still use the earlier version.
    copies.removeOthers(record, earlier === null ? [record.hash] : [record.hash, earlier]);
  };
  return { review, install };
}

async function compareWithInstalled(
  before: PluginRecord,
  copies: PluginCopies,
  after: { readonly files: readonly PluginFile[]; readonly effects: readonly string[] },
): Promise<PluginDifference | null> {
  const files = copies.read(before);
  if (typeof files === 'string') return null;
  const plugin = readPlugin(files, {
    source: pluginId(before),
    entry: toEntry(before),
    directory: before.name,
  });
  return comparePlugins({ files, effects: await describePlugin(plugin, files) }, after);
}
