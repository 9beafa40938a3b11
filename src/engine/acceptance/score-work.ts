/** The number of bytes of stdout of which the last line is read. */
const MAX_STDOUT = 4_000;

/**
 * Returns the command line that runs another one and prints the end of its stdout between two marks at the very end, so
 * that it can be told from stderr. The exit code is that of the other command.
 *
 * @param mark a text that no output contains
 */
export function markStdout(command: string, mark: string): string {
  const print = `{ out=$(tail -c ${MAX_STDOUT} | tr -d '\\0'); printf '\\n%s\\n%s\\n%s\\n' ${mark} "$out" ${mark}; }`;
  // With eval, the shell prints an error if it can't read the command.
  const quoted = `'${command.replaceAll("'", String.raw`'\''`)}'`;
  return `( eval ${quoted} ) | ${print}; exit "\${PIPESTATUS[0]}"`;
}

/** Splits the output of a marked command into the end of its stdout, and everything else. */
export function splitMarked(
  output: string,
  mark: string,
): { readonly stdout: string; readonly rest: string } {
  const end = output.lastIndexOf(mark);
  const start = end === -1 ? -1 : output.lastIndexOf(mark, end - 1);
  if (start === -1) return { stdout: '', rest: output };
  const after = output.slice(end + mark.length);
  return {
    stdout: output.slice(start + mark.length, end).replace(/^\n/, ''),
    rest: `${output.slice(0, start).trimEnd()}${after}`.trim(),
  };
}

/** Matches a number that is not a part of a word or of another number. */
const NUMBER = /(?<![\w.])[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)?/gi;

/** Finds the score in an output: the last number on its last line that is not blank. Null if there is none. */
export function findScore(stdout: string): number | null {
  const line =
    stdout
      .trimEnd()
      .split(/\r\n|[\r\n]/)
      .at(-1) ?? '';
  const last = line.match(NUMBER)?.at(-1);
  const value = Number(last);
  return last !== undefined && Number.isFinite(value) ? value : null;
}
