import { MusterError } from '../../base/errors.ts';
import type { ArgumentAliases } from '../shared/arguments.ts';

/** Further arguments for the lines to read, which models know from other products. They are not in the schema. */
export const LINE_FIELDS = {
  end_line: { type: 'integer', minimum: 1, unlisted: true },
  view_range: { type: 'array', items: { type: 'integer', minimum: -1 }, unlisted: true },
  /** For programs that write back what they have read. Models read lines with numbers. */
  verbatim: { type: 'boolean', unlisted: true },
} as const;

/** Other names of the arguments for the lines to read. */
export const LINE_ALIASES: ArgumentAliases = {
  start_line: 'offset',
  start_line_one_indexed: 'offset',
  end_line_one_indexed_inclusive: 'end_line',
  line_end: 'end_line',
  line_start: 'offset',
  line_offset: 'offset',
  max_lines: 'limit',
  n_lines: 'limit',
  num_lines: 'limit',
};

/** The lines to read. */
export interface LineRange {
  /** The number of the first line, from 1. */
  readonly first: number;
  readonly count: number;
}

interface LineArguments {
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
  readonly end_line?: number | undefined;
  readonly view_range?: readonly number[] | undefined;
}

/**
 * Determines the lines that a call asks for. Throws INVALID_PARAM for contradictory arguments.
 *
 * @param max the number of lines if the call does not give one
 */
export function resolveLineRange(input: LineArguments, max: number): LineRange {
  const { view_range: range } = input;
  if (range === undefined) return createLineRange(input, max);
  const [first, last] = range;
  if (range.length !== 2 || first === undefined || first < 1) {
    throw argumentError(
      'view_range: is not a range of lines; valid: [first, last], from 1, last -1: all',
    );
  }
  if (input.offset !== undefined || input.limit !== undefined || input.end_line !== undefined) {
    throw argumentError('view_range: another argument gives the lines, too; send one of them');
  }
  return createLineRange(last === -1 ? { offset: first } : { offset: first, end_line: last }, max);
}

function createLineRange({ offset, limit, end_line: last }: LineArguments, max: number): LineRange {
  const first = offset ?? 1;
  if (last === undefined) return { first, count: limit ?? max };
  if (limit !== undefined && limit !== last - first + 1) {
    throw argumentError('end_line: limit gives another number of lines; send one of them');
  }
  if (last < first) {
    throw argumentError(`end_line: line ${last} comes before the first line, ${first}`);
  }
  return { first, count: last - first + 1 };
}

function argumentError(message: string): MusterError {
  return new MusterError('INVALID_PARAM', message);
}
