import { printable } from '../../base/printable.ts';

/** One line for a person, safe to print whatever it quotes. */
export function stderrNotice(line: string): void {
  process.stderr.write(`muster: ${printable(line)}\n`);
}
