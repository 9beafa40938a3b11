import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { errorMessage } from '../../base/errors.ts';
import { KEEP_BYTES, type ToolContext } from '../../protocol/tool.ts';

const { O_CREAT, O_NOFOLLOW, O_TRUNC, O_WRONLY } = constants;

/**
 * Keeps the whole of an output that is too large for a result in the call's spill file, which the task may
 * read. Says where, or why not, in words that go on after "left out; ".
 */
export function spillText(
  text: string,
  { caps, spillPath, redactBytes }: Pick<ToolContext, 'caps' | 'spillPath' | 'redactBytes'>,
): string {
  const bytes = Buffer.from(text, 'utf8');
  const { spillBytes } = caps;
  try {
    const path = spillPath();
    const fd = openSync(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o600);
    try {
      const filter = redactBytes?.() ?? KEEP_BYTES;
      writeAll(fd, filter.write(bytes.subarray(0, spillBytes)));
      writeAll(fd, filter.end());
    } finally {
      closeSync(fd);
    }
    const part = bytes.length > spillBytes ? 'the first part' : 'the whole';
    return `${part} is in ${path}: Read it with offset, or Grep it`;
  } catch (thrown) {
    return `the whole could not be kept (${errorMessage(thrown)})`;
  }
}

function writeAll(fd: number, bytes: Buffer): void {
  for (let done = 0; done < bytes.length;) done += writeSync(fd, bytes, done);
}
