import type { ShellWord } from '../parsed-line.ts';
import { quoteShellWord, READS_NOTHING, explainUnknownValue, notProven } from './proof.ts';
import type { ReadOnlyVerdict } from './proof.ts';

/** echo prints whatever it gets; only a pattern would tell the names of files. */
export function checkEcho(words: readonly ShellWord[]): ReadOnlyVerdict {
  const unknown = words.find((word) => word.form === 'open' || word.form === 'glob');
  return unknown === undefined ? READS_NOTHING : notProven(explainUnknownValue(unknown));
}

/** `%n` sets a variable, and `*` takes its width from the operands. */
const PLAIN_FORMAT = /^(?:[^%]|%%|%[-+ #0]*\d*(?:\.\d+)?(?:[diouxXeEfFgGscbq]|\([^()]*\)T))*$/;

export function checkPrintf([format, ...words]: readonly ShellWord[]): ReadOnlyVerdict {
  if (format === undefined) return READS_NOTHING;
  if (format.value === null) return notProven(explainUnknownValue(format));
  if (format.value.startsWith('-'))
    return notProven(`${quoteShellWord(format.value)} may set a variable`);
  if (!PLAIN_FORMAT.test(format.value)) {
    return notProven(
      `the format ${quoteShellWord(format.value)} does more than print its operands`,
    );
  }
  return checkEcho(words);
}

/** `command -v NAME`; without the option it runs NAME. */
export function checkCommandBuiltin([option, ...names]: readonly ShellWord[]): ReadOnlyVerdict {
  if (option?.value !== '-v' && option?.value !== '-V') {
    return notProven('`command` only reads with -v or -V');
  }
  return judgeNames(names);
}

/** `type -a NAME`. */
export function checkType(words: readonly ShellWord[]): ReadOnlyVerdict {
  return judgeNames(/^-[aftpP]+$/.test(words[0]?.value ?? '') ? words.slice(1) : words);
}

function judgeNames(names: readonly ShellWord[]): ReadOnlyVerdict {
  const odd = names.find((word) => !/^[\w.+][\w.+-]*$/.test(word.value ?? ''));
  return odd === undefined
    ? READS_NOTHING
    : notProven(`${quoteShellWord(odd.text)} is no plain name`);
}

const PS_BSD = /^-?[auxfwl]+$/;
const PS_UNIX = /^-(?:A|e[fFlyw]*)$/;
const PS_VALUED = /^-e?[pCo]$/;
const PS_LONG = /^--(?:no-headers|sort=[-+\w%,]+)$/;

/**
 * ps shows the environment of processes with a BSD-style `e`, and reads the words of the other style as
 * BSD's where they make no sense together: so the two styles are not mixed.
 */
export function checkPs(words: readonly ShellWord[]): ReadOnlyVerdict {
  const styles = new Set<'bsd' | 'unix'>();
  const waiting = words.toReversed();
  for (let word = waiting.pop(); word !== undefined; word = waiting.pop()) {
    const value = word.value ?? '';
    if (PS_VALUED.test(value)) {
      const operand = waiting.pop();
      if (!/^[\w,%=]+$/.test(operand?.value ?? '')) return oddOfPs(operand ?? word);
      if (value.startsWith('-e')) styles.add('unix');
    } else if (PS_BSD.test(value)) styles.add('bsd');
    else if (PS_UNIX.test(value)) styles.add('unix');
    else if (!PS_LONG.test(value)) return oddOfPs(word);
  }
  const last = words.at(-1);
  return styles.size > 1 && last !== undefined ? oddOfPs(last) : READS_NOTHING;
}

function oddOfPs({ text }: ShellWord): ReadOnlyVerdict {
  return notProven(`with ${quoteShellWord(text)} ps may show the environment of processes`);
}
