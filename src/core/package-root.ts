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
