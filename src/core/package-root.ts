import { fileURLToPath } from 'node:url';

/**
 * The package's own folder, with a trailing slash. Both `src/` and the build in `dist/` are directly below
 * it.
 */
export const PACKAGE_ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The folder of this program's code, with a trailing slash: `src/` or `dist/`. */
export const OWN_CODE = fileURLToPath(new URL('../', import.meta.url));

/** The extension of this program's files: `ts` when it runs from the sources, `js` after the build. */
export const OWN_EXTENSION = import.meta.url.slice(-2);

/**
 * Where Node keeps this program's compiled code and, in a checkout, its sources without their types. Beside the
 * code itself, so that nobody can change it who cannot change the code. Node does without if the folder cannot be
 * written. https://nodejs.org/docs/latest-v24.x/api/module.html#module-compile-cache
 */
export const COMPILE_CACHE = `${PACKAGE_ROOT}node_modules/.cache/compiled`;
