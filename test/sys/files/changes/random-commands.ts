import * as fc from 'fast-check';

/** The directories in which the random commands work. */
const DIRECTORIES = ['a', 'a/deep', 'b', 'c/d/e'];

const directory = fc.constantFrom(...DIRECTORIES);
const name = fc.constantFrom('one', 'two', 'three', 'with blank', 'ünï', '.dot', '-dash');
const file = fc.tuple(directory, name).map(([at, each]) => `./${at}/${each}`);
const text = fc.stringMatching(/^[a-z]{1,8}$/);

const quote = (path: string): string => `'${path}'`;

/** Commands that change a tree in the ways in which commands do. None of them fails. */
const step: fc.Arbitrary<string> = fc.oneof(
  fc.tuple(file, text).map(([path, word]) => `echo ${word} > ${quote(path)}`),
  fc.tuple(file, text).map(([path, word]) => `echo ${word} >> ${quote(path)}`),
  file.map((path) => `rm -f ${quote(path)}`),
  fc.tuple(file, file).map(([from, to]) => `mv -f ${quote(from)} ${quote(to)}`),
  fc.tuple(file, file).map(([from, to]) => `cp -f ${quote(from)} ${quote(to)}`),
  fc
    .tuple(file, fc.constantFrom('600', '644', '755'))
    .map(([path, mode]) => `chmod ${mode} ${quote(path)}`),
  file.map((path) => `touch ${quote(path)}`),
  // The same size and the same time of modification, but another content.
  file.map(
    (path) =>
      `touch -r ${quote(path)} $OUT/stamp; tr a-z b-za < ${quote(path)} > $OUT/copy; cat $OUT/copy > ${quote(path)}; touch -r $OUT/stamp ${quote(path)}`,
  ),
  file.map((path) => `sed -i s/a/b/ ${quote(path)}`),
  fc
    .tuple(directory, fc.integer({ min: 1, max: 40 }))
    .map(([at, count]) => `for i in $(seq ${count}); do echo $i > ${at}/n$i; done`),
  directory.map((at) => `rm -f ${at}/n*`),
  directory.map((at) => `rm -rf ${at}; mkdir -p ${at}; echo again > ${at}/one`),
  directory.map(
    (at) => `mv ${at} $OUT/moved && mkdir -p ${at} && mv $OUT/moved/* ${at}/; rm -rf $OUT/moved`,
  ),
  directory.map((at) => `cp -r ${at} new; mkdir -p new/below; echo x > new/below/file`),
  fc.constant('rm -rf new'),
  fc.constant('mv new renamed'),
  fc.constant('rm -rf renamed'),
  fc.tuple(directory, text).map(([at, target]) => `ln -sfn ${target} ${at}/link`),
  directory.map((at) => `rm -f ${at}/link ${at}/other; ln -f ${at}/one ${at}/other`),
  fc
    .tuple(directory, text)
    .map(([at, word]) => `ln -f ${at}/one ${at}/other; echo ${word} > ${at}/other`),
  fc.tuple(directory, text).map(([at, word]) => `echo ${word} > ${at}/other`),
  file.map((path) => `chmod u+s ${quote(path)}`),
  fc.constant('head -c 300000 /dev/zero > b/large; echo x >> b/large'),
  fc.constant('git add -A; git commit -qm next'),
  fc.constant('git stash -q -u; git stash pop -q'),
  fc.constant('git checkout -q .'),
  fc.constant('git clean -qfd'),
  fc.constant('tar cf $OUT/t.tar a b; rm -rf a b; tar xf $OUT/t.tar'),
  fc.constant('true'),
);

/** A command of a few steps. */
export const randomCommand: fc.Arbitrary<string> = fc
  .array(step, { minLength: 1, maxLength: 4 })
  .map((steps) =>
    [
      'OUT=$(mktemp -d)',
      ...steps.map((each) => `{ ${each}; } 2>/dev/null`),
      'rm -rf $OUT',
      'true',
    ].join('\n'),
  );

/** Makes the directories again that earlier commands have removed. */
export const PREPARE = `mkdir -p ${DIRECTORIES.join(' ')}`;
