/**
 * Makes bug-localisation questions from a git history: `node bench/offline/make-questions.ts --repo DIR [--most 40]`
 * prints one JSON object per line. The question is the subject of a fix, the answers are the one or two
 * source files that it changed, and the workspace is its parent commit. The same history always gives the
 * same questions.
 */
import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { fixQuestions, type Commit } from './fix-questions.ts';

/** Lists the commits of the repository, oldest first. */
function commitsOf(directory: string): readonly Commit[] {
  const listed = execFileSync(
    'git',
    [
      '--git-dir',
      directory,
      'log',
      '--reverse',
      '--no-merges',
      '--no-renames',
      '--name-status',
      '-z',
      '--format=%x01%H%x02%P%x02%s%x02',
    ],
    { encoding: 'utf8', maxBuffer: 2 ** 30 },
  );
  return listed
    .split('\u0001')
    .slice(1)
    .map((entry) => {
      const [id = '', parents = '', subject = '', names = ''] = entry.split('\u0002');
      const fields = names
        .split('\0')
        .map((field) => field.replace(/^\n+/, ''))
        .filter((field) => field !== '');
      const changes = fields.flatMap((status, index) =>
        index % 2 === 0 ? [{ status, path: fields[index + 1] ?? '' }] : [],
      );
      return {
        id,
        parents: parents.split(' ').filter((parent) => parent !== ''),
        subject,
        changes,
      };
    });
}

const { values } = parseArgs({
  options: { repo: { type: 'string' }, most: { type: 'string', default: '40' } },
});
if (values.repo === undefined) throw new Error('--repo DIR is missing; DIR is a git directory');
for (const question of fixQuestions(commitsOf(resolve(values.repo)), Number(values.most))) {
  console.log(JSON.stringify(question));
}
