import { extname } from 'node:path';

/** Whether a file is a Jupyter notebook by its name. */
export function isNotebookPath(path: string): boolean {
  return extname(path).toLowerCase() === '.ipynb';
}
