import { relative } from 'node:path';

/**
 * The path of a source file from the root of the checkout, which is the same in each checkout. Packages may lie
 * elsewhere, where `node_modules` is a link or belongs to a directory above.
 */
export function modulePath(root: string, file: string): string {
  const path = relative(root, file).replaceAll('\\', '/');
  const packages = path.lastIndexOf('/node_modules/');
  return path.startsWith('../') && packages !== -1 ? path.slice(packages + 1) : path;
}
