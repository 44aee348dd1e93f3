import { fileURLToPath } from 'node:url';

/** The package's own folder, with a slash at its end: `src/` and the build in `dist/` both lie in it. */
export const PACKAGE_ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The folder of this program's code, with a slash at its end: `src/` or `dist/`. */
export const OWN_CODE = fileURLToPath(new URL('../', import.meta.url));

/** How the names of this program's files end: `ts` when it runs from the sources, `js` after the build. */
export const OWN_EXTENSION = import.meta.url.slice(-2);
