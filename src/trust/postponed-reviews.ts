import { createHash } from 'node:crypto';
import type { ListFormat } from '../store/state/state-list.ts';
import type { TrustEntry } from './trust-store.ts';

/** A review of untrusted files that the user has postponed. It is not offered again until one of the files changes. */
export interface PostponedReview {
  /** The directory in which the review was offered, without links. */
  readonly directory: string;
  /** The SHA-256 of the paths and contents of the files, in hexadecimal. */
  readonly sha256: string;
  /** The time of the answer, in ISO 8601. */
  readonly answeredOn: string;
}

/** The format of the file with the postponed reviews. It grants nothing. */
export const POSTPONED_REVIEWS: ListFormat<PostponedReview> = {
  fileName: 'postponed-reviews.json',
  remedy: 'answer again what you are asked',
  listName: 'reviews',
  keyOf: ({ directory }) => directory,
  describeInvalid: (position) => `entry ${position} is not a valid review`,
  read({ directory, sha256, answeredOn }) {
    if (
      typeof directory !== 'string' ||
      typeof sha256 !== 'string' ||
      typeof answeredOn !== 'string'
    ) {
      return undefined;
    }
    return { directory, sha256, answeredOn };
  },
};

/** Hashes the files of a review with the hashes of their contents, in any order. */
export function hashReview(files: readonly Pick<TrustEntry, 'kind' | 'path' | 'sha256'>[]): string {
  const lines = files.map(({ kind, path, sha256 }) => JSON.stringify([kind, path, sha256]));
  return createHash('sha256').update(lines.toSorted().join('\n')).digest('hex');
}
