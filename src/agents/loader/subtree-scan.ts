import { FORMATS } from '../formats/vendors.ts';
import { relative } from 'node:path';
import { realpathSync } from 'node:fs';
import { detectFormat, noAgentAt, type NoAgent } from '../formats/detect.ts';
import { readBeside } from './referenced-files.ts';
import type { TextBeside } from './kind.ts';
import { collect, shadow, type DiscoveredAgents, type Found } from './discovery-result.ts';
import { MAX_AGENT_BYTES, readText } from './read-text.ts';
import { walkFiles } from './walk.ts';

/** Directory entries that are looked at, and levels that are looked into. */
const MAX_ENTRIES = 200_000;
const MAX_DEPTH = 24;
/** Bytes that are read. */
const MAX_BYTES = 1024 * 1024 * 1024;

/**
 * Every agent file below a directory, of whatever vendor, wherever it lies: for looking at a
 * collection, and not for use, so nobody need trust it. The format is told by place, name and content.
 * Of data files without a sign of an agent nothing is said.
 * `directory` is absolute; throws when it cannot be read.
 */
export async function agentsBelow(directory: string): Promise<DiscoveredAgents> {
  const found: Found = { agents: [], skipped: [], problems: [] };
  const boundary = realpathSync.native(directory);
  const accepts = (fileName: string): boolean => FORMATS.some((each) => each.accepts(fileName));
  const budget = { entries: MAX_ENTRIES };
  const walk = walkFiles(directory, { accepts, boundary, budget, maxDepth: MAX_DEPTH });
  found.skipped.push(...walk.skipped);
  let left = MAX_BYTES;
  for (const { path, realPath } of walk.files) {
    const name = relative(directory, path);
    const text = left < MAX_AGENT_BYTES ? TOO_MANY_BYTES : readText(realPath);
    const none = noAgentAt(name, text.ok ? text.text : '', directory);
    if (none === 'data') continue;
    if (!text.ok) {
      const problem = { code: text.code, message: text.reason, path };
      collect(path, { items: [], problems: [problem] }, found);
      continue;
    }
    left -= text.bytes;
    const format = none === undefined ? detectFormat(name, text.text, directory) : undefined;
    if (format === undefined) {
      found.skipped.push({ path, code: 'not-an-agent', reason: REASONS[none ?? 'other'] });
    } else {
      const beside = (named: string): TextBeside => readBeside(named, boundary);
      const file = { path, scope: 'project', text: text.text, beside } as const;
      collect(path, await format.read(file), found);
    }
  }
  return shadow(found);
}

const REASONS: Readonly<Record<Exclude<NoAgent, 'data'> | 'other', string>> = {
  skill: 'It is a skill (`muster skills list`), and no agent.',
  elsewhere: 'It does not lie where its product keeps agents.',
  other: 'It holds no agent.',
};

const TOO_MANY_BYTES = {
  ok: false,
  code: 'too-many-bytes',
  reason: `Not read: the files before it hold ${MAX_BYTES / 1024 / 1024} MB.`,
} as const;
