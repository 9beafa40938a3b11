import { isAbsolute, relative, sep } from 'node:path';

/** Whether `path` is `directory` or lies below it. Both absolute; links are not looked at. */
export function isInside(directory: string, path: string): boolean {
  if (isNormal(directory) && isNormal(path)) return path === directory || isBelow(directory, path);
  const rest = relative(directory, path);
  return rest === '' || (rest !== '..' && !rest.startsWith(`..${sep}`) && !isAbsolute(rest));
}

/** Most are: such paths are told by their letters, at a tenth of the cost. */
function isNormal(path: string): boolean {
  if (path === '/') return true;
  return (
    path.startsWith('/') && !path.endsWith('/') && !path.includes('//') && !path.includes('/.')
  );
}

function isBelow(directory: string, path: string): boolean {
  return path.startsWith(directory) && (directory === '/' || path[directory.length] === '/');
}
