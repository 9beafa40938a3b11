import { MusterError } from '../../base/errors.ts';
import { suggestNames } from '../../base/name-suggestions.ts';
import { escapeLine } from '../../config/message-text.ts';
import { toEntry } from '../../plugins/active-plugins.ts';
import { describePlugin } from '../../plugins/describe-plugin.ts';
import { PluginCopies } from '../../plugins/plugin-copies.ts';
import {
  hashApproval,
  PLUGIN_RECORDS,
  pluginId,
  type PluginRecord,
} from '../../plugins/plugin-records.ts';
import { describePluginSource } from '../../plugins/plugin-source.ts';
import { readPlugin } from '../../plugins/read-plugin.ts';
import { openApprovalList } from '../../trust/approval-list.ts';
import { approvalDirectory, type StateOptions } from '../../trust/state-directory.ts';

/** An installed plugin, for people. */
export interface PluginRow {
  /** `NAME@MARKETPLACE` */
  readonly id: string;
  readonly version: string | null;
  readonly source: string;
  readonly commit: string | null;
  /** The approved hash, as the review showed it. */
  readonly hash: string;
  readonly isEnabled: boolean;
  readonly approvedOn: string;
  /** The directory of its files. */
  readonly directory: string;
  /** The reason, as the rest of a sentence, why it is not used although it is enabled. Null if there is none. */
  readonly problem: string | null;
}

/** Lists the installed plugins, sorted by name. */
export function listPlugins(state: StateOptions): readonly PluginRow[] {
  const copies = new PluginCopies(approvalDirectory(state));
  return openApprovalList(state, PLUGIN_RECORDS)
    .all()
    .toSorted((a, b) => (pluginId(a) < pluginId(b) ? -1 : 1))
    .map((record) => toRow(record, copies));
}

function toRow(record: PluginRecord, copies: PluginCopies): PluginRow {
  const { version, commit, isEnabled, approvedOn } = record;
  const files = copies.read(record);
  return {
    id: pluginId(record),
    version,
    source: describePluginSource(record.source),
    commit,
    hash: hashApproval(record),
    isEnabled,
    approvedOn,
    directory: copies.rootOf(record),
    problem: typeof files === 'string' ? files : null,
  };
}

/** An installed plugin, and what it can do. */
export interface PluginDetails extends PluginRow {
  readonly description: string | null;
  /** One effect per line. The lines quote its files, so they must be escaped before they are printed. */
  readonly effects: readonly string[];
}

/** Describes an installed plugin. Throws MusterError if there is none of this name. */
export async function showPlugin(name: string, state: StateOptions): Promise<PluginDetails> {
  const record = requirePlugin(name, state);
  const copies = new PluginCopies(approvalDirectory(state));
  const row = toRow(record, copies);
  const files = copies.read(record);
  if (typeof files === 'string') return { ...row, description: null, effects: [] };
  const plugin = readPlugin(files, {
    source: row.id,
    entry: toEntry(record),
    directory: record.name,
  });
  const { description } = plugin.manifest;
  return { ...row, description, effects: await describePlugin(plugin, files) };
}

/** Switches an installed plugin on or off. Returns its id. Throws MusterError if there is none of this name. */
export function setPluginState(
  name: string,
  state: StateOptions,
  { isEnabled }: { readonly isEnabled: boolean },
): string {
  const id = pluginId(requirePlugin(name, state));
  openApprovalList(state, PLUGIN_RECORDS).update(id, (record) =>
    record === undefined ? undefined : { ...record, isEnabled },
  );
  return id;
}

/** Removes an installed plugin and its files. Returns its id. Throws MusterError if there is none of this name. */
export function removePlugin(name: string, state: StateOptions): string {
  const record = requirePlugin(name, state);
  const id = pluginId(record);
  openApprovalList(state, PLUGIN_RECORDS).remove((each) => pluginId(each) === id);
  const copies = new PluginCopies(approvalDirectory(state));
  copies.removeDrafts(id);
  copies.removeOthers(record, []);
  return id;
}

/** Finds an installed plugin by `NAME@MARKETPLACE` or, if that is clear, by its name. Throws MusterError. */
export function requirePlugin(name: string, state: StateOptions): PluginRecord {
  const records = openApprovalList(state, PLUGIN_RECORDS).all();
  const found = records.filter((each) => pluginId(each) === name || each.name === name);
  const [first] = found;
  if (first !== undefined && found.length === 1) return first;
  const shown = escapeLine(name);
  if (first !== undefined) {
    const message = `several plugins are named ${shown}: ${found.map(pluginId).join(', ')}`;
    throw new MusterError('INVALID_PARAM', message);
  }
  const similar = suggestNames(name, records.map(pluginId));
  const hint =
    similar.length === 0 ? 'see muster plugin list' : `did you mean ${similar.join(' or ')}?`;
  throw new MusterError('NOT_FOUND', `the plugin ${shown} is not installed: ${hint}`);
}
