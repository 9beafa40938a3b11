import { printError } from '../../sys/print.ts';

/** One line for a person, safe to print whatever it quotes. */
export function stderrNotice(line: string): void {
  printError(`muster: ${line}\n`);
}
